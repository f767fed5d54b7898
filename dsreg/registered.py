"""Registered datasets as sources: where their rows are and how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsreg.entry import own_columns
from dsreg.errors import MissingDataError, OutputError, UsageError
from dsreg.formats import Format, find_format
from dsreg.project import SETTINGS_FILE
from dsreg.rows import BadRow, data_files, open_rows
from dsreg.runner import Choices
from dsreg.source import Source, columns_in, make_source
from dsreg.tasks import EXTRA_COLUMNS

if TYPE_CHECKING:
    from dsreg.model import Dataset
    from dsreg.project import Root


PEEK_ROWS = 200
"""How many rows are looked at where a decision needs data."""
# What LlamaFactory assumes where an entry has no `columns` at all (data/parser.py, DatasetAttr).
LLAMAFACTORY_COLUMNS = {
    "alpaca": {"prompt": "instruction", "query": "input", "response": "output"},
    "sharegpt": {"messages": "conversations"},
}


def refuse_own(project: Root, output: Path, sources: Iterable[Path]) -> None:
    """Refuse to write over what a project is made of: dsreg's own files, and the data of its datasets.

    Raises OutputError, whatever --force says; the export itself refuses its `sources`.
    """
    from dsreg.registry import load_all

    real = Path(os.path.realpath(output))
    if str(real) in map(os.path.realpath, sources):
        return
    kept = [project.info_path, project.lock_path, project.root / SETTINGS_FILE, project.registry_dir, project.state]
    kept += [project.root / "templates", project.data_dir / "converted", project.root / "converters"]
    owner = "dsreg's own" if any(real.is_relative_to(os.path.realpath(path)) for path in kept) else ""
    for name, dataset in {} if owner else load_all(project).datasets.items():
        if dataset.file_name and real.is_relative_to(os.path.realpath(project.data_dir / dataset.file_name)):
            owner = f"the data of {name}"
    if owner:
        message = f"is {owner}, which no export writes over"
        raise OutputError(message, where=str(output), hint="choose another place with -o")


def peek(files: list[Path], count: int = PEEK_ROWS) -> list[dict[str, Any]]:
    """The first rows of files that are objects, to decide by; raises DataFileError."""
    rows: list[dict[str, Any]] = []
    for path in files:
        with open_rows(path) as stream:
            good = (row for row in stream if isinstance(row, dict) and not isinstance(row, BadRow))
            rows.extend(islice(good, count - len(rows)))
        if len(rows) >= count:
            break
    return rows


def files_of(project: Root, name: str, dataset: Dataset) -> list[Path]:
    """The data files of a dataset; raises UsageError for hub and cloud entries, MissingDataError for absent files."""
    if dataset.file_name is None:
        raise UsageError(
            f"{name} is not a local file, so there is nothing to convert here",
            hint="download it and register the file",
        )
    path = project.data_dir / dataset.file_name
    if not path.exists():
        raise MissingDataError("the data file does not exist", where=project.shown(path), hint=f"dsreg check {name}")
    return data_files(path)


def columns_of(format: Format, dataset: Dataset, files: list[Path]) -> dict[str, str]:
    """The columns a dataset's rows are read by.

    For LlamaFactory's own layouts its rule holds: a `columns` table is complete, without one its defaults count, and
    one that names only dsreg's extras is none. Other formats have their default names under what is given; only where
    those leave the task open, the data decides.
    """
    manifest = format.manifest
    known = {*manifest.columns, *EXTRA_COLUMNS}
    given = {name: column for name, column in (dataset.columns or {}).items() if name in known}
    if manifest.llamafactory and own_columns(dataset) is not None:
        return given
    if format.id in LLAMAFACTORY_COLUMNS:
        return {**LLAMAFACTORY_COLUMNS[format.id], **given}
    if len(manifest.needs) > 1:
        return columns_in(format, peek(files), given)
    taken = set(given.values())
    return {**{name: column for name, column in manifest.columns.items() if column not in taken}, **given}


def source_of(
    project: Root,
    name: str,
    dataset: Dataset,
    options: Mapping[str, Any] | None = None,
    *,
    without_data: bool = False,
) -> Source:
    """The source of a registered dataset; raises UsageError, NotFoundError, DataFileError.

    `without_data` makes do with what the registry says where the data file is not there.
    """
    format = find_format(dataset.format, project.root)
    try:
        files = files_of(project, name, dataset)
    except MissingDataError:
        if not without_data:
            raise
        files = []
    own = format.id in LLAMAFACTORY_COLUMNS
    return make_source(
        name,
        format,
        files,
        columns_of(format, dataset, files),
        tags=dataset.tags,
        ranking=bool(dataset.ranking) if own else None,
        options={**(dataset.target or {}).get(format.id, {}), **(options or {})},
    )


def target_options(project: Root, dataset: Dataset, target: str) -> dict[str, Any]:
    """The options of a target: of the project's settings, under those of the dataset."""
    return {**project.settings.target.get(target, {}), **(dataset.target or {}).get(target, {})}


def target_choices(project: Root, dataset: Dataset, target: str, given: Choices | None = None) -> Choices:
    """What the registry decides about a conversion to a target, under what is given; raises RegistryError.

    A feature that is given is dealt with as given, and not as the registry says.
    """
    return choices_in(target_options(project, dataset, target), given)


def choices_in(said: dict[str, Any], given: Choices | None = None) -> Choices:
    """The choices that a table `[target.<id>]` makes, under what is given; raises RegistryError."""
    from dsreg.model import texts

    given = given or Choices()
    take = given.take if given.take is not None else said.get("take")
    return Choices(
        take if take is None else str(take),
        given.skip | (frozenset(texts(said, "skip")) - given.strip),
        given.strip | (frozenset(texts(said, "strip")) - given.skip),
        {**said, **given.options},
        given.text_template,
    )


def container_option(choices: Choices) -> str | None:
    """The container that the options of a conversion name; None for the target's own."""
    container = choices.options.get("container")
    return None if container is None else str(container)
