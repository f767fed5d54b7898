"""`dsreg formats matrix`: what can become what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.formats import Format
    from dsreg.matrix import Cell


def matrix(
    format: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="Only this source, in detail.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="FORMAT", help="Only this target, in detail.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Show what can become what, with which choice and with which loss."""
    from dsreg.cli.here import here_if_any
    from dsreg.formats import all_formats, find_format
    from dsreg.matrix import matrix as all_cells

    here = here_if_any()
    root = here.root if here else None
    for id in (format, target):
        if id is not None:
            find_format(id, root)
    formats = all_formats(root)
    cells = [
        cell
        for cell in all_cells(formats.values())
        if (format is None or cell.source == format) and (target is None or cell.target == target)
    ]
    if json:
        output.data_json([cell.as_json() for cell in cells])
    elif format is not None or target is not None:
        _show_pairs(cells)
    else:
        _show_tasks(list(formats.values()))


def _show_pairs(cells: list[Cell]) -> None:
    from dsreg.cli.show import cell_lines

    for number, key in enumerate(dict.fromkeys((cell.source, cell.task) for cell in cells)):
        if number:
            output.data()
        output.head(f"{key[0]}, {key[1]} rows")
        for text in cell_lines([cell for cell in cells if (cell.source, cell.task) == key]):
            output.data(text)


def _show_tasks(formats: list[Format]) -> None:
    """What rows of each task become; then what of a row each target can hold."""
    from dsreg.tasks import TASKS

    targets = [format for format in formats if format.writes]
    rows = [(target.id, *(_answer(task, target) for task in TASKS)) for target in targets]
    for text in output.table(rows, header=("TARGET", *(f"from {task}" for task in TASKS))):
        output.data(text)
    output.data()
    output.data("Rows that use what a target cannot hold are rejected, or --skip and --strip FEATURE. Targets hold:")
    for text in output.table([(target.id, _held(target)) for target in targets], indent="  "):
        output.data(text)
    output.data()
    output.data("In detail: dsreg formats matrix --format FORMAT, or --target FORMAT")


def _answer(task: str, target: Format) -> str:
    from dsreg.formats import ways

    found = ways(task, target)
    if not found:
        return "-"
    if not found[0].steps:
        return "yes"
    takes = dict.fromkeys(step.take for way in found for step in way.steps if step.take)
    return f"as {found[0].task}" if not found[0].steps[0].take else f"--take {'|'.join(takes)}"


def _held(target: Format) -> str:
    from dsreg.tasks import FEATURES

    held = [feature for feature in FEATURES if feature in target.manifest.supports]
    return ", ".join(held) or "text only"
