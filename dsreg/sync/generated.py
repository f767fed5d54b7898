"""Decide what becomes of a dataset's generated files, and look at its data file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dsreg import derived
from dsreg.entry import copy_path
from dsreg.errors import DsregError, MissingDataError, OutputError, RegistryError
from dsreg.files import read_regular, unified_diff
from dsreg.model import SOURCE_KEYS, DataRecord, Dataset, Notice
from dsreg.project import LOCK_FILE, Root, inside
from dsreg.sync.draft import Draft
from dsreg.sync.plan import Change, Conflict, Stage

_LIMIT = 1 << 40
_FORCE = "`dsreg sync --force` writes what dsreg makes"


def plan_generated(draft: Draft, name: str, dataset: Dataset) -> dict[str, str]:
    """Plan the files that follow from a dataset; return what the lock will say of them, sha256 by path."""
    record = draft.state.lock.datasets.get(name)
    before = dict(record.files) if record else {}
    files: dict[str, str] = {}
    for wanted in _wanted(draft, name, dataset):
        path = _place(draft.project, wanted.path)
        found = draft.digests.of(path)
        current = found[0] if found else None
        if current is not None and _is_current(draft, wanted, current):
            files[wanted.path] = current
            continue
        try:
            content = wanted.content()
        except DsregError as error:
            if not isinstance(error, MissingDataError):  # a notice speaks of those, and what was made of them stays
                draft.plan.problems.append(error)
                draft.unmade.add(wanted.path)
            files |= {wanted.path: before[wanted.path]} if wanted.path in before else {}
            continue
        draft.plan.notices += wanted.notices
        files[wanted.path] = hashlib.sha256(content).hexdigest()
        if current != files[wanted.path]:
            _plan_write(draft, name, wanted.path, path, current, content)
        if wanted.key:
            draft.digests.set_key(wanted.path, wanted.key)
    return files


def _is_current(draft: Draft, wanted: derived.Wanted, digest: str) -> bool:
    """Whether a file is what dsreg made of the same inputs, so that it need not be made again to know."""
    same = wanted.key and draft.digests.keys.get(wanted.path) == wanted.key
    return bool(same) and draft.state.known.has_file(wanted.path, digest)


def _wanted(draft: Draft, name: str, dataset: Dataset) -> list[derived.Wanted]:
    """The files to generate; none, and a problem in the plan, where that cannot be told."""
    try:
        return derived.wanted_files(draft.project, name, dataset, draft.code)
    except DsregError as error:
        draft.plan.problems.append(error)
        draft.unmade.add(draft.project.shown(draft.project.data_dir / copy_path(name)))
        return []


def _place(project: Root, shown: str) -> Path:
    """Where a generated file goes. Raises OutputError when that is outside the project or one of dsreg's own files."""
    path = project.root / shown
    real = inside(project.root, path)
    if real in (project.info_path, project.lock_path) or real.is_relative_to(project.registry_dir):
        raise OutputError("a generated file cannot stand here", where=shown)
    return path


def _plan_write(draft: Draft, name: str, shown: str, path: Path, current: str | None, content: bytes) -> None:
    old = read_regular(path, limit=_LIMIT)
    if old is None or draft.force or draft.state.known.has_file(shown, current):
        draft.plan.changes.append(Change(path, shown, old, content, Stage.GENERATED))
        draft.plan.intent.add_file(shown, hashlib.sha256(content).hexdigest())
        return
    diff = unified_diff(old, content, shown)
    draft.plan.conflicts.append(
        Conflict("file", name, shown, "this generated file was changed by hand", diff, (_FORCE,))
    )


def plan_obsolete(draft: Draft, name: str, paths: set[str]) -> None:
    """Plan the deletion of generated files that nothing asks for any more."""
    for shown in sorted(paths):
        path = _place(draft.project, shown)
        found = draft.digests.of(path)
        if found is None:
            continue
        old = read_regular(path, limit=_LIMIT)
        if draft.force or draft.state.known.has_file(shown, found[0]):
            draft.plan.changes.append(Change(path, shown, old, None, Stage.OBSOLETE))
            continue
        message = "this generated file is needed no more, but was changed by hand"
        diff = unified_diff(old, None, shown)
        ways = ("`dsreg sync --force` deletes it", "move it to another place")
        draft.plan.conflicts.append(Conflict("file", name, shown, message, diff, ways))


def obsolete_paths(draft: Draft, name: str, before: Dataset | None) -> set[str]:
    """The generated files that a dataset had: those of its record, and those that its TOML called for until now."""
    record = draft.state.lock.datasets.get(name)
    paths = set(record.files) if record else set()
    if before is not None:
        # a killed command may have written them without coming to the lock
        paths |= {wanted.path for wanted in _wanted(draft, name, before) if wanted.path in draft.state.known.files}
    return paths


def plan_data(draft: Draft, name: str, dataset: Dataset) -> DataRecord | None:
    """The lock's record of the data file; the old one, and a notice, where the file is not there."""
    record = draft.state.lock.datasets.get(name)
    before = record.data if record else None
    if dataset.file_name is None or any(getattr(dataset, key) is not None for key in SOURCE_KEYS[1:]):
        return None
    path = draft.project.data_dir / dataset.file_name
    try:
        found = draft.digests.of_data(path)
    except (RegistryError, OSError, ValueError) as error:
        draft.plan.notices.append(Notice("DS162", f"the data of {name!r} cannot be read: {error}", str(path)))
        return before
    shown = draft.project.shown(path)
    if found is None:
        draft.plan.notices.append(Notice("DS162", f"the data of {name!r} is not there", shown))
        return before
    if before is not None and before.sha256 == found[0]:
        return before
    if before is not None:
        draft.plan.notices.append(Notice("DS163", f"the data of {name!r} changed since {LOCK_FILE} was written", shown))
    return DataRecord(sha256=found[0], size=found[1])
