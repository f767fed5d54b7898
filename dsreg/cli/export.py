"""`dsreg export`: convert registered datasets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.api import Project, RegisteredDataset
    from dsreg.errors import DsregError
    from dsreg.export import Report
    from dsreg.exported import Exported
    from dsreg.formats import Format
    from dsreg.runner import Choices, Conversion


class Job(NamedTuple):
    """One dataset on its way to one target."""

    dataset: RegisteredDataset
    conversion: Conversion
    container: str | None

    @property
    def usual_place(self) -> Path:
        """Where the export stands when nobody says otherwise."""
        return self.dataset.output(self.conversion, self.container)


class LeftOut(NamedTuple):
    """A dataset that cannot become a target, or not without a choice."""

    name: str
    target: str
    reason: DsregError


def export(
    names: options.Names = None,
    target: Annotated[
        list[str], typer.Option("--target", metavar="FORMAT", help="What they become. Repeatable.", show_default=False)
    ] = [],  # noqa: B006
    out: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="PATH", help="A file for one dataset, a folder for several."),
    ] = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    text_template: options.TextTemplate = None,
    skip_invalid: options.SkipInvalid = False,
    processes: options.Jobs = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Convert registered datasets. Without names, all that become the target without a choice to make."""
    from dsreg.cli.choices import choices_of
    from dsreg.cli.here import project
    from dsreg.exported import Exported
    from dsreg.format_options import check_options
    from dsreg.formats import find_format

    found = project()
    targets = [find_format(id, found.root.root) for id in _required(target)]
    for format in targets:
        _ = format.writer
    choices = choices_of(take, skip, strip, option, text_template)
    check_options(choices.options, targets)
    jobs, left = _jobs(found, names, targets, choices)
    place = _places(out, jobs, several=len(targets) > 1)

    def convert(job: Job) -> Report:
        if dry_run:
            return _try(job, place(job), skip_invalid=skip_invalid, processes=processes)
        return _convert(job, place(job), exported, skip_invalid=skip_invalid, force=force, processes=processes)

    with Exported(found.root) as exported:
        reports, failed = _run(jobs, convert, json=json, dry_run=dry_run)
    if json:
        output.data_json({"exports": [report.as_json() for report in reports], "left_out": _left_json(left)})
    else:
        _tell_left(left)
    failed += [each.reason for each in left if _is_broken(each)]
    if failed:
        raise typer.Exit(max(error.exit_code for error in failed))


def _required(targets: list[str]) -> list[str]:
    from dsreg.errors import UsageError

    if not targets:
        raise UsageError("there is no --target", hint="--target FORMAT; `dsreg formats list` names them")
    return list(dict.fromkeys(targets))


def _jobs(
    project: Project, names: list[str] | None, targets: list[Format], choices: Choices
) -> tuple[list[Job], list[LeftOut]]:
    """What to convert, and what is left out because nobody asked for it by name; raises for what was named."""
    from dsreg.errors import DsregError

    jobs, left = [], []
    for name in dict.fromkeys(names or project):
        for target in targets:
            try:
                dataset = project[name]
                conversion = dataset.conversion(target.id, choices)
                jobs.append(Job(dataset, conversion, dataset.container(target.id, choices)))
            except DsregError as error:
                if names:
                    raise
                left.append(LeftOut(name, target.id, error))
    return jobs, left


def _is_broken(each: LeftOut) -> bool:
    """Whether a dataset was left out because something is wrong with it, and not for want of a choice."""
    from dsreg.errors import DataFileError, RegistryError

    return isinstance(each.reason, DataFileError | RegistryError)


def _places(out: str | None, jobs: list[Job], *, several: bool) -> Callable[[Job], Path | None]:
    """Where each job writes: its own place under exports/, the file given with -o, or a place in that folder."""
    if out is None:
        return lambda job: None
    if out == "-":
        from dsreg.errors import UsageError

        raise UsageError("export writes files", hint="dsreg convert FILE --target FORMAT writes to standard output")
    if len(jobs) == 1 and not out.endswith("/") and not Path(out).is_dir():
        return lambda job: Path(out)
    folder = Path(out)

    def inside(job: Job) -> Path:
        exports = job.dataset.root.root / "exports"
        below = (
            job.usual_place.relative_to(exports)
            if several
            else job.usual_place.relative_to(exports / job.conversion.target.id)
        )
        return folder / below

    return inside


def _convert(
    job: Job, path: Path | None, exported: Exported, *, skip_invalid: bool, force: bool, processes: int | None
) -> Report:
    """Run one job."""
    from dsreg.cli.progress import progress

    with progress(job.conversion):
        return job.dataset.export_conversion(
            job.conversion,
            path,
            exported=exported,
            container=job.container,
            skip_invalid=skip_invalid,
            force=force,
            jobs=processes,
        )


def _try(job: Job, path: Path | None, *, skip_invalid: bool, processes: int | None) -> Report:
    """Run one job without writing anything, and say where it would."""
    from dataclasses import replace

    from dsreg.cli.progress import progress
    from dsreg.export import container_of
    from dsreg.export import export as convert

    with progress(job.conversion):
        container_of(job.conversion, path, job.container)  # refuses what the run would refuse
        report = convert(job.conversion, None, skip_invalid=skip_invalid, jobs=processes)
        return replace(report, output=path or job.usual_place)


def _run(
    jobs: list[Job], convert: Callable[[Job], Report], *, json: bool, dry_run: bool
) -> tuple[list[Report], list[DsregError]]:
    """Run all jobs, whatever happens to one of them, and tell about each; a single one raises its error."""
    from dsreg.cli.report import tell_report
    from dsreg.errors import DsregError

    reports, failed = [], []
    for job in jobs:
        try:
            report = convert(job)
        except DsregError as error:
            if len(jobs) == 1:
                raise
            _tell_error(error)
            failed.append(error)
            continue
        reports.append(report)
        if not json:
            tell_report(report, output_shown=output.path(report.output) + (" (dry run)" if dry_run else ""))
    return reports, failed


def _tell_error(error: DsregError) -> None:
    from dsreg.cli.report import show_rejects
    from dsreg.export import Unwritten

    if isinstance(error, Unwritten):
        show_rejects(error.report)
    output.error(error.message, where=error.where, hint=error.hint)


def _tell_left(left: list[LeftOut]) -> None:
    """List what was left out, with the flag that would do it where there is one."""
    if not left:
        return
    several = len({each.target for each in left}) > 1
    output.say("left out:")
    rows = [(each.name, *([each.target] if several else []), _reason(each)) for each in left]
    for text in output.table(rows, indent="  "):
        output.say(text)


def _reason(each: LeftOut) -> str:
    """Why, in few words: the flag to give, that the rows cannot become that, or what the error says."""
    hint, reason = each.reason.hint, str(each.reason)
    if hint.startswith("--take"):
        return f"needs {hint}"
    return reason if hint.startswith("targets that fit") or not hint else f"{reason} ({hint})"


def _left_json(left: list[LeftOut]) -> list[dict[str, str]]:
    return [
        {"name": each.name, "target": each.target, "reason": str(each.reason), "hint": each.reason.hint}
        for each in left
    ]
