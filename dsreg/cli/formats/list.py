"""`dsreg formats list`: the formats and what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.formats import Format


def list(
    purpose: Annotated[
        str | None, typer.Option("--for", metavar="CONSUMER", help="Only what this consumer reads: nova, verl, trl, …")
    ] = None,
    json: options.Json = False,
) -> None:
    """List all formats."""
    from dsreg.cli.here import here_if_any
    from dsreg.errors import NotFoundError
    from dsreg.formats import all_formats

    root = here_if_any()
    found = all_formats(root.root if root else None)
    consumers = sorted({consumer for format in found.values() for consumer in format.manifest.for_})
    if purpose is not None and purpose not in consumers:
        raise NotFoundError(f"no format is for `{purpose}`", hint=f"formats are for {', '.join(consumers)}")
    chosen = [format for format in found.values() if purpose is None or purpose in format.manifest.for_]
    if json:
        output.data_json([described(format) for format in chosen])
        return
    rows = [
        (format.id, _direction(format), ", ".join(format.manifest.tasks), format.manifest.title) for format in chosen
    ]
    for text in output.table(rows, header=("FORMAT", "USED AS", "TASKS", "WHAT IT IS")):
        output.data(text)


def _direction(format: Format) -> str:
    return " ".join(word for word, has in (("source", format.reads), ("target", format.writes)) if has)


def described(format: Format) -> dict[str, Any]:
    """A format as JSON-shaped data."""
    manifest = format.manifest
    return {
        "id": format.id,
        "title": manifest.title,
        "reads": format.reads,
        "writes": format.writes,
        "tasks": manifest.tasks,
        "supports": manifest.supports,
        "for": manifest.for_,
        "container": manifest.container,
        "own": format.own,
    }
