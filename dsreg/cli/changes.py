"""What a plan did, or would do, in words."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from dsreg.cli import output

if TYPE_CHECKING:
    from dsreg.sync import Plan

_MANY = 20
"""More changes of one kind in one folder are only counted."""
_DONE = {"create": "created", "update": "updated", "delete": "deleted", "rename": "renamed"}


def tell_plan(plan: Plan, *, dry_run: bool) -> None:
    """Say which files were written, what was noticed on the way, and what could not be done."""
    for notice in plan.notices:
        output.note(f"{notice.code} {notice.message}", where=notice.where, hint=notice.hint)
    for text in change_lines(plan, dry_run=dry_run):
        output.say(text)
    tell_problems(plan)


def tell_problems(plan: Plan) -> None:
    """Show what kept parts of a plan from being made."""
    for problem in plan.problems:
        output.error(problem.message, where=problem.where, hint=problem.hint)


def change_lines(plan: Plan, *, dry_run: bool) -> list[str]:
    """A line for each file that changes; dsreg.lock is only named when it is alone."""
    rows = [(_verb(change.verb, dry_run), change.shown) for change in plan.ordered()]
    rows += [(_verb("create", dry_run), f"{plan.project.shown(folder)}/") for folder in plan.folders]
    named = [row for row in rows if row[1] != "dsreg.lock"]
    return output.table(_counted(named or rows))


def _counted(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Changes, those of one kind in one folder as a count where there are many."""
    kinds = Counter((verb, PurePosixPath(path).parent) for verb, path in rows)
    shown: dict[tuple[str, str], None] = {}
    for verb, path in rows:
        folder = PurePosixPath(path).parent
        count = kinds[verb, folder]
        shown[(verb, path) if count <= _MANY else (verb, f"{count:,} files in {folder}/")] = None
    return list(shown)


def _verb(verb: str, dry_run: bool) -> str:
    return f"would {verb}" if dry_run else _DONE[verb]


def plan_json(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    """A plan as JSON-shaped data."""
    return {
        "written": not dry_run,
        "datasets": plan.names,
        "changes": [{"change": change.verb, "path": change.shown} for change in plan.ordered()],
        "conflicts": [
            {"dataset": found.dataset, "where": found.where, "message": found.message, "ways": list(found.ways)}
            for found in plan.conflicts
        ],
        "problems": [{"where": found.where, "message": found.message, "hint": found.hint} for found in plan.problems],
        "notices": [
            {"code": found.code, "where": found.where, "message": found.message, "hint": found.hint}
            for found in plan.notices
        ],
        "unmanaged": plan.unmanaged,
        "used_in": [{"path": use.path, "line": use.line, "text": use.text} for use in plan.uses],
        "kept": plan.kept,
    }


def tell_left(plan: Plan, name: str) -> None:
    """Name the configurations that still use a name that is gone, and the files that stay as they are."""
    for use in plan.uses:
        output.warn(f"still names {name}: {use.text}", where=f"{use.path}:{use.line}")
    if plan.kept:
        output.say("stays as it is:")
        for path in plan.kept:
            output.say(f"  {path}")


def tell_conflicts(plan: Plan) -> None:
    """Show what a person changed, from what stands there to what the registry says, with the ways out."""
    for found in plan.conflicts:
        output.error(f"{found.message}\n{found.diff}".rstrip("\n"), where=found.where, hint=", or ".join(found.ways))
