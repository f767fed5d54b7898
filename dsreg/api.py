"""The Python API: what the command line does, for programs. Everything here is re-exported by `dsreg`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsreg.descriptors import descriptor_places, write_descriptors
from dsreg.detected import detect_files
from dsreg.detection import Detection, detect
from dsreg.export import Report, export, place_of, rejects_place
from dsreg.exported import Exported
from dsreg.formats import Format, find_format
from dsreg.project import Root, find_root, inside, open_project
from dsreg.registered import PEEK_ROWS, container_option, refuse_own, source_of, target_choices
from dsreg.registry import load, look_up, names
from dsreg.rowcode.columns import tools_of_text
from dsreg.rowcode.converse_tools import TOOLS_WRITTEN
from dsreg.rowcode.pipeline import SetAside, convert_row
from dsreg.rows import data_files, open_rows
from dsreg.runner import Choices, Conversion, make_conversion, must_survey, stream_rows, survey_rows
from dsreg.source import Source, make_source

if TYPE_CHECKING:
    from dsreg.model import Dataset
    from dsreg.sync import Plan

Row = dict[str, Any]


class Project:
    """A project's registry as a mapping from names to datasets."""

    def __init__(self, root: Root) -> None:
        self.root = root

    @classmethod
    def find(cls, start: Path | str | None = None) -> Project:
        """The project around `start`, or around the working folder; raises NotFoundError when there is none."""
        return cls(open_project(find_root(Path(start) if start is not None else None)))

    def __iter__(self) -> Iterator[str]:
        return iter(names(self.root))

    def __len__(self) -> int:
        return len(names(self.root))

    def __contains__(self, name: object) -> bool:
        return name in names(self.root)

    def __getitem__(self, name: str) -> RegisteredDataset:
        """The dataset of that name; raises NotFoundError with the nearest names."""
        name = look_up(self.root, name)
        return RegisteredDataset(self.root, name, load(self.root, name))

    def sync(self, *, force: bool = False) -> Plan:
        """Make dataset_info.json and everything else that follows from the registry true; returns what was done.

        Raises ConflictError when something of dsreg's was changed by hand.
        """
        from dsreg.sync import sync

        return sync(self.root, force=force)


class RegisteredDataset:
    """One dataset of a project: its TOML as `entry`, its rows, and what they become."""

    def __init__(self, root: Root, name: str, entry: Dataset) -> None:
        self.root = root
        self.name = name
        self.entry = entry

    @property
    def source(self) -> Source:
        """Its files, format, columns and tags; raises UsageError or DataFileError when there is nothing to read."""
        return source_of(self.root, self.name, self.entry)

    def rows(self) -> Iterator[Any]:
        """Its rows as they stand in the files; a line that is no row comes as a BadRow."""
        return (value for _, value in stream_rows(self.source))

    def samples(self) -> Iterator[Row]:
        """Its rows as samples; raises RowError at the first that cannot be read."""
        source = self.source
        for row in self.rows():
            forget_tools()
            yield source.sample(row)

    def conversion(self, target: str, choices: Choices | None = None) -> Conversion:
        """The conversion to a target under the registry's options and the given choices; raises UsageError."""
        merged = target_choices(self.root, self.entry, target, choices)
        return make_conversion(self.source, find_format(target, self.root.root), merged, self.root.root)

    def container(self, target: str, choices: Choices | None = None) -> str | None:
        """The container that the choices name for a target, or else the registry; None for the target's own."""
        return container_option(target_choices(self.root, self.entry, target, choices))

    def output(self, conversion: Conversion, container: str | None = None) -> Path:
        """Where an export stands: `exports/<target>/` and the path that the target's manifest says."""
        return self.root.root / place_of(conversion, self.name, container)

    def export(
        self,
        target: str,
        path: Path | str | None = None,
        *,
        take: str | None = None,
        skip: Iterable[str] = (),
        strip: Iterable[str] = (),
        options: Mapping[str, Any] | None = None,
        skip_invalid: bool = False,
        force: bool = False,
    ) -> Report:
        """Write the dataset as a target, to `path` or to its place under `exports/`; returns the report.

        Raises UsageError for an impossible conversion, TooManyRejects when rows were rejected and not `skip_invalid`.
        """
        choices = Choices(take, frozenset(skip), frozenset(strip), dict(options or {}))
        with Exported(self.root) as exported:
            return self.export_conversion(
                self.conversion(target, choices),
                Path(path) if path else None,
                exported=exported,
                container=self.container(target, choices),
                skip_invalid=skip_invalid,
                force=force,
            )

    def export_conversion(
        self,
        conversion: Conversion,
        path: Path | None = None,
        *,
        exported: Exported,
        container: str | None = None,
        skip_invalid: bool = False,
        force: bool = False,
        jobs: int | None = 1,
    ) -> Report:
        """Write a conversion and its descriptors, those that `exported` wrote, or nobody; it counts them.

        A descriptor that was changed by hand is kept, unless `force`.
        """
        output = path or self.output(conversion, container)
        if path is None:
            for place in (output, rejects_place(output), *descriptor_places(conversion.target, output)):
                inside(self.root.root, place)
        else:
            refuse_own(self.root, output, conversion.source.files)
        report = export(
            conversion,
            output,
            container=container,
            skip_invalid=skip_invalid,
            ours=force or exported.wrote(output),
            ready=partial(exported.note, output),
            jobs=jobs,
        )
        exported.add(output, self.name, conversion.target.id)
        written = write_descriptors(conversion, output, ours=exported.wrote, note=exported.note, force=force)
        for made in written.made:
            exported.add(made, self.name, conversion.target.id)
        report.descriptors = written.made
        report.advice += written.advice
        return report


def convert(
    rows: Iterable[Any],
    source: str,
    target: str,
    *,
    columns: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    ranking: bool | None = None,
    take: str | None = None,
    skip: Iterable[str] = (),
    strip: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
) -> Iterator[Row]:
    """Convert rows from one format to another, one by one.

    Columns and tags that are not given are found in the first rows. Rows that a choice sets aside are left out.
    Raises UsageError for an impossible conversion, RowError at the first row that cannot be converted.
    """
    stream = iter(rows)
    head = list(islice(stream, PEEK_ROWS))
    found = detect(head, format=source, columns=columns, tags=tags, ranking=ranking)
    made = source_from(found, "rows", [], options)
    choices = Choices(take, frozenset(skip), frozenset(strip), dict(options or {}))
    conversion = make_conversion(made, find_format(target), choices)
    if must_survey(conversion):
        head = [*head, *stream]
        survey_rows(conversion, head)
    for row in chain(head, stream):
        forget_tools()
        try:
            yield from convert_row(row, conversion.steps)
        except SetAside:
            continue


def forget_tools() -> None:
    """Let the next row have tools of its own, not those of rows with the same text: who gets it may change it."""
    tools_of_text.cache_clear()
    TOOLS_WRITTEN.clear()


def source_from(found: Detection, name: str, files: list[Path], options: Mapping[str, Any] | None = None) -> Source:
    """The source that a detection describes."""
    return make_source(
        name,
        find_format(found.format),
        files,
        found.columns,
        tags=found.tags,
        ranking=found.ranking,
        options=options,
    )


def file_source(
    path: Path,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    ranking: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Source, Detection]:
    """A file or folder as a source, with what was detected; raises UsageError and DataFileError."""
    files = data_files(path)
    found = detect_files(files, format=format, columns=columns, tags=tags, ranking=ranking)
    return source_from(found, path.stem, files, options), found


def known_formats() -> dict[str, Format]:
    """All built-in formats by id."""
    from dsreg.formats import built_in

    return dict(built_in())


__all__ = ["Project", "RegisteredDataset", "convert", "detect", "file_source", "known_formats", "open_rows"]
