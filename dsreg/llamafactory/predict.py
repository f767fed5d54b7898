"""The prediction: what LlamaFactory does with one dataset of a registry in one stage, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from . import stage as stages
from .align import Context, convert, has_converter
from .jsonfile import table_of_lines
from .load import Loaded, Prove, load
from .media import placeholder_notes
from .outcome import Fatal, Note, RowAbort, RowVerdict, Stop
from .resolve import Entry, ignored_sources, open_registry, resolve_entry
from .runs import Observe, Run, prover_of
from .written import Stretch, WrittenTypes


@dataclass
class Prediction:
    """What would happen. Iterate it once for the verdicts of the rows; `fatal` and `counts` are final after that.

    `fatal` is set before iterating where the registry, the stage or loading stops the run. `entry` is None where
    the registry stops it. `num_rows` is None where no row was looked at (hub, cloud, or stopped earlier).
    """

    dataset: str
    stage: str
    entry: Entry | None = None
    fatal: Fatal | None = None
    num_rows: int | None = None
    notes: list[Note] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    parts: Iterator[RowVerdict | Run] = field(default_factory=lambda: iter(()), repr=False)
    align: Callable[[dict[str, Any]], dict[str, Any]] | None = field(default=None, repr=False)
    loaded: Loaded | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[RowVerdict]:
        """The verdict of each loaded row, in order; rows are read as they are asked for."""
        for part in self.parts:
            if isinstance(part, RowVerdict):
                yield part
            else:
                yield from self.verdicts(part)

    def verdicts(self, run: Run) -> Iterator[RowVerdict]:
        """The verdicts of the rows of a run."""
        for number, row in enumerate(run.rows(), run.start):
            yield RowVerdict(number, "ok", aligned=self.align(row) if self.align else None)

    def again(self, wanted: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The aligned form of these rows, by their numbers in ascending order, read anew."""
        numbers = iter(wanted)
        wanted_next, number = next(numbers, None), 0
        for part in self.loaded.parts() if self.loaded else ():
            rows: list[Any] = part.read().splitlines() if isinstance(part, Run) else part
            while wanted_next is not None and wanted_next < number + len(rows):
                row = rows[wanted_next - number]
                row = part.row(row) if isinstance(part, Run) else row
                if self.align is not None:
                    yield self.align(row)
                wanted_next = next(numbers, None)
            if wanted_next is None:
                return
            number += len(rows)

    def finish(self) -> list[RowVerdict]:
        """The verdicts still to come, as a list."""
        return list(self)


def predict(
    dataset_dir: Path, name: str, stage: str, media_dir: Path | None = None, *, observe: Observe | None = None
) -> Prediction:
    """Predict the run of `name` from `dataset_dir`/dataset_info.json in `stage` (one of STAGES).

    `media_dir` is the training argument, `dataset_dir` by default. Registry, stage, loading and aligning are gone
    through in this order; the first that stops the run is `Prediction.fatal`. With `observe`, `Prediction.parts` has
    runs among the verdicts, with what it said of their blocks. Raises ValueError for another stage.
    """
    if stage not in stages.STAGES:
        raise ValueError(f"no such stage: {stage}")
    prediction = Prediction(name, stage)
    try:
        registry = open_registry(dataset_dir)
        key = _one_name(name)
        prediction.entry = resolve_entry(registry, key)
        prediction.notes += ignored_sources(registry, key, prediction.entry)
        stages.guard(prediction.entry, stage)
        context = Context(prediction.entry, media_dir or dataset_dir)
        prove = _prover(prediction, context, observe) if observe is not None else None
        loaded = load(prediction.entry, dataset_dir, prove)
    except Stop as stopped:
        prediction.fatal = stopped.fatal
        return prediction
    if isinstance(loaded, list):
        prediction.notes += loaded
        return prediction
    prediction.num_rows = loaded.num_rows
    prediction.notes += loaded.notes
    prediction.parts = _verdicts(prediction, loaded, context)
    prediction.align, prediction.loaded = partial(convert, context=context), loaded
    return prediction


def _prover(prediction: Prediction, context: Context, observe: Observe) -> Prove | None:
    """What finds runs, by the verdict of one row of each."""
    if not has_converter(context.entry.formatting):
        return None

    def examine(row: dict[str, Any]) -> RowVerdict:
        return _verdict(0, row, context, Prediction(prediction.dataset, prediction.stage))

    return prover_of(context.entry, examine, table_of_lines, observe)


def _one_name(name: str) -> str:
    """The name as LlamaFactory takes it from a comma list: stripped; a name repeated is one name."""
    names = list(dict.fromkeys(part.strip() for part in name.split(",")))
    return names[0] if len(names) == 1 else name


def _verdicts(prediction: Prediction, loaded: Loaded, context: Context) -> Iterator[RowVerdict | Run]:
    """The rows one by one, or in runs; sets `fatal` at the first thing that stops aligning."""
    written = WrittenTypes()
    known = has_converter(context.entry.formatting)
    if not loaded.num_rows:
        prediction.fatal = Fatal("align", "StopIteration: no row is left", "nothing_left", "num_samples")
    elif not known:
        message = f"Dataset converter {context.entry.formatting} not found."
        prediction.fatal = Fatal("align", message, "converter_unknown", "formatting")
    number = 0
    for part in loaded.parts():
        if isinstance(part, Run):
            prediction.counts["ok"] += part.count
            if prediction.fatal is None:
                _stop_at(prediction, written.add_all(_stretches(part, context)))
            yield part
            number += part.count
            continue
        for row in part:
            if known:
                verdict = _verdict(number, row, context, prediction)
                if verdict.aligned is not None and prediction.fatal is None:
                    _stop_at(prediction, written.add(verdict.aligned))
            else:
                verdict = RowVerdict(number, "fatal", "converter_unknown", "formatting", "no converter")
            prediction.counts[verdict.status] += 1
            yield verdict
            number += 1
    if prediction.fatal is None:
        _stop_at(prediction, written.flush())


def _stretches(run: Run, context: Context) -> Iterator[Stretch]:
    """The rows of a run as they are written."""
    start = 0
    for count, has_system in run.systems:
        sample = run.samples[has_system]
        yield Stretch(count, sample, partial(_aligned, run, start, start + count, context))
        start += count


def _aligned(run: Run, start: int, end: int, context: Context) -> Iterator[dict[str, Any]]:
    return (convert(row, context) for row in run.rows(start, end))


def _stop_at(prediction: Prediction, message: str | None) -> None:
    if message is not None and prediction.fatal is None:
        prediction.fatal = Fatal("align", message, "rows_unlike")


def _verdict(number: int, row: dict[str, Any], context: Context, prediction: Prediction) -> RowVerdict:
    try:
        aligned = convert(row, context)
    except RowAbort as abort:
        if prediction.fatal is None:
            message = f"row {number}: {abort.message}"
            prediction.fatal = Fatal("align", message, abort.reason, abort.path)
        return RowVerdict(number, "fatal", abort.reason, abort.path, abort.message, None, context.notes)
    notes = [*context.notes, *placeholder_notes(aligned)]
    stage = prediction.stage
    if not stages.takes(aligned["_prompt"], aligned["_response"], stage):
        reason, path = _why_dropped(aligned, row, context, stage)
        why = f"Dropped invalid example: {aligned['_prompt'] + aligned['_response']}"
        return RowVerdict(number, "dropped", reason, path, why, aligned, notes)
    try:
        stages.tokenise(aligned, stage)
    except RowAbort as abort:
        return RowVerdict(number, "fatal", abort.reason, abort.path, abort.message, aligned, notes)
    if stage == "kto" and aligned["_response"][0] == aligned["_response"][1] and _is_true(row, context.entry):
        notes.append(Note("kto_flips", "desirable, but the answer is empty", str(context.entry.kto_tag)))
    return RowVerdict(number, "ok", "", "", "", aligned, notes)


def _is_true(row: dict[str, Any], entry: Entry) -> bool:
    return row.get(entry.kto_tag) is True


def _why_dropped(aligned: dict[str, Any], row: dict[str, Any], context: Context, stage: str) -> tuple[str, str]:
    """The reason a row is dropped, and its place: the first of the causes that explains it."""
    entry, prompt, response = context.entry, aligned["_prompt"], aligned["_response"]
    if context.broken:
        return context.broken
    if not prompt:
        return "no_messages", str(entry.messages)
    if len(prompt) % 2 != 1:
        return ("pair_incomplete", str(entry.chosen)) if entry.ranking else ("prompt_even", str(entry.messages))
    if len(response) == 2:
        return "two_answers", str(entry.kto_tag or entry.chosen)
    if stage in ("rm", "dpo"):
        return "pair_incomplete", str(entry.chosen)
    if stage == "kto" and entry.kto_tag:
        return "kto_tag_not_bool", str(entry.kto_tag)
    if response:
        return "one_answer", str(entry.kto_tag or entry.response)
    return ("response_not_text", str(entry.response)) if entry.response else ("response_unset", "response")
