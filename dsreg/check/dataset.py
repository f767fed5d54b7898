"""Check one entry of a dataset_info.json: the entry, its files, its rows, and all of them together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dsreg.check import entry as entry_rules
from dsreg.check import file as file_rules
from dsreg.check.finding import Finding, run_rules
from dsreg.check.hints import Words
from dsreg.check.locate import Spot, locate
from dsreg.check.media import misplaced_media
from dsreg.check.overview import Overview
from dsreg.check.rows import RowReasons, RowScene, row_findings
from dsreg.check.stages import count_stages, fitting, purpose
from dsreg.llamafactory.outcome import Note, Stop
from dsreg.llamafactory.predict import Prediction, predict
from dsreg.llamafactory.reasons import REASONS
from dsreg.llamafactory.resolve import HUB_KEYS, Entry
from dsreg.llamafactory.runs import Run
from dsreg.llamafactory.sources import find_source
from dsreg.model import COLUMN_KEYS, TAG_KEYS

Place = Callable[[tuple[str, ...]], tuple[str, int | None]]


@dataclass
class Result:
    """What LlamaFactory will do with one dataset, and what is to be said about it."""

    dataset: str
    stage: str
    fatal: dict[str, str] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    fits: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    rows: int | None = None

    def as_json(self, *, verdicts: bool) -> dict[str, Any]:
        """The object that `check --json` prints."""
        shown = {"verdicts": self.verdicts} if verdicts else {}
        return {
            "dataset": self.dataset,
            "stage": self.stage,
            "fatal": self.fatal,
            "counts": {kind: self.counts[kind] for kind in ("ok", "dropped", "fatal")},
            **shown,
            "issues": [finding.as_json() for finding in self.findings],
        }


@dataclass
class Subject:
    """What is checked: the entry `raw` called `name`, where it and its files stand, and how they are called."""

    name: str
    raw: dict[str, Any]
    dataset_dir: Path
    place: Place
    words: Words
    shown: Callable[[Any], str] = str
    predict_dir: Path | None = None


def check_entry(
    subject: Subject, stage: str | None = None, *, verdicts: bool = False, duplicates: bool = True, fast: bool = True
) -> Result:
    """Check one entry in a stage, by default the one it is for; `verdicts` keeps the verdict of every row.

    Without `fast`, rows of plain text are gone through one by one like all others; the result is the same.
    """
    stage = stage or purpose(subject.raw)
    result = Result(subject.name, stage)
    view = entry_rules.EntryView(subject.name, subject.raw, subject.dataset_dir, subject.words)
    result.findings += run_rules(entry_rules.RULES, view, subject.place)
    where = subject.predict_dir or subject.dataset_dir
    reasons, taken = RowReasons(), Counter[str]()
    overview = Overview(stage, duplicates=duplicates)
    observe = overview.observer if fast else None
    prediction = predict(where, subject.name, stage, media_dir=subject.dataset_dir, observe=observe)
    all_plain = True
    for verdict in prediction.parts:
        if isinstance(verdict, Run):
            count_stages(verdict.samples[0], taken, verdict.count)
            overview.see_all(verdict.start + 1, verdict.seen, verdict.count)
            verdict.seen = None
            result.verdicts += ["ok"] * verdict.count if verdicts else []
            continue
        all_plain = False
        if verdict.status != "ok" or verdict.notes:
            reasons.add(verdict)
        if verdicts:
            result.verdicts.append(verdict.status)
        if verdict.aligned is not None:
            count_stages(verdict.aligned, taken)
            if verdict.status == "ok":
                overview.see(verdict.row + 1, verdict.aligned)
    overview.find_copies(prediction.again)
    result.counts, result.rows = prediction.counts, prediction.num_rows
    result.fits = fitting(subject.raw, taken)
    if prediction.fatal is not None:
        result.fatal = {"where": prediction.fatal.where, "message": prediction.fatal.message}
    result.findings += _dataset_findings(subject, prediction, reasons)
    result.findings += _data_findings(subject, prediction, reasons, all_plain=all_plain)
    result.findings += _whole_findings(subject, result, reasons)
    result.findings += overview.findings(_data_place(subject))
    return result


def _data_place(subject: Subject) -> str:
    file = subject.raw.get("file_name")
    return subject.shown(subject.dataset_dir / file) if isinstance(file, str) else subject.place(())[0]


def _dataset_findings(subject: Subject, prediction: Prediction, reasons: RowReasons) -> list[Finding]:
    """What stops the run before or beside the rows, and what is to be noted about loading."""
    # several hubs are mirrors of one dataset, which the environment chooses from
    found = [_note(subject, note) for note in prediction.notes if note.path not in HUB_KEYS]
    fatal = prediction.fatal
    # what is wrong with the registry file as a whole is said of the file
    if fatal is None or reasons.counts[fatal.reason] or fatal.reason == "registry_unreadable":
        return found
    rule, hint = REASONS[fatal.reason], DATASET_HINTS.get(fatal.reason, "")
    message = fatal.message if fatal.reason not in _PLAIN else rule.explain.rstrip(".")
    message = (
        message[:1].lower() + message[1:]
        if fatal.reason in _PLAIN
        else " ".join(message.removeprefix(_LOADING).split())
    )
    key = fatal.path.removeprefix(f"{subject.name}.") if fatal.path != subject.name else ""
    file, line = subject.place((key,) if key else ())
    if "Column() changed" in message:
        hint = ""
    if fatal.reason == "file_not_found":
        message, hint = _not_there(subject, message)
    path = "" if fatal.where == "align" else key
    found.append(Finding(rule.code, rule.severity, message, file, line, None, path, rule.effect, hint))
    return found


_LOADING = "An error occurred while generating the dataset: "
_PLAIN = frozenset(("stage_needs_ranking", "stage_forbids_ranking", "no_source", "folder_empty", "nothing_left"))
DATASET_HINTS = {
    "stage_needs_ranking": "--stage sft, or kto for labelled rows; preference data needs ranking and both columns",
    "stage_forbids_ranking": "--stage dpo or --stage rm",
    "no_source": 'write "file_name": "…"',
    "columns_not_object": "write an object, or leave it out",
    "tags_not_object": "write an object, or leave it out",
    "file_type": "rename or convert it; suffixes are case-sensitive and .gz is not read",
    "folder_mixed": "keep data files of one type in the folder, no README.md, no hidden files, no folders",
    "folder_empty": "put data files into it",
    "split_unknown": 'leave `split` out, or write "train[:90%]" for a part',
    "split_not_text": "leave `split` out",
    "script_forbidden": "name a folder of data files, or convert what the script makes",
    "cloud_protocol": "write s3://, gs:// or gcs:// in front",
    "num_samples_invalid": "write a whole number of at least 1",
    "config_unknown": "leave `subset` out",
    "schema_lock": "write the same keys in every row, nulls instead of missing ones, or one JSON array",
    "type_change": "write one type in each column; free objects as their JSON text",
    "too_many_keys": "write keys that differ from row to row as values, or free objects as their JSON text",
    "rows_unlike": "spread rows with media, system prompts or tools over the file: the first 1,000 set the types",
    "nothing_left": "a larger slice or sample",
    "source_not_text": "write text, or leave the key out",
    "no_rows": "the file has no row",
}


def _not_there(subject: Subject, message: str) -> tuple[str, str]:
    """Which file is missing, absolutely, and the files there that may be meant."""
    from dsreg.model import closest

    file = subject.raw.get("file_name")
    if not isinstance(file, str) or "\0" in file or "pattern" in message:
        return message, ""
    target = Path(os.path.normpath(subject.dataset_dir / file))
    there = sorted(path.name for path in target.parent.iterdir())[:2000] if target.parent.is_dir() else []
    near = closest(target.name, there)
    hint = subject.words.key("file_name", (Path(file).parent / near).as_posix()) if near else ""
    if not hint and not target.parent.is_dir():
        hint = f"there is no folder {subject.shown(target.parent)}"
    return f"{subject.shown(target)} is not there", hint or "put the file there, or correct `file_name`"


def _note(subject: Subject, note: Note) -> Finding:
    rule = REASONS[note.reason]
    file, line = subject.place((note.path,) if note.path in subject.raw else ())
    message = f"{note.message}: its rows are not checked" if note.reason == "not_local" else note.message
    hint = NOTE_HINTS.get(note.reason, "")
    effect = "" if rule.effect == REASONS["not_local"].effect else rule.effect  # it goes on: nothing comes of it
    return Finding(rule.code, rule.severity, message, file, line, None, note.path, effect, hint)


NOTE_HINTS = {
    "source_ignored": "keep one source key",
    "dates_read": "save the dates as text: in one JSON array, or in a text column of Parquet",
}


def _data_findings(subject: Subject, prediction: Prediction, reasons: RowReasons, *, all_plain: bool) -> list[Finding]:
    """Files and rows: what dsreg sees where LlamaFactory only stops or drops.

    With `all_plain` no row has two system prompts.
    """
    entry = prediction.entry
    if entry is None or not isinstance(entry.dataset_name, str) or entry.load_from not in ("file", "script"):
        return []
    try:
        source = find_source(entry, subject.dataset_dir)
    except (Stop, OSError, ValueError):
        return []
    files = [file for listed in source.splits.values() for file in listed]
    entry = _named(entry)
    view = file_rules.FileView(entry, subject.raw, files, subject.words, reasons.counts)
    view.fatal = prediction.fatal.reason if prediction.fatal is not None else ""
    file_rules.look_at_files(view)
    found = run_rules(file_rules.RULES, view, subject.place)
    if view.fatal in ("file_content", "type_change"):  # Arrow calls broken arrays a change of type
        for path, line, row, inside, message, hint in file_rules.broken_rows(view):
            effect = REASONS["file_content"].effect
            found.append(Finding("DS125", "error", message, subject.shown(path), line, row, inside, effect, hint))
    plain = entry.split == "train" and entry.num_samples is None and entry.load_from == "file"
    conflicts, first = (0, []) if all_plain and prediction.num_rows else file_rules.two_systems(view)
    spots = locate(files, {*reasons.rows(), *first}) if plain else {}
    found += [_two_systems(subject, entry, spots.get(row), row, conflicts) for row in first]
    if reasons.counts["media_missing"] and plain:
        told, count = reasons.first["media_missing"], reasons.counts["media_missing"]
        for hit in misplaced_media(told, spots, subject.dataset_dir, files[0] if files else None, count):
            shown_file, line = subject.place(())
            effect = REASONS["media_missing"].effect
            found.append(Finding("DS295", "warning", hit.message, shown_file, line, None, "", effect, hit.hint, count))
    scene = RowScene(entry, subject.words, subject.place, spots, subject.shown, view.columns)
    return found + row_findings(reasons, scene)


def _named(entry: Entry) -> Entry:
    """The entry with the columns and tags that are names; the prediction has spoken of all others."""
    given = {key: getattr(entry, key) for key in (*COLUMN_KEYS, *TAG_KEYS)}
    names: dict[str, Any] = {key: value if isinstance(value, str) else None for key, value in given.items()}
    return replace(entry, **names)


def _two_systems(subject: Subject, entry: Entry, spot: Spot | None, row: int, count: int) -> Finding:
    message = f"the row has `{entry.system}` and begins with another system turn"
    file, line = (subject.shown(spot.file), spot.line) if spot is not None else (_data_place(subject), None)
    effect, hint = "LlamaFactory uses the turn, the column is lost", "keep one of them, or join them"
    return Finding("DS296", "warning", message, file, line, row + 1, str(entry.system), effect, hint, count)


def _whole_findings(subject: Subject, result: Result, reasons: RowReasons) -> list[Finding]:
    """Whether anything is left to train on."""
    lost = result.counts["dropped"]
    if not lost or result.counts["ok"] or result.counts["fatal"]:
        return []
    others = [stage for stage in result.fits if stage != result.stage and stage != "ppo"]
    hint = f"--stage {others[0]}" if others else ""
    message = f"no row is left in the stage {result.stage}"
    file, line = subject.place(())
    stop = "LlamaFactory stops: Cannot find valid samples, check `data/README.md` for the data format."
    return [Finding("DS156", "error", message, file, line, None, "", stop, hint)]
