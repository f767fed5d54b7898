"""`dsreg check`: what LlamaFactory, and each target, will do."""

from __future__ import annotations

import os
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


NamesOrFiles = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME|FILE]...", help="Datasets; with --format, files.")
]
Folder = Annotated[
    str | None, typer.Option("--dataset-dir", metavar="DIR", help="A folder with a dataset_info.json, no project.")
]
FileFormat = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="Check files as this format.")]
Stage = Annotated[
    str | None, typer.Option("--stage", metavar="STAGE", help=f"{' '.join(STAGES)}; what the entry is for without it.")
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="FORMAT", help="What an export to this target would say. Repeatable."),
]
Select = Annotated[
    list[str] | None, typer.Option("--select", metavar="CODE", help="Only codes that begin so. Repeatable.")
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="CODE", help="No codes that begin so. Repeatable.")
]
Explain = Annotated[
    str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means; `all` prints the page of codes.")
]
Verdicts = Annotated[bool, typer.Option("--verdicts", help="With --json, the verdict of every row.")]
Fix = Annotated[bool, typer.Option("--fix", help="Repair what is mechanical and safe in the entries.")]
OnlyShow = Annotated[bool, typer.Option("--dry-run", help="With --fix, show the changes and write nothing.")]
Kind = Annotated[str, typer.Option("--output-format", metavar="KIND", help="text, json or github.")]


def check(
    names: NamesOrFiles = None,
    dataset_dir: Folder = None,
    format: FileFormat = None,
    stage: Stage = None,
    target: Targets = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    select: Select = None,
    ignore: Ignore = None,
    explain: Explain = None,
    verdicts: Verdicts = False,
    fix: Fix = False,
    dry_run: OnlyShow = False,
    output_format: Kind = "text",
    json: options.Json = False,
) -> int:
    """Say what LlamaFactory, and each --target, will do with every row; exit code 1 where there are errors."""
    from dsreg.check.select import is_among

    if explain is not None:
        return _explain(explain)
    kind = "json" if json else output_format
    _refuse_bad(stage, kind, fix=fix, dry_run=dry_run, file=format is not None)
    if fix:
        from dsreg.cli.fix import fix_entries

        return fix_entries(names or [], dataset_dir, dry_run=dry_run)
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others keep what was needed once
    left, wanted = _codes(ignore), _codes(select)
    _refuse_unknown(left, wanted)
    settings: dict[str, Any] = {
        "stage": stage,
        "targets": list(target or ()),
        "verdicts": verdicts,
        "duplicates": not is_among("DS290", left),
    }
    if target or take or skip or strip or option:
        from dsreg.cli.choices import choices_of

        settings["choices"] = choices_of(take, skip, strip, option, None)
    results = _results(names, dataset_dir, format, settings)
    return _tell(results, kind, wanted, left, verdicts=verdicts, one=len(names or ()) == 1)


def _explain(code: str) -> int:
    from dsreg.check.codes import explain, page

    output.data(page().rstrip("\n") if code == "all" else explain(code))
    return 0


def _tell(
    results: Iterator[Result | BareResult],
    kind: str,
    select: list[str],
    ignore: list[str],
    *,
    verdicts: bool,
    one: bool,
) -> int:
    """Print the results as they come, or all of them as JSON; the exit code is 1 where there are errors."""
    from dsreg.check.select import chosen

    shown: list[dict[str, Any]] = []
    errors = False
    for result in results:
        result.findings = chosen(result.findings, select, ignore)
        errors = errors or any(finding.severity == "error" for finding in result.findings)
        if kind == "json":
            shown.append(result.as_json(verdicts=verdicts))
        else:
            _show(result, kind)
    if kind == "json":
        output.data_json(shown[0] if one and len(shown) == 1 else shown)
    return int(errors)


def _codes(given: Sequence[str] | None) -> list[str]:
    return [code.strip() for value in given or () for code in value.split(",") if code.strip()]


def _refuse_unknown(*given: list[str]) -> None:
    """Refuse a beginning of codes that no code has: a misspelt one would hide every finding, or none."""
    from dsreg.errors import UsageError

    if any(given):
        from dsreg.check.codes import all_codes

        for code in (code for codes in given for code in codes):
            if not any(known.startswith(code.upper()) for known in all_codes()):
                raise UsageError(f"no code begins with {code}", hint="dsreg check --explain all")


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
    from dsreg.cli.here import here_if_any
    from dsreg.formats import find_format

    found = find_format(format)
    root = here_if_any()
    targets = [find_format(target, root.root if root else None) for target in dict.fromkeys(settings["targets"])]
    for target in targets:
        _ = target.writer
    choices = settings.get("choices")
    for name in names:
        yield check_file(
            Path(name),
            found.id,
            options=choices.options if choices is not None else None,
            targets=targets,
            choices=choices,
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
