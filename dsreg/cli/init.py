"""`dsreg init`: make a folder a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.sync import Plan


def init(
    folder: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="The folder; the working folder without it.")
    ] = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Make a folder a project. The entries of a dataset_info.json that is there are adopted as they stand."""
    from pathlib import Path

    from dsreg.cli.changes import plan_json
    from dsreg.cli.here import chosen_folder
    from dsreg.errors import UsageError
    from dsreg.sync import init as make_project

    root = Path(folder or chosen_folder() or ".")
    if root.exists() and not root.is_dir():
        raise UsageError("is a file, not a folder", where=str(root))
    if not root.exists() and not dry_run:
        root.mkdir(parents=True)
    plan = make_project(root, dry_run=dry_run)
    if json:
        output.data_json(plan_json(plan, dry_run=dry_run))
    else:
        _tell(plan, dry_run=dry_run)
    if plan.problems:
        raise typer.Exit(1)


def _tell(plan: Plan, *, dry_run: bool) -> None:
    from dsreg.cli.changes import tell_plan

    tell_plan(plan, dry_run=dry_run)
    shown = plan.project.shown(plan.project.info_path)
    if plan.names:
        output.say(f"{len(plan.names)} entries of {shown} are in the registry now; the file itself is unchanged")
    if plan.unmanaged:
        output.say(f"{len(plan.unmanaged)} entries of {shown} stay as they are, without dsreg's care:")
        for text in output.table(plan.unmanaged.items(), indent="  "):
            output.say(text)
    if not plan.changes and not plan.folders and not plan.problems:
        output.say("this is a project already, and everything is as it should be")
    if not plan.names and not dry_run:
        output.say("next: dsreg add NAME FILE")
