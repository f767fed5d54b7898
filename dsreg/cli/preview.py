"""`dsreg preview`: look at rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.preview import Shown


def preview(
    name: options.Name,
    target: Annotated[
        str | None, typer.Option("--target", metavar="FORMAT", help="Show beside each row what it becomes.")
    ] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="llamafactory", help="Show the rows as LlamaFactory aligns them.")
    ] = None,
    dataset_dir: Annotated[
        str | None, typer.Option("--dataset-dir", metavar="DIR", help="With --as: a folder with a dataset_info.json.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="STAGE", help="With --as: the stage, if not what it is for.")
    ] = None,
    count: Annotated[
        int | None, typer.Option("-n", "--rows", metavar="N", min=1, help="How many rows; 3, with --as --json all.")
    ] = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    json: options.Json = False,
) -> None:
    """Show rows as a conversation, and what they become."""
    from dsreg.cli.choices import choices_of
    from dsreg.cli.here import project
    from dsreg.errors import UsageError
    from dsreg.preview import look

    if as_ is not None or dataset_dir is not None or stage is not None:
        _show_aligned(name, as_, dataset_dir, stage, count if count is not None or json else 3, json=json)
        return
    dataset = project()[name]
    choices = choices_of(take, skip, strip, option, None)
    if target is None and (take or skip or strip or option):
        raise UsageError("--take, --skip, --strip and --option need a --target")
    conversion = dataset.conversion(target, choices) if target is not None else None
    rows = look(dataset.source, count or 3, conversion, shown=dataset.root.shown)
    if json:
        output.data_json([row.as_json() for row in rows])
        return
    for number, row in enumerate(rows):
        if number:
            output.data()
        _show(row, target, full=full)


def _show(row: Shown, target: str | None, *, full: bool) -> None:
    from dsreg.cli.chat import chat_lines
    from dsreg.cli.pretty import json_lines, shortened

    output.head(row.place)
    if row.sample is not None:
        for text in chat_lines(row.sample, indent="  ", full=full):
            output.data(text)
    elif isinstance(row.row, str):
        output.data(f"  {output.cut(row.row, 400)}")
    for converted in row.converted or ():
        output.head(f"  as {target}")
        for text in json_lines(converted if full else shortened(converted), 2):
            output.data(text)
    if row.problem:
        output.data(f"  {row.problem}")


def _show_aligned(
    name: str, as_: str | None, dataset_dir: str | None, stage: str | None, count: int | None, *, json: bool
) -> None:
    """Show rows as LlamaFactory's converter makes them, with its verdict of each."""
    from pathlib import Path

    from dsreg.check.stages import stage_of
    from dsreg.cli.here import here
    from dsreg.cli.pretty import json_lines
    from dsreg.errors import UsageError
    from dsreg.preview import aligned_rows

    if as_ != "llamafactory":
        raise UsageError(
            "--dataset-dir and --stage need --as llamafactory" if as_ is None else f"--as {as_}: unknown",
            hint="--as llamafactory",
        )
    folder = Path(dataset_dir).expanduser() if dataset_dir is not None else here().data_dir
    rows = aligned_rows(folder, name, stage or stage_of(folder, name), count)
    if json:
        output.data_json(list(rows))
        return
    for row in rows:
        output.head(f"row {row['i'] + 1}: {row['status']}")
        for text in json_lines({key: value for key, value in row.items() if key.startswith("_")}, 2):
            output.data(text)
