"""Write a conversion to files: the output whole or not at all, the rejects beside it, and a report."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dsreg.advice import LENGTH_ROWS, advise_samples
from dsreg.errors import OutputError, RejectsError, UsageError
from dsreg.files import delete, make_dirs
from dsreg.names import stem_of
from dsreg.notes import Advice, Notes
from dsreg.rowcode.errors import RowError
from dsreg.rows import open_writer
from dsreg.runner import Conversion, Mistaken, Reject, Tally, note_lengths, run

SHOWN_REJECTS = 20
"""How many rejects a report carries; all of them are counted, and written with `skip_invalid`."""
_REJECT = b'{"source":'
"""What a file of rejects begins with."""
SMALL = 1 << 19
"""Up to this many bytes, rows are converted one by one sooner than the loop of the fast way is made."""
SUFFIXES = {"json": ".json", "jsonl": ".jsonl", "parquet": ".parquet"}
UNWRITTEN = (".csv", ".tsv", ".txt", ".arrow", ".xlsx")
"""Suffixes of files that are read, but not written: JSON under such a name would be taken for something else."""


@dataclass
class Report:
    """What a conversion did: its account, where things were written, and what is worth knowing."""

    name: str
    source: list[Path]
    format: str
    target: str
    output: Path | None
    tally: Tally
    effect: str = ""
    rejects: list[Reject] = field(default_factory=list)
    rejects_path: Path | None = None
    advice: list[Advice] = field(default_factory=list)
    descriptors: list[Path] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-shaped data, for `--json`."""
        tally = self.tally
        return {
            "name": self.name,
            "source": [str(path) for path in self.source],
            "format": self.format,
            "target": self.target,
            "output": str(self.output) if self.output else None,
            "read": tally.read,
            "used": tally.used,
            "written": tally.written,
            "set_aside": dict(tally.aside),
            "rejected": dict(tally.rejected),
            "rejects": [reject.as_json() for reject in self.rejects],
            "rejects_path": str(self.rejects_path) if self.rejects_path else None,
            "effect": self.effect,
            "lost_extras": dict(tally.lost_extras),
            "advice": [advice._asdict() for advice in self.advice],
            "descriptors": [str(path) for path in self.descriptors],
        }


class Unwritten(RejectsError):
    """Nothing was written, because of the rows; `report` says which."""

    def __init__(self, report: Report, message: str, hint: str) -> None:
        super().__init__(f"{report.name} to {report.target}: {message}", hint=hint)
        self.report = report


class TooManyRejects(Unwritten):
    """Rows were rejected, and it was not said to write the others."""

    def __init__(self, report: Report) -> None:
        count = report.tally.rejected.total()
        message = f"{count:,} of {report.tally.read:,} rows rejected, nothing written"
        super().__init__(report, message, "--skip-invalid writes the others, and the rejects to a file of their own")


class EmptyExport(Unwritten):
    """No row is left: an empty file helps nobody, and would take the place of a good one."""

    def __init__(self, report: Report) -> None:
        tally = report.tally
        hint = f"leave some of them: {', '.join(tally.aside)}" if tally.aside else "correct the rows, or what they are"
        hint = hint if tally.read else "the source has no rows"
        super().__init__(report, f"DS323 no row can be written, the export would be empty: {tally}", hint)


def container_of(conversion: Conversion, output: Path | None, option: str | None) -> str:
    """The container to write: what was asked for, what the output's suffix says, or the format's own.

    Raises UsageError for a container that does not exist, for a suffix that promises another one, and for an option
    that the container has no way to follow.
    """
    kind = _named_container(conversion, output, option)
    options = conversion.steps.target.options
    for name, setting in conversion.target.manifest.options.items():
        if kind in setting.unfit.get(str(options.get(name)), ()):
            raise UsageError(
                f"option {name}={options[name]} of {conversion.target.id}: {kind} cannot hold that",
                hint="--option container=jsonl",
            )
    return kind


def _named_container(conversion: Conversion, output: Path | None, option: str | None) -> str:
    suffixes = [suffix for suffix in output.suffixes if suffix not in (".gz", ".zst", ".zstd")] if output else []
    suffix = suffixes[-1].lower() if suffixes else ""
    if suffix in UNWRITTEN:
        raise UsageError(
            f"{suffix} files cannot be written", where=str(output), hint=f"name it {' or '.join(SUFFIXES.values())}"
        )
    if option is not None:
        if option not in SUFFIXES:
            raise UsageError(f"option container={option}: expected {' | '.join(SUFFIXES)}")
        return option
    by_suffix = {suffix: container for container, suffix in SUFFIXES.items()}
    return by_suffix.get(suffix, conversion.target.manifest.container)


def place_of(conversion: Conversion, name: str, container: str | None) -> str:
    """Where an export of a dataset stands, below the project's root: what the target's manifest says."""
    suffix = SUFFIXES[container_of(conversion, None, container)]
    path = conversion.target.manifest.path.format(name=stem_of(name))
    return f"exports/{conversion.target.id}/{path}{suffix}"


def check_output(output: Path, sources: list[Path], *, ours: bool) -> None:
    """Refuse an output that would destroy something: an input, a folder, a device, a file that is not `ours`.

    Raises OutputError.
    """
    try:
        status = output.stat()
    except FileNotFoundError:
        if output.is_symlink() and not ours:
            raise OutputError(
                "is a symbolic link to a file that is not there", where=str(output), hint="--force makes that file"
            ) from None
        return
    except OSError as error:
        raise OutputError(f"cannot write there: {error.strerror}", where=str(output)) from None
    if stat.S_ISDIR(status.st_mode):
        raise OutputError("is a folder, not a file", where=str(output))
    if not stat.S_ISREG(status.st_mode):
        raise OutputError("is not a regular file", where=str(output))
    if any(source.exists() and source.samefile(output) for source in sources):
        raise OutputError("is the input itself", where=str(output), hint="choose another output with -o")
    if not ours:
        raise OutputError(
            "exists, and dsreg has no record of having written it like this",
            where=str(output),
            hint="--force overwrites it",
        )


def rejects_place(output: Path) -> Path:
    """Where the rejects of an export stand."""
    return output.with_name(f"{output.name}.rejects.jsonl")


def check_rejects(output: Path, sources: list[Path]) -> None:
    """Refuse rejects that would destroy something: what stands at their place must be the rejects of an earlier run.

    Raises OutputError.
    """
    path = rejects_place(output)
    if path.is_symlink():
        raise OutputError("the rejects go here, and it is a symbolic link", where=str(path), hint=f"rm {path}")
    check_output(path, sources, ours=True)
    if path.is_file() and beginning(path) not in (b"", _REJECT):
        raise OutputError("the rejects go here, and it is another file", where=str(path), hint="move it away")


def beginning(path: Path) -> bytes:
    """As much of a file as tells whether it holds rejects."""
    with path.open("rb") as file:
        return file.read(len(_REJECT))


def export(
    conversion: Conversion,
    output: Path | None,
    *,
    container: str | None = None,
    skip_invalid: bool = False,
    ours: bool = False,
    ready: Callable[[Path], None] | None = None,
    limit: int | None = None,
    fast: bool | None = None,
    early: bool = True,
    jobs: int | None = 1,
) -> Report:
    """Convert a source into a file, or into nothing where `output` is None (a dry run); returns the report.

    The output appears whole under its name or not at all; `ready` gets the complete file before it takes the name.
    Raises TooManyRejects when rows were rejected and `skip_invalid` is false, EmptyExport when no row is left,
    OutputError for a place that cannot be written, DataFileError for a source that cannot be read, UsageError when the
    file as a whole is refused.
    `jobs` processes work on it, None for as many as are worthwhile. `fast` False sends all rows the portable way, None
    does with few; without `early`, nothing is decided by the first rows; what is written and reported is the same.
    """
    source = conversion.source
    if output is not None:
        check_output(output, source.files, ours=ours)
        if skip_invalid:
            check_rejects(output, source.files)
        container_of(conversion, output, container)
    report = Report(source.name, source.files, source.format.id, conversion.target.id, output, Tally())
    report.effect = conversion.step.effect if conversion.step else ""
    try:
        with contextlib.ExitStack() as stack:
            if output is not None:
                stack.enter_context(folder_for(output))
            place = stack.enter_context(sink(conversion, output, container, limit, ready))
            keep = stack.enter_context(reject_sink(report, output if skip_invalid else None))
            report.tally = run_or_refuse(conversion, place, keep, limit, fast=fast, early=early, jobs=jobs)
            report.advice = list(advise(conversion, report.tally))
            if report.tally.rejected and not skip_invalid:
                raise TooManyRejects(report)
            if not report.tally.written:
                raise EmptyExport(report)
    except Mistaken:
        return export(
            conversion,
            output,
            container=container,
            skip_invalid=skip_invalid,
            ours=ours,
            ready=ready,
            early=False,
            jobs=jobs,
        )
    if output is not None and not report.tally.rejected:
        delete_stale_rejects(output, source.files)
    return report


@contextlib.contextmanager
def folder_for(output: Path) -> Iterator[None]:
    """Make the folder of an output; where the block fails, what was made for it and is still empty goes again."""
    made = [folder for folder in (output.parent, *output.parent.parents) if not folder.exists()]
    make_dirs(output.parent)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # something stands in it
            for folder in made:
                folder.rmdir()
        raise


def delete_stale_rejects(output: Path, sources: list[Path]) -> None:
    """Delete the rejects that an earlier run left beside an output, never another file and never what was read."""
    path = rejects_place(output)
    if not path.is_file() or path.is_symlink() or any(source.samefile(path) for source in sources):
        return
    if beginning(path) == _REJECT:
        delete(path)


def run_or_refuse(
    conversion: Conversion,
    place: Output,
    keep: Callable[[Reject], None],
    limit: int | None,
    *,
    fast: bool | None,
    early: bool = False,
    jobs: int | None = 1,
) -> Tally:
    """Run, and name the file when it is refused as a whole."""
    try:
        return run_rows(conversion, place, keep, limit, fast=fast, early=early, jobs=jobs)
    except RowError as error:
        files = ", ".join(str(path) for path in conversion.source.files)
        raise UsageError(f"{error.code} {error.message}; the file as a whole is refused", where=files) from None


def run_rows(
    conversion: Conversion,
    place: Output,
    keep: Callable[[Reject], None],
    limit: int | None = None,
    *,
    fast: bool | None = None,
    early: bool = False,
    jobs: int | None = 1,
) -> Tally:
    """Convert all rows, or the first `limit`: the fast way where there is one. Raises what `dsreg.runner.run` does."""
    large = sum(path.stat().st_size for path in conversion.source.files if path.exists()) > SMALL
    if (large if fast is None else fast) and limit is None and place.separator:
        from dsreg.jobs.quick import run_quick

        tally = run_quick(conversion, place, keep, early=early, jobs=jobs)
        if tally is not None:
            return tally
    return run(conversion, place.write, keep, limit=limit)


def advise(conversion: Conversion, tally: Tally) -> Iterator[Advice]:
    """All advisories on a converted file: the general ones, then those of its target."""
    notes = Notes()
    notes.merge(tally.notes)
    if conversion.steps.target.task == "preference":
        notes.merge(note_lengths(conversion, min(LENGTH_ROWS, tally.read)))
    yield from advise_samples(notes, tally.read)
    own = conversion.target.part("advise")
    if own is not None:
        yield from own.advise(tally.notes, tally.written, conversion.steps.target)


class Nowhere:
    """Takes the place of a file where none is written; `see` is shown the rows."""

    separator = b"\n"

    def __init__(self, see: Callable[[Any], None] = lambda _: None) -> None:
        self.write = see

    def write_joined(self, data: bytes, rows: int) -> None:
        """Forget these rows."""


class Output(Protocol):
    """What takes rows: as they are, or some of them encoded and joined by `separator`, if it is not empty."""

    @property
    def write(self) -> Callable[[dict[str, Any]], None]:
        """Takes one row as it is."""

    @property
    def separator(self) -> bytes:
        """What stands between two encoded rows."""

    def write_joined(self, data: bytes, rows: int) -> None:
        """Take rows that are encoded."""


@contextlib.contextmanager
def sink(
    conversion: Conversion,
    output: Path | None,
    container: str | None,
    limit: int | None,
    ready: Callable[[Path], None] | None = None,
) -> Iterator[Output]:
    """Where converted rows go: a file, or nowhere."""
    if output is None:
        yield Nowhere()
        return
    kind = container_of(conversion, output, container)
    schema = surveyed_schema(conversion, limit) if kind == "parquet" else None
    with open_writer(output, kind, schema=schema, ready=ready) as writer:
        yield writer


def surveyed_schema(conversion: Conversion, limit: int | None) -> Any:
    """The schema of a Parquet output, from a pass of its own over all rows."""
    from dsreg.parquet_schema import SchemaSurvey

    survey = SchemaSurvey(conversion.target.manifest.parquet)
    seen = Nowhere(survey.see)
    run_or_refuse(conversion, seen, lambda _: None, limit, fast=False)
    return survey.schema()


@contextlib.contextmanager
def reject_sink(report: Report, output: Path | None) -> Iterator[Callable[[Reject], None]]:
    """Where rejects go: into the report, and into a file beside the output that disappears when there are none."""
    path = rejects_place(output) if output else None

    def remember(reject: Reject) -> None:
        if len(report.rejects) < SHOWN_REJECTS:
            report.rejects.append(reject)

    if path is None:
        yield remember
        return
    with open_writer(path, "jsonl") as writer:

        def keep(reject: Reject) -> None:
            remember(reject)
            writer.write(reject.as_json())

        yield keep
    if report.tally.rejected:
        report.rejects_path = path
    else:
        delete(path)
