"""`dsreg convert`: convert a file without a registry."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.detection import Detection
    from dsreg.export import Report
    from dsreg.project import Root
    from dsreg.runner import Conversion
    from dsreg.source import Source

_STDIN = "stdin"


def convert(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file, a folder, or - for standard input.", show_default=False)
    ],
    target: options.Target,
    format: options.Format = None,
    ranking: options.Ranking = None,
    column: options.Column = None,
    tag: options.Tag = None,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write; standard output without it.")
    ] = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    text_template: options.TextTemplate = None,
    skip_invalid: options.SkipInvalid = False,
    jobs: options.Jobs = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Convert a file without registering it. What is not given is detected."""
    from dsreg.cli.choices import choices_of
    from dsreg.cli.here import here_if_any
    from dsreg.errors import UsageError
    from dsreg.format_options import check_options
    from dsreg.formats import find_format
    from dsreg.registered import refuse_own
    from dsreg.runner import make_conversion

    root = here_if_any()
    wanted = find_format(target, root.root if root else None)
    _ = wanted.writer
    choices = choices_of(take, skip, strip, option, text_template)
    to_stdout = out is None or out == "-"
    if json and to_stdout and not dry_run:
        raise UsageError("--json and the rows would both go to standard output", hint="write the rows with -o FILE")
    columns, tags = options.parse_pairs(column, "--column"), options.parse_pairs(tag, "--tag")
    with _input(file) as path:
        found, source = _detected(
            path, root, {"format": format, "columns": columns, "tags": tags, "ranking": ranking}, choices.options
        )
        check_options(choices.options, [wanted], source.format)
        if format is None:
            output.say(f"detected {found.reasons[0] if found.reasons else found.format}")
        conversion = make_conversion(source, wanted, choices, root.root if root else None)
        output_path = Path(out) if out is not None and not to_stdout else None
        if root is not None and output_path is not None:
            refuse_own(root, output_path, source.files)
        container = choices.options.get("container")
        report = _convert(
            conversion, output_path, container, skip_invalid=skip_invalid, force=force, dry_run=dry_run, jobs=jobs
        )
    if file == "-":
        _name_stdin(report)
    _tell(report, json=json, dry_run=dry_run)


def _detected(
    path: Path, root: Root | None, asked: dict[str, Any], options: dict[str, Any]
) -> tuple[Detection, Source]:
    """What a file is, the project's own formats among the choices, and the source that it makes."""
    from dsreg.detected import detect_files
    from dsreg.formats import all_formats
    from dsreg.rows import data_files
    from dsreg.source import make_source

    files, formats = data_files(path), all_formats(root.root if root else None)
    found = detect_files(files, formats=formats, **asked)
    format = formats[found.format]
    source = make_source(
        path.stem, format, files, found.columns, tags=found.tags, ranking=found.ranking, options=options
    )
    return found, source


@contextmanager
def _input(file: str) -> Iterator[Path]:
    """The file to read; standard input is kept in a file first."""
    from dsreg.errors import DsregError, NotFoundError, UsageError
    from dsreg.export import Unwritten
    from dsreg.rows import spool

    if file == "-":
        with spool(sys.stdin.buffer) as path:
            try:
                yield path
            except DsregError as error:
                error.where = error.where.replace(str(path), _STDIN)
                error.hint = error.hint.replace(str(path), "FILE")
                if isinstance(error, Unwritten):
                    _name_stdin(error.report)
                raise
        return
    if not Path(file).exists():
        raise NotFoundError("there is no such file or folder", where=file, hint="- reads standard input")
    if not Path(file).is_file() and not Path(file).is_dir():
        message = "is a pipe or a device, which is read once, and rows are read twice"
        raise UsageError(message, where=file, hint="- reads standard input: COMMAND | dsreg convert - …")
    yield Path(file)


def _name_stdin(report: Report) -> None:
    """Call standard input by its name in a report, rather than by the file that kept it."""
    report.source = [Path(_STDIN)]
    report.rejects = [replace(reject, source=Path(_STDIN)) for reject in report.rejects]


def _convert(
    conversion: Conversion,
    path: Path | None,
    container: str | None,
    *,
    skip_invalid: bool,
    force: bool,
    dry_run: bool,
    jobs: int | None,
) -> Report:
    """Convert to a file, to standard output where there is none, or to nothing in a dry run."""
    from dsreg.cli.progress import progress
    from dsreg.export import SUFFIXES, container_of, export
    from dsreg.scratch import scratch_folder

    with progress(conversion):
        if dry_run:
            container_of(conversion, path, container)  # refuses what the run would refuse
            return export(conversion, None, skip_invalid=skip_invalid, jobs=jobs)
        if path is not None:
            return export(conversion, path, container=container, skip_invalid=skip_invalid, ours=force, jobs=jobs)
        with scratch_folder() as folder:
            # to a file first: a conversion that fails prints nothing
            kind = container_of(conversion, None, container)
            kept = folder / f"rows{SUFFIXES[kind]}"
            report = export(conversion, kept, container=kind, skip_invalid=skip_invalid, jobs=jobs)
            with kept.open("rb") as rows:
                _print(rows, kind)
    report.output = report.rejects_path = None
    return report


def _print(rows: BinaryIO, kind: str) -> None:
    """Copy rows to standard output; on a terminal, what it would obey is written as escapes, which say the same."""
    if sys.stdout.isatty() and kind != "parquet":
        for row in rows:
            sys.stdout.write(output.json_plain(row.decode()[:-1]) + "\n")
        sys.stdout.flush()
    else:
        shutil.copyfileobj(rows, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()


def _tell(report: Report, *, json: bool, dry_run: bool) -> None:
    from dsreg.cli.report import tell_report

    if json:
        output.data_json(report.as_json())
        return
    where = output.path(report.output) if report.output else "nothing (dry run)" if dry_run else "standard output"
    tell_report(report, output_shown=where)
