"""`dsreg remove`: take datasets out of the registry."""

from __future__ import annotations

from typing import Annotated

import typer

from dsreg.cli import options, output


def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Registered datasets.", show_default=False)],
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Take datasets out of the registry. Data and exports stay."""
    import shlex

    from dsreg.cli.changes import plan_json, tell_left, tell_plan
    from dsreg.cli.here import here
    from dsreg.errors import UsageError
    from dsreg.registry import look_up
    from dsreg.sync import remove_dataset

    root = here()
    names = list(dict.fromkeys(look_up(root, name) for name in names))
    if not yes and not dry_run:
        if not output.can_ask():
            raise UsageError("there is nobody to ask", hint=f"dsreg remove -y {shlex.join(names)}")
        for name in names:
            planned = remove_dataset(root, name, dry_run=True)
            tell_plan(planned, dry_run=True)
            tell_left(planned, name)
        if not output.ask(f"Remove {', '.join(names)} from the registry?"):
            raise UsageError("nothing was removed")
    plans = []
    for name in names:
        plan = remove_dataset(root, name, dry_run=dry_run)
        plans.append(plan_json(plan, dry_run=dry_run))
        if not json:
            tell_plan(plan, dry_run=dry_run)
            tell_left(plan, name)
    if json:
        output.data_json(plans)
