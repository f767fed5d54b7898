"""Carry a plan out: in an order that a kill at any moment leaves repairable."""

from __future__ import annotations

from pathlib import Path

from dsreg.errors import ConflictError, OutputError
from dsreg.files import atomic_write, clean_leftovers, delete, make_dirs, move
from dsreg.lock import write_pending
from dsreg.sync.plan import Change, Plan, Stage

_SMALL = (Stage.REGISTRY, Stage.INFO, Stage.LOCK)


def apply(plan: Plan) -> Plan:
    """Write what a plan says and return it. The caller holds the project's lock.

    Before the first write, everything that the disk may hold until the lock says so is recorded in `.dsreg/`: so the
    next `sync` tells its own half-finished work from a person's. Raises ConflictError before anything is written, and
    OutputError where the system refuses.
    """
    plan.refuse_conflicts()
    changes = plan.ordered()
    for change in changes:
        _check_unchanged(change)
    clean_leftovers(*_folders(plan))
    for folder in plan.folders:
        make_dirs(folder)
    if changes:
        write_pending(plan.project, plan.intent)
    done = 0
    try:
        for change in changes:
            _write(change)
            done += 1
        write_pending(plan.project, plan.unfinished)
    except OutputError as error:
        if done:
            error.hint = f"{error.hint}; then `dsreg sync` completes the rest".removeprefix("; then ")
        raise
    if plan.digests is not None:
        plan.digests.save()
    return plan


def _folders(plan: Plan) -> set[Path]:
    """The folders in which a killed command may have left a temporary file."""
    project = plan.project
    generated = {(project.root / path).parent for path in plan.generated}
    touched = {change.path.parent for change in plan.changes}
    folders = {project.root, project.registry_dir, project.data_dir, project.state} | generated | touched
    return {folder for folder in folders if folder.resolve().is_relative_to(project.root)}


def _write(change: Change) -> None:
    if change.moved_from is not None:
        move(change.moved_from, change.path)
    elif change.new is None:
        delete(change.path)
    else:
        atomic_write(change.path, change.new)


def _check_unchanged(change: Change) -> None:
    """Refuse to overwrite what somebody changed between planning and now."""
    if change.stage in _SMALL and change.moved_from is None and _content(change.path) != change.old:
        raise ConflictError(
            "changed while dsreg was running; nothing was written", where=change.shown, hint="try again"
        )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(path)) from error
