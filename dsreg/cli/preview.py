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
    count: Annotated[int, typer.Option("-n", "--rows", metavar="N", min=1, help="How many rows.")] = 3,
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

    dataset = project()[name]
    choices = choices_of(take, skip, strip, option, None)
    if target is None and (take or skip or strip or option):
        raise UsageError("--take, --skip, --strip and --option need a --target")
    conversion = dataset.conversion(target, choices) if target is not None else None
    rows = look(dataset.source, count, conversion, shown=dataset.root.shown)
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
