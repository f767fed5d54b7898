"""Compare what the registry says with what is on the disk."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from dsreg.derived import all_code
from dsreg.entry import copy_path, entry_of
from dsreg.errors import RegistryError
from dsreg.files import read_regular
from dsreg.info import INFO_LIMIT, read_info
from dsreg.jsonedit import canonical
from dsreg.lock import Digests, Known, lock_bytes, read_known
from dsreg.model import Dataset, DatasetRecord, Notice
from dsreg.project import LOCK_FILE, Root, inside
from dsreg.registry import find_toml, load_all, look_up, read
from dsreg.sync.draft import ABSENT, Draft, Wish
from dsreg.sync.entries import plan_entry
from dsreg.sync.generated import obsolete_paths, plan_data, plan_generated, plan_obsolete
from dsreg.sync.plan import Accept, Change, Plan, Stage


def plan(
    project: Root,
    names: Iterable[str] | None = None,
    *,
    accept: Accept | None = None,
    force: bool = False,
    wish: Wish | None = None,
) -> Plan:
    """Find out what must be written so that everything is as the registry says. Writes nothing.

    `names` limits it to these datasets. `accept` settles entries that were changed by hand: "registry" overwrites
    them, "dataset_info" takes them into the TOML. `force` overwrites generated files that were changed by hand.
    Raises RegistryError when dataset_info.json cannot be read, NotFoundError for a name that is not registered.
    A broken TOML is a problem in the plan and hides nothing else.
    """
    wish = wish or Wish()
    data = read_regular(project.info_path, limit=INFO_LIMIT)
    info = read_info(project)
    state, digests = read_known(project), Digests(project)
    code = functools.cache(lambda: all_code(project.root))
    draft = Draft(Plan(project), state, info, data, dict(info.value), digests, accept, force, code)
    draft.plan.notices += [*draft.state.notices, *_duplicates(draft)]
    draft.plan.digests = draft.digests
    draft.plan.changes += wish.tomls
    datasets = _datasets(draft, names, wish)
    for name, before in wish.before.items():
        draft.state.known.add_entry(name, entry_of(name, before))
    try:
        if wish.renamed:
            _rename(draft, *wish.renamed)
        records = _plan_datasets(draft, datasets, wish)
        _finish(draft, records)
    except RecursionError:
        raise RegistryError("nested too deeply", where=project.shown(project.info_path)) from None
    return draft.plan


def _duplicates(draft: Draft) -> list[Notice]:
    where = draft.project.shown(draft.project.info_path)
    return [
        Notice("DS165", f"{name!r} stands there more than once; the last one counts", where)
        for name in draft.info.duplicates
    ]


def _datasets(draft: Draft, names: Iterable[str] | None, wish: Wish) -> dict[str, Dataset | None]:
    """The datasets to look at, sorted; None for those that are gone from the registry but were dsreg's."""
    found: dict[str, Dataset | None] = {}
    ours = {*draft.state.lock.datasets, *draft.state.known.entries}
    if names is None:
        loaded = load_all(draft.project)
        draft.plan.problems += loaded.problems.values()
        draft.plan.notices += loaded.notices
        found = {name: None for name in ours if name not in loaded.problems} | loaded.datasets
    for name in names or ():
        path = None if name in wish.datasets else find_toml(draft.project, name)
        if path is not None:
            found[name], notices = read(draft.project, path)
            draft.plan.notices += notices
        elif name in ours:
            found[name] = None
        elif name not in wish.datasets:
            look_up(draft.project, name)
    found |= wish.datasets
    return dict(sorted(found.items()))


def _rename(draft: Draft, old: str, new: str) -> None:
    """Rename the entry in its place; one that a person changed is left for the conflict that follows."""
    current = draft.info.value.get(old, ABSENT)
    if current is not ABSENT and new not in draft.info.value and draft.state.known.has_entry(old, current):
        draft.info.rename_member(old, new)
        draft.state.known.add_entry(new, current)
    record = draft.state.lock.datasets.get(old)
    if record is not None:
        draft.state.lock.datasets[new] = DatasetRecord(data=record.data)
    for export in draft.state.lock.exports.values():
        export.dataset = new if export.dataset == old else export.dataset


def _plan_datasets(draft: Draft, datasets: dict[str, Dataset | None], wish: Wish) -> dict[str, DatasetRecord | None]:
    """Plan each dataset; return what the lock will say of those that could be planned."""
    records: dict[str, DatasetRecord | None] = {}
    obsolete: dict[str, set[str]] = {}
    wanted_paths: set[str] = set()
    for name, given in datasets.items():
        planned = len(draft.plan.changes)
        try:
            made = _record(draft, name, given)
            obsolete[name] = obsolete_paths(draft, name, wish.before.get(name))
            records[name] = made
        except (RegistryError, RecursionError) as error:
            del draft.plan.changes[planned:]
            if name in wish.datasets or isinstance(error, RecursionError):
                raise
            error.where = error.where or f"{draft.project.shown(draft.project.registry_dir)}/{name}"
            draft.plan.problems.append(error)
            obsolete.pop(name, None)
            continue
        record = records[name]
        wanted_paths.update(record.files if record else ())
    for name, paths in obsolete.items():
        plan_obsolete(draft, name, paths - wanted_paths)
    return records


def _record(draft: Draft, name: str, given: Dataset | None) -> DatasetRecord | None:
    """Plan the entry and the files of a dataset; return what the lock will say, None when the dataset is gone.

    An entry that points to a copy follows once the copy can be made; until then it stays as it is.
    """
    if given is not None and given.llamafactory == "copy":
        entry_of(name, given)  # refuse what no entry can say before anything is planned
        files = plan_generated(draft, name, given)
        if draft.project.shown(draft.project.data_dir / copy_path(name)) in draft.unmade:
            record = draft.state.lock.datasets.get(name)
            kept = record.entry if record is not None else None
            return DatasetRecord(entry=kept, data=plan_data(draft, name, given), files=files)
        dataset, entry = plan_entry(draft, name, given)
    else:
        dataset, entry = plan_entry(draft, name, given)
        files = plan_generated(draft, name, dataset) if dataset is not None else {}
    if dataset is None:
        return None
    return DatasetRecord(entry=entry, data=plan_data(draft, name, dataset), files=files)


def _finish(draft: Draft, records: dict[str, DatasetRecord | None]) -> None:
    """Add the changes of dataset_info.json and the lock, and what a killed command's successor must know."""
    project, state, made = draft.project, draft.state, draft.plan
    info = draft.info.encode()
    if info != draft.info_data and (draft.info_data is not None or draft.info.value):
        shown = project.shown(project.info_path)
        made.changes.append(Change(project.info_path, shown, draft.info_data, info, Stage.INFO))
    made.unfinished = Known(
        {name: found for name, found in state.pending.entries.items() if name not in records},
        {path: found for path, found in state.pending.files.items() if path not in _paths(draft, records)},
    )
    for name, record in records.items():
        if record is None:
            state.lock.datasets.pop(name, None)
        else:
            state.lock.datasets[name] = record
    lock = lock_bytes(state.lock)
    if lock != state.data and (state.data is not None or state.lock.datasets):
        made.changes.append(Change(project.lock_path, LOCK_FILE, state.data, lock, Stage.LOCK))
    _note_intent(draft, records)
    made.generated = set(state.known.files)
    for change in made.changes:
        if change.new is not None:
            inside(project.root, change.path)


def _paths(draft: Draft, records: dict[str, DatasetRecord | None]) -> set[str]:
    """The generated files that these datasets have or had."""
    found = [record for record in records.values() if record is not None]
    found += [record for name, record in draft.state.lock.datasets.items() if name in records]
    return {path for record in found for path in record.files} | {change.shown for change in draft.plan.changes}


def _note_intent(draft: Draft, records: dict[str, DatasetRecord | None]) -> None:
    """Collect what the disk may hold while the changes are being written."""
    intent, known = draft.plan.intent, draft.state.known
    intent.add(draft.state.pending)
    for name, record in records.items():
        current = known.entries.get(name, set())
        wanted = {canonical(record.entry)} if record is not None and record.entry is not None else set()
        found = draft.entries_before.get(name, ABSENT)
        if not current and found is not ABSENT and {canonical(found)} == wanted:
            continue  # adopted: not dsreg's to remove, should its TOML never come to be written
        if current != wanted:
            intent.entries.setdefault(name, set()).update(current | wanted)
    for change in draft.plan.changes:
        if change.stage in (Stage.GENERATED, Stage.OBSOLETE):
            intent.files.setdefault(change.shown, set()).update(known.files.get(change.shown, ()))
