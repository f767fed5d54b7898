"""`dsreg check`: what LlamaFactory, and each target, will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.check.bare import BareResult
    from dsreg.check.dataset import Result

STAGES = ("pt", "sft", "rm", "dpo", "kto", "ppo")
OUTPUTS = ("text", "json", "github")


def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE]...", help="Datasets; with --format, files.")
    ] = None,
    dataset_dir: Annotated[
        str | None, typer.Option("--dataset-dir", metavar="DIR", help="A folder with a dataset_info.json, no project.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="Check files as this format.")
    ] = None,
    stage: Annotated[
        str | None,
        typer.Option("--stage", metavar="STAGE", help=f"{' '.join(STAGES)}; what the entry is for without it."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="FORMAT", help="What an export to this target would say. Repeatable."),
    ] = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    select: Annotated[
        list[str] | None, typer.Option("--select", metavar="CODE", help="Only codes that begin so. Repeatable.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="CODE", help="Not codes that begin so. Repeatable.")
    ] = None,
    explain: Annotated[str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means.")] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="With --json, the verdict of every row.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what is mechanical and safe in the entries.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --fix, show the changes and write nothing.")] = False,
    output_format: Annotated[
        str, typer.Option("--output-format", metavar="KIND", help="text, json or github.")
    ] = "text",
    json: options.Json = False,
) -> int:
    """Say what LlamaFactory, and each --target, will do with every row; exit code 1 where there are errors."""
    from dsreg.check.select import chosen, is_among

    if explain is not None:
        from dsreg.check.codes import explain as explained

        output.data(explained(explain))
        return 0
    kind = "json" if json else output_format
    _refuse_bad(stage, kind, fix=fix, dry_run=dry_run, file=format is not None)
    if fix:
        from dsreg.cli.fix import fix_entries

        return fix_entries(names or [], dataset_dir, dry_run=dry_run)
    left = _codes(ignore)
    settings: dict[str, Any] = {
        "stage": stage,
        "targets": list(target or ()),
        "verdicts": verdicts,
        "duplicates": not is_among("DS290", left),
    }
    if target or take or skip or strip or option:
        from dsreg.cli.choices import choices_of

        settings["choices"] = choices_of(take, skip, strip, option, None)
    results: list[Result | BareResult] = []
    one = len(names or ()) == 1
    for result in _results(names, dataset_dir, format, settings):
        result.findings = chosen(result.findings, _codes(select), left)
        if kind == "json":
            results.append(result)
        else:
            _show(result, kind)
            results.append(_counted(result))
    if kind == "json":
        shown = [result.as_json(verdicts=verdicts) for result in results]
        output.data_json(shown[0] if one and len(shown) == 1 else shown)
    return int(any(finding.severity == "error" for result in results for finding in result.findings))


def _counted(result: Any) -> Any:
    """The result without what was shown already, so that a long list of datasets needs no memory."""
    result.findings = [finding for finding in result.findings if finding.severity == "error"][:1]
    result.verdicts = []
    return result


def _codes(given: Sequence[str] | None) -> list[str]:
    return [code.strip() for value in given or () for code in value.split(",") if code.strip()]


def _refuse_bad(stage: str | None, kind: str, *, fix: bool, dry_run: bool, file: bool) -> None:
    from dsreg.errors import UsageError
    from dsreg.model import closest

    if stage is not None and stage not in STAGES:
        near = closest(stage, STAGES)
        hint = f"did you mean `{near}`?" if near else f"stages: {', '.join(STAGES)}"
        raise UsageError(f"--stage {stage}: there is no such stage", hint=hint)
    if kind not in OUTPUTS:
        raise UsageError(f"--output-format {kind}: expected {', '.join(OUTPUTS)}")
    if dry_run and not fix:
        raise UsageError("--dry-run needs --fix: a check writes nothing")
    if fix and file:
        raise UsageError("--fix repairs entries, not files")


def _results(
    names: list[str] | None, dataset_dir: str | None, format: str | None, settings: dict[str, Any]
) -> Iterator[Result | BareResult]:
    """The results, one by one as they are made."""
    from dsreg.errors import UsageError

    if format is not None:
        if not names or dataset_dir is not None:
            raise UsageError("--format checks files: give them, and no --dataset-dir", hint="check FILE --format F")
        yield from _files(names, format, settings)
    elif dataset_dir is not None:
        from dsreg.check.folder import check_folder

        yield from check_folder(_folder(dataset_dir), names, shown=output.path, **settings)
    else:
        from dsreg.check.project import check_project
        from dsreg.cli.here import here

        yield from check_project(_root(here, names), names, shown=output.path, **settings)


def _root(here: Any, names: list[str] | None) -> Any:
    """The project; where there is none, the ways to check without one."""
    from dsreg.errors import NotFoundError

    try:
        return here()
    except NotFoundError as error:
        file = next((name for name in names or () if Path(name).is_file()), None)
        error.hint = f"dsreg check {file} --format FORMAT" if file else f"{error.hint}, or give --dataset-dir DIR"
        raise


def _folder(given: str) -> Path:
    """The folder of a dataset_info.json; the file itself may be named as well."""
    from dsreg.errors import NotFoundError

    path = Path(given).expanduser()
    folder = path.parent if path.name == "dataset_info.json" else path
    if not folder.is_dir():
        raise NotFoundError(f"--dataset-dir names no folder: {given}")
    return folder


def _files(names: list[str], format: str, settings: dict[str, Any]) -> Iterator[BareResult]:
    from dsreg.check.bare import check_file
    from dsreg.formats import find_format

    found = find_format(format)
    choices = settings.get("choices")
    for name in names:
        yield check_file(
            Path(name),
            found.id,
            options=choices.options if choices is not None else None,
            shown=output.path,
            verdicts=settings["verdicts"],
        )


def _show(result: Result | BareResult, kind: str) -> None:
    from dsreg.cli import findings

    if kind == "github":
        findings.show_github(result.findings)
    else:
        findings.show_text(result.findings)
        output.data(findings.summary(result))
