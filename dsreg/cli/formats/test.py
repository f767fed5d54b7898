"""`dsreg formats test`: whether a format keeps its promises."""

from __future__ import annotations

import typer

from dsreg.cli import options, output
from dsreg.cli.formats.show import Id


def test(format: Id, json: options.Json = False) -> None:
    """Run a format's contract: its manifest, its example, round trips, hostile rows, the generated script."""
    from dsreg.cli.here import here_if_any
    from dsreg.contract import run_contract
    from dsreg.formats import find_format

    root = here_if_any()
    found = find_format(format, root.root if root else None)
    results = list(run_contract(found))
    if json:
        output.data_json([result._asdict() for result in results])
    else:
        marks = {"ok": "ok", "failed": "FAILED", "note": "note"}
        output.head(f"{found.id}  {output.path(found.folder)}" if found.own else found.id)
        for text in output.table(
            [(marks[result.outcome], result.name, result.detail) for result in results], indent="  "
        ):
            output.data(text)
    if any(result.outcome == "failed" for result in results):
        raise typer.Exit(1)
