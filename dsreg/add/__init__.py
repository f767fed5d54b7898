"""Propose what to register: a dataset from what was asked for and what the data says."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dsreg.add.find import file_name_of, find_source
from dsreg.add.readable import unread_reason
from dsreg.detected import detect_files
from dsreg.detection import Detection
from dsreg.entry import FORMATTING
from dsreg.errors import DataFileError, UsageError
from dsreg.format_options import place_options
from dsreg.formats import all_formats, find_format
from dsreg.model import SOURCE_KEYS, Dataset, closest, validate
from dsreg.names import check_name
from dsreg.project import Root
from dsreg.registered import LLAMAFACTORY_COLUMNS, PEEK_ROWS, source_of
from dsreg.registry import check_free, load, look_up
from dsreg.rowcode.errors import RowError
from dsreg.rows import data_files
from dsreg.runner import Reject, make_reject, stream_rows
from dsreg.source import complete_tags

ENTRY_FLAGS = (*SOURCE_KEYS[1:], "subset", "split", "folder", "num_samples")
"""Keys of an entry that are taken as they are given."""
CHAT_FORMATS = ("sharegpt", "openai")
RANKED_FORMATS = ("alpaca", "sharegpt", "openai")


@dataclass(frozen=True)
class Asked:
    """What a person says about a dataset: the flags of `add` and `set`. None and empty mean nothing was said."""

    format: str | None = None
    ranking: bool | None = None
    columns: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)
    copy: bool | None = None
    targets: list[str] | None = None
    options: dict[str, str] = field(default_factory=dict)

    def given(self) -> bool:
        """Whether anything was said."""
        return self != Asked()

    @property
    def remote(self) -> list[str]:
        """The keys that say the data lies on a hub or in a cloud."""
        return [key for key in SOURCE_KEYS[1:] if key in self.entry]


@dataclass
class Proposal:
    """A dataset to be written, why it looks so, and how its first rows are read."""

    dataset: Dataset
    source: str = ""
    reasons: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    task: str = ""
    place: str = ""
    sample: dict[str, Any] | None = None
    looked: int = 0
    read: int = 0
    problem: Reject | None = None


def propose(project: Root, name: str, source: str | None = None, asked: Asked | None = None) -> Proposal:
    """A new dataset: a file or folder, `data/NAME.*` when `source` is None, or what `asked` says about a hub.

    Raises UsageError where something cannot be decided or contradicts itself, NotFoundError and DataFileError for data
    that is not there or cannot be read.
    """
    asked = asked or Asked()
    check_name(name)
    check_free(project, name)
    _check_one_place(source, asked)
    if asked.remote:
        return _propose_remote(project, asked)
    path = find_source(project, name, source)
    file_name, warnings = file_name_of(project, path)
    found = _detected(project, path, asked)
    values = {"file_name": file_name, **asked.entry, **_described(project, found)}
    reasons = [*found.reasons, *_copied_where_unread(project, values, asked)]
    proposal = Proposal(_dataset(project, values, asked), reasons=reasons, warnings=warnings)
    _try_rows(project, name, proposal)
    if proposal.looked and not proposal.read:
        raise DataFileError(
            f"none of the first {proposal.looked:,} rows can be read as {found.format}; the first: {proposal.problem}",
            hint="say what it is with --format, --column and --tag; `dsreg formats show FORMAT` describes each",
        )
    return proposal


def revise(
    project: Root, name: str, source: str | None = None, asked: Asked | None = None, unset: Sequence[str] = ()
) -> Proposal:
    """A registered dataset with changes; raises UsageError when there are none, and what `propose` raises."""
    asked = asked or Asked()
    name = look_up(project, name)
    if source is None and not unset and not asked.given():
        raise UsageError("nothing to change", hint="dsreg set --help")
    _check_one_place(source, asked)
    values = copy.deepcopy(load(project, name).to_toml())
    proposal = Proposal(load(project, name))
    if source is not None or asked.remote:
        values = {key: value for key, value in values.items() if key not in SOURCE_KEYS}
    if source is not None:
        values["file_name"], proposal.warnings = file_name_of(project, find_source(project, name, source))
    if asked.format is not None and asked.format != values.get("format"):
        values |= _redetected(project, values, asked, proposal)
    if source is not None or asked.format is not None:
        proposal.reasons += _copied_where_unread(project, values, asked)
    for table, given in (("columns", asked.columns), ("tags", asked.tags)):
        if given:
            values[table] = {key: value for key, value in {**values.get(table, {}), **given}.items() if value}
    if asked.ranking is not None:
        values["ranking"] = asked.ranking or None
    for key in unset:
        _unset(values, key, name)
    proposal.dataset = _dataset(project, {**values, **asked.entry}, asked)
    _try_rows(project, name, proposal)
    return proposal


def _check_one_place(source: str | None, asked: Asked) -> None:
    places = ([f"the file {source}"] if source is not None else []) + [_flag(key) for key in asked.remote]
    if len(places) > 1:
        raise UsageError(f"a dataset has one source, not {' and '.join(places)}", hint="give one of them")


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _detected(project: Root, path: Path, asked: Asked) -> Detection:
    """What the first rows of a file are, under what was asked."""
    return detect_files(
        data_files(path),
        format=asked.format,
        columns=asked.columns,
        tags=asked.tags,
        ranking=asked.ranking,
        formats=all_formats(project.root),
    )


def _described(project: Root, found: Detection) -> dict[str, Any]:
    """The keys of a TOML that say what was detected: complete where LlamaFactory reads them, else what is unusual."""
    values: dict[str, Any] = {"format": found.format}
    if found.format in RANKED_FORMATS and found.ranking:
        values["ranking"] = True
    if found.llamafactory_copy:
        values["llamafactory"] = "copy"
    usual = {} if found.format in FORMATTING else find_format(found.format, project.root).manifest.columns
    columns = {name: column for name, column in found.columns.items() if usual.get(name) != column}
    if columns:
        values["columns"] = columns
    if found.format in CHAT_FORMATS:
        values["tags"] = _chat_tags(found.format, found.tags)
    return values


def _copied_where_unread(project: Root, values: dict[str, Any], asked: Asked) -> list[str]:
    """Ask for a copy, and say why, where LlamaFactory reads the format but not such files."""
    if values["format"] not in FORMATTING or "llamafactory" in values or asked.copy is not None:
        return []
    file_name = values.get("file_name")
    why = unread_reason(data_files(project.data_dir / file_name)) if file_name else ""
    if why:
        values["llamafactory"] = "copy"
    return [why] if why else []


def _chat_tags(format: str, tags: dict[str, str]) -> dict[str, str]:
    """All seven tags: LlamaFactory would leave those unset that a partial table does not name."""
    return complete_tags({"assistant_tag": "assistant", **tags} if format == "openai" else tags)


def _redetected(project: Root, values: dict[str, Any], asked: Asked, proposal: Proposal) -> dict[str, Any]:
    """What a dataset's data is under another format; columns and tags are found anew."""
    for key in ("columns", "tags", "ranking", "llamafactory"):
        values.pop(key, None)
    if values.get("file_name") is None:
        return _remote_values(project, asked)
    found = _detected(project, project.data_dir / values["file_name"], asked)
    proposal.reasons = list(found.reasons)
    return _described(project, found)


def _propose_remote(project: Root, asked: Asked) -> Proposal:
    """A dataset on a hub or in a cloud, of which nothing is looked at."""
    values = _remote_values(project, asked)
    proposal = Proposal(_dataset(project, {**asked.entry, **values}, asked))
    _try_rows(project, "", proposal)
    if proposal.dataset.format == "alpaca" and asked.columns:
        missing = [key for key in LLAMAFACTORY_COLUMNS["alpaca"] if key not in values["columns"]]
        if missing:
            proposal.warnings.append(f"LlamaFactory will read no {', '.join(missing)}: `columns` names only the others")
    return proposal


def _remote_values(project: Root, asked: Asked) -> dict[str, Any]:
    """Format, columns, tags and ranking of data that is not here."""
    choices = " | ".join(FORMATTING)
    if asked.format is None:
        raise UsageError("the data is not here, so its format cannot be detected", hint=f"--format {choices}")
    find_format(asked.format, project.root)
    if asked.format not in FORMATTING:
        raise UsageError(
            f"LlamaFactory cannot read {asked.format} from a hub or a cloud",
            hint=f"download it and register the file, or --format {choices}",
        )
    values: dict[str, Any] = {"format": asked.format}
    columns = dict(asked.columns)
    if asked.ranking:
        values["ranking"] = True
        columns = {**({} if columns else _ranked_columns(asked.format)), "chosen": "chosen", "rejected": "rejected"} | (
            columns
        )
    if asked.format in CHAT_FORMATS:
        default = "conversations" if asked.format == "sharegpt" else "messages"
        columns = {"messages": default, **columns}
        values["tags"] = _chat_tags(asked.format, asked.tags)
    if columns:
        values["columns"] = columns
    return values


def _ranked_columns(format: str) -> dict[str, str]:
    return {"prompt": "instruction", "query": "input"} if format == "alpaca" else {}


def _dataset(project: Root, values: dict[str, Any], asked: Asked) -> Dataset:
    """The checked dataset with targets, options and the choice about copies."""
    values = dict(values)
    if asked.copy is not None:
        values["llamafactory"] = "copy" if asked.copy else None
    if asked.targets is not None:
        for target in asked.targets:
            _ = find_format(target, project.root).writer
        values["targets"] = list(dict.fromkeys(asked.targets))
    if asked.options:
        tables = copy.deepcopy(values.get("target") or {})
        for id, options in place_options(
            project.root, asked.options, values["format"], values.get("targets") or []
        ).items():
            tables.setdefault(id, {}).update(options)
        values["target"] = tables
    return validate(Dataset, {key: value for key, value in values.items() if value is not None}, where="")


def _unset(values: dict[str, Any], key: str, name: str) -> None:
    """Remove a key, given as `key` or `table.key`; raises UsageError when it is not there."""
    path = key if key in values else key.replace("-", "_") if key.replace("-", "_") in values else key
    if path in values:
        del values[path]
        return
    table, _, rest = key.partition(".")
    inner = values.get(table)
    if not rest or not isinstance(inner, dict):
        near = closest(key, values)
        hint = f"did you mean `{near}`?" if near else f"it has {', '.join(values)}"
        raise UsageError(f"{name} has no `{key}`", hint=hint)
    _unset(inner, rest, f"`{table}` of {name}")
    if not inner:
        del values[table]


def _try_rows(project: Root, name: str, proposal: Proposal) -> None:
    """Say where the data lies, read the first rows, and keep the first sample and the first problem."""
    dataset = proposal.dataset
    places = [f"{key} {value}" for key in SOURCE_KEYS if (value := getattr(dataset, key)) is not None]
    proposal.source = ", ".join(places)
    if dataset.file_name is None:
        return
    proposal.source = project.shown(Path(os.path.normpath(project.data_dir / dataset.file_name)))
    source = source_of(project, name, dataset)
    proposal.task = source.task
    for stream, value in stream_rows(source, PEEK_ROWS):
        proposal.looked += 1
        try:
            sample = source.sample(value)
        except RowError as error:
            if proposal.problem is None:
                shown = Path(project.shown(stream.path))
                proposal.problem = replace(make_reject(stream, value, error), source=shown)
            continue
        proposal.read += 1
        if proposal.sample is None:
            proposal.sample = sample
            where = project.shown(stream.path)
            proposal.place = f"{where}:{stream.line}" if stream.line else f"{where}: row {stream.row}"
