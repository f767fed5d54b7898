"""`dsreg sync`: make true what follows from the registry."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dsreg.cli import options, output


class Accepted(StrEnum):
    """Which side wins where an entry was changed by hand."""

    registry = "registry"
    dataset_info = "dataset_info"


def sync(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when something is not as the registry says.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what would change as a diff, and write nothing.")] = False,
    accept: Annotated[
        Accepted | None,
        typer.Option("--accept", metavar="SIDE", help="registry | dataset_info: who is right where an entry differs."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite generated files that were changed by hand.")
    ] = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Bring dataset_info.json, copies and converters up to date."""
    from dsreg.cli.changes import plan_json, tell_conflicts, tell_plan
    from dsreg.cli.here import here
    from dsreg.sync import sync as make_true

    only_look = check or diff or dry_run
    plan = make_true(here(), accept=accept.value if accept else None, force=force, dry_run=only_look)
    if json:
        output.data_json(plan_json(plan, dry_run=only_look))
    else:
        if diff:
            for text in plan.diff().splitlines():
                output.data(text)
        tell_plan(plan, dry_run=only_look)
        tell_conflicts(plan)
        if not plan.drift:
            output.say("everything is as the registry says")
    if plan.problems or plan.conflicts or (check and plan.drift):
        raise typer.Exit(1)
