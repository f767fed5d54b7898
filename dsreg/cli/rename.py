"""`dsreg rename`: give a dataset another name."""

from __future__ import annotations

from typing import Annotated

import typer

from dsreg.cli import options, output


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A registered dataset.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.", show_default=False)],
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Rename a dataset. TOML, entry and generated files change their names; data and exports do not."""
    from dsreg.cli.changes import plan_json, tell_left, tell_plan
    from dsreg.cli.here import here
    from dsreg.registry import look_up
    from dsreg.sync import rename_dataset

    root = here()
    plan = rename_dataset(root, look_up(root, old), new, dry_run=dry_run)
    if json:
        output.data_json(plan_json(plan, dry_run=dry_run))
    else:
        tell_plan(plan, dry_run=dry_run)
        tell_left(plan, old)
    if plan.problems:
        raise typer.Exit(1)
