"""Drive rows from their source to their target: every row is used, set aside by a choice, or rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dsreg.advice import observe_lengths, observe_sample
from dsreg.errors import UsageError
from dsreg.formats import Format, choose_way, options_of
from dsreg.notes import Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.pipeline import SetAside, Steps, read_samples
from dsreg.rows import BadRow, RowStream, open_rows
from dsreg.rows.inner import use_orjson
from dsreg.source import Source
from dsreg.tasks import FEATURES, STRIPPABLE, Step

Row = dict[str, Any]

use_orjson()


class Place(Protocol):
    """Where a row stands; a stream of rows is at the place of the row that it gave last."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def row(self) -> int:
        """The number of the row in it, from 1."""

    @property
    def line(self) -> int | None:
        """The line where the row begins, from 1, in files that have lines."""


class Mistaken(Exception):
    """What was decided by the first rows of a file does not hold for all of them."""


@dataclass(frozen=True)
class Choices:
    """What a user decides about a conversion: `--take`, `--skip`, `--strip`, `--option`, `--text-template`."""

    take: str | None = None
    skip: frozenset[str] = frozenset()
    strip: frozenset[str] = frozenset()
    options: dict[str, Any] = field(default_factory=dict)
    text_template: Path | None = None


@dataclass(frozen=True)
class Conversion:
    """A source, a target, and the steps between them, by the user's choices; made once, run over all rows."""

    source: Source
    target: Format
    steps: Steps
    step: Step | None
    choices: Choices


@dataclass(frozen=True)
class Reject:
    """One row that cannot be used: where it stands, why, and what it is."""

    source: Path
    row: int
    line: int | None
    code: str
    path: str
    message: str
    raw: Any

    def as_json(self) -> Row:
        """The line of a rejects file."""
        return {**self.__dict__, "source": str(self.source)}

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else f"{self.source}: row {self.row}"
        if self.line and self.row > self.line:  # rows share lines
            place += f" row {self.row}"
        return f"{place}: {self.code} {f'{self.path}: ' if self.path else ''}{self.message}"


@dataclass
class Tally:
    """The account of a conversion: read = used + set aside + rejected."""

    read: int = 0
    written: int = 0
    aside: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    lost_extras: Counter[str] = field(default_factory=Counter)
    notes: Notes = field(default_factory=Notes)

    @property
    def used(self) -> int:
        """Rows that became part of the output."""
        return self.read - self.aside.total() - self.rejected.total()

    def __str__(self) -> str:
        aside = ", ".join(f"{count:,} {choice}" for choice, count in self.aside.items())
        account = f"{self.read:,} read = {self.used:,} used + {self.aside.total():,} set aside"
        account += f" ({aside})" if aside else ""
        return f"{account} + {self.rejected.total():,} rejected; {self.written:,} written"


def make_conversion(
    source: Source, target: Format, choices: Choices | None = None, root: Path | None = None
) -> Conversion:
    """Decide how a source becomes a target; raises UsageError before a row is read when it cannot.

    `root` is the project, whose own formats are among those that would do.
    """
    choices = choices or Choices()
    check_feature_names(choices)
    writer = target.writer
    task, step = choose_way(source.task, target, choices.take, root)
    adapt = step.adapt if step else None
    if choices.text_template is not None:
        if task != "pretrain" or source.task == "pretrain":
            raise UsageError("--text-template only applies where a dialogue becomes pretraining text")
        from dsreg.text_template import template_step

        adapt = template_step(choices.text_template)
    constants = Constants(task, target.manifest.columns, options=options_of(target, "write", choices.options))
    return Conversion(
        source,
        target,
        Steps(
            read_row=source.format.reader.read_row,
            source=source.constants,
            adapt=adapt,
            take=f"--take {step.take}" if step and step.take else f"{source.task} to {task}",
            write_row=writer.write_row,
            target=constants,
            target_id=target.id,
            unheld=unheld_features(source, target, constants) - choices.strip,
            skip=choices.skip,
            strip=choices.strip,
        ),
        step,
        choices,
    )


def check_feature_names(choices: Choices) -> None:
    """Raise UsageError for a feature that does not exist or cannot be stripped."""
    for name in sorted(choices.skip | choices.strip):
        if name not in FEATURES:
            raise UsageError(f"there is no feature `{name}`", hint=f"features: {', '.join(FEATURES)}")
    for name in sorted(choices.strip - STRIPPABLE):
        raise UsageError(f"`{name}` cannot be stripped without breaking the row", hint=f"--skip {name}")


def unheld_features(source: Source, target: Format, constants: Constants) -> frozenset[str]:
    """The features that rows of the source may have and the target cannot hold under its options.

    A source that does not say what its rows can bring may bring anything.
    """
    if constants.task == "pretrain":
        return frozenset()
    manifest = source.format.manifest
    brought = FEATURES if manifest.brings is None else manifest.brings
    absent = frozenset(manifest.by_column) - source.constants.columns.keys()
    written = {"thinking"} if constants.options.get("thinking") == "inline" else set()
    return frozenset(brought) - absent - frozenset(target.manifest.supports) - written


def run(
    conversion: Conversion,
    write: Callable[[Row], None],
    reject: Callable[[Reject], None],
    *,
    limit: int | None = None,
) -> Tally:
    """Convert all rows of a source; `write` gets the rows of the target in order, `reject` what cannot be used.

    A target that must know the whole file first is surveyed in a pass of its own. Raises DataFileError for a file that
    cannot be read, and RowError when the file as a whole is refused.
    """
    survey(conversion, limit)
    tally = Tally()
    use = row_user(conversion, tally, write, reject)
    for stream, value in stream_rows(conversion.source, limit):
        use(stream, value)
    return tally


def row_user(
    conversion: Conversion, tally: Tally, write: Callable[[Row], None], reject: Callable[[Reject], None]
) -> Callable[[Place, Any], None]:
    """What is done with each row, at its place: it is converted and written, set aside or rejected, and counted."""
    steps, manifest = conversion.steps, conversion.target.manifest
    write_row, target = steps.write_row, steps.target
    keeps_extras, named = manifest.extra == "carried", frozenset(manifest.named)
    advise = conversion.target.part("advise")
    observe = advise.observe if advise is not None else None

    def use(place: Place, value: Any) -> None:
        tally.read += 1
        try:
            if type(value) is BadRow:
                raise RowError(value.code, value.path, value.message)
            samples = read_samples(value, steps)
            rows = [write_row(sample, target) for sample in samples]
        except RowError as error:
            tally.rejected[error.code] += 1
            reject(make_reject(place, value, error))
            return
        except SetAside as aside:
            tally.aside[str(aside)] += 1
            return
        for row in rows:
            tally.written += 1
            write(row)
            if observe is not None:
                observe(row, tally.read, tally.notes, target)
        for sample in samples:
            observe_sample(sample, tally.read, tally.notes)
            if not keeps_extras and "extra" in sample:
                tally.lost_extras.update(sample["extra"].keys() - named)
            if "left" in sample:
                tally.lost_extras.update(sample["left"])

    return use


def survey(conversion: Conversion, limit: int | None) -> None:
    """Let a writer that must know the whole file first see all samples; it settles its options or refuses the file."""
    if must_survey(conversion):
        survey_rows(conversion, (value for _, value in stream_rows(conversion.source, limit)))


def must_survey(conversion: Conversion) -> bool:
    """Whether the target's writer, under its options, must know all samples before it writes the first."""
    writer = conversion.target.writer
    return hasattr(writer, "survey") and bool(writer.survey_needed(conversion.steps.target))


def survey_rows(conversion: Conversion, rows: Iterable[Any]) -> Notes:
    """Let the writer decide by these rows, or refuse them with a RowError; returns what it noted."""
    notes = Notes()
    for row in rows:
        show_samples(conversion, row, notes)
    conversion.target.writer.decide(notes, conversion.steps.target)
    return notes


def show_samples(conversion: Conversion, row: Any, notes: Notes) -> None:
    """Let the writer note what it must know of one row; one that cannot be used is reported where it is written."""
    try:
        for sample in read_samples(row, conversion.steps):
            conversion.target.writer.survey(sample, conversion.steps.target, notes)
    except (RowError, SetAside):
        return


def stream_rows(source: Source, limit: int | None = None) -> Iterator[tuple[RowStream, Any]]:
    """All rows of a source's files in order, each with the stream that knows its place."""
    unique = source.constants.mapped
    left = limit if limit is not None else -1
    for path in source.files:
        with open_rows(path, unique=unique) as stream:
            for value in stream:
                if left == 0:
                    return
                left -= 1
                yield stream, value


def note_lengths(conversion: Conversion, limit: int) -> Notes:
    """How long the answers are in the first `limit` rows, as far as those can be used."""
    steps, notes = conversion.steps, Notes()
    for number, (_, row) in enumerate(stream_rows(conversion.source, limit), 1):
        try:
            samples = read_samples(row, steps)
            for sample in samples:
                steps.write_row(sample, steps.target)
        except (RowError, SetAside):
            continue
        for sample in samples:
            observe_lengths(sample, number, notes)
    return notes


def make_reject(place: Place, value: Any, error: RowError) -> Reject:
    """The reject of the row at that place."""
    raw = value.raw if type(value) is BadRow else value
    return Reject(place.path, place.row, place.line, error.code, error.path, error.message, raw)
