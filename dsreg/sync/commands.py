"""The commands that change the registry, each with all that follows from it, under the project's lock.

Each returns its plan. With `dry_run` nothing is written, not even the lock is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

from dsreg.entry import dataset_of_entry
from dsreg.errors import NotFoundError, RegistryError, UsageError
from dsreg.exported import Exported
from dsreg.files import project_lock
from dsreg.info import read_info
from dsreg.model import Dataset, closest
from dsreg.names import check_name, same_file, stem_of, unfit_name
from dsreg.project import INFO_FILE, SETTINGS_FILE, Root, inside, open_project
from dsreg.registry import check_free, find_toml, load, load_all, look_up, names, new_toml
from dsreg.sync.apply import apply
from dsreg.sync.draft import Wish, toml_change
from dsreg.sync.plan import Accept, Change, Plan, Stage
from dsreg.sync.planning import plan
from dsreg.uses import find_uses


def sync(
    project: Root,
    only: Iterable[str] | None = None,
    *,
    accept: Accept | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Plan:
    """Make everything as the registry says. Raises ConflictError, with nothing written, where a person changed it."""
    chosen = None if only is None else list(only)
    return _run(project, lambda: plan(project, chosen, accept=accept, force=force), dry_run)


def _run(project: Root, make: Callable[[], Plan], dry_run: bool) -> Plan:
    """Plan and apply under the project's lock; only plan in a dry run."""
    with nullcontext() if dry_run else project_lock(project.root):
        made = make()
        return made if dry_run else apply(made)


def add_dataset(project: Root, name: str, dataset: Dataset, *, dry_run: bool = False) -> Plan:
    """Register a dataset. Raises UsageError for a name that is taken or that LlamaFactory could not select."""

    def make() -> Plan:
        check_name(name)
        path = check_free(project, name)
        change = Change(path, project.shown(path), None, new_toml(dataset), Stage.REGISTRY)
        return _planned(project, Wish({name: dataset}, {}, [change]), [name])

    return _run(project, make, dry_run)


def set_dataset(project: Root, name: str, dataset: Dataset, *, dry_run: bool = False) -> Plan:
    """Change a registered dataset, keeping comments and order of its TOML. Raises NotFoundError."""

    def make() -> Plan:
        before = load(project, name)
        change = toml_change(project, name, dataset)
        return _planned(project, Wish({name: dataset}, {name: before}, [change] if change else []), [name])

    return _run(project, make, dry_run)


def rename_dataset(project: Root, old: str, new: str, *, dry_run: bool = False) -> Plan:
    """Give a dataset another name: TOML, entry in its place, generated files; never data. Raises NotFoundError."""

    def make() -> Plan:
        dataset = load(project, old)
        check_name(new)
        target, path = check_free(project, new, leaving=old), find_toml(project, old)
        if path is None or old == new:
            raise UsageError(f"{old!r} cannot be renamed to {new!r}")
        if new in read_info(project).value:
            where = project.shown(project.info_path)
            raise UsageError(f"{new!r} stands in {where} already", hint="choose another name")
        content = path.read_bytes()
        change = Change(target, project.shown(target), None, content, Stage.REGISTRY, moved_from=path)
        made = _planned(project, Wish({old: None, new: dataset}, {old: dataset}, [change], (old, new)), [old, new])
        made.uses, made.kept = find_uses(project, old), _left_behind(project, old, dataset)
        return made

    return _run(project, make, dry_run)


def remove_dataset(project: Root, name: str, *, dry_run: bool = False) -> Plan:
    """Take a dataset out of registry and dataset_info.json, with its generated files; never its data or exports.

    The plan's `uses` are the configurations that still name it, `kept` the files that stay. Raises NotFoundError.
    """

    def make() -> Plan:
        try:
            before: Dataset | None = load(project, name)
        except RegistryError:
            before = None  # a broken TOML can be removed as well
        change = toml_change(project, look_up(project, name), None)
        known = {name: before} if before is not None else {}
        made = _planned(project, Wish({name: None}, known, [change] if change else []), [name])
        made.uses, made.kept = find_uses(project, name), _left_behind(project, name, before)
        return made

    return _run(project, make, dry_run)


def _planned(project: Root, wish: Wish, changed: list[str]) -> Plan:
    made = plan(project, changed, wish=wish)
    made.names = changed
    return made


def _left_behind(project: Root, name: str, dataset: Dataset | None) -> list[str]:
    """A dataset's data file and exports, as far as they are there."""
    data = project.data_dir / dataset.file_name if dataset is not None and dataset.file_name else None
    found = [project.shown(data)] if data is not None and data.exists() else []
    return found + Exported(project).of(name)


def adopt(project: Root, only: Iterable[str] | None = None, *, dry_run: bool = False) -> Plan:
    """Make TOMLs for entries of dataset_info.json, whose bytes stay. Without names: for all that TOML can hold.

    The plan's `unmanaged` says why the others were left. A name that was asked for and cannot be adopted raises
    RegistryError, one that is not there NotFoundError.
    """
    chosen = None if only is None else list(only)
    return _run(project, lambda: _adoption(project, chosen), dry_run)


def _adoption(project: Root, chosen: list[str] | None) -> Plan:
    info = read_info(project).value
    registered = set(names(project))
    stems = {same_file(stem_of(name)) for name in registered}
    wish, reasons = Wish(), dict[str, str]()
    for name in info if chosen is None else chosen:
        if name not in info:
            meant = closest(name, info)
            raise NotFoundError(
                f"no entry {name!r} in {project.shown(project.info_path)}",
                hint=f"did you mean `{meant}`?" if meant else "",
            )
        if name in registered:
            continue
        found = unfit_name(name) or dataset_of_entry(info[name])
        stem = stem_of(name)
        if isinstance(found, Dataset) and same_file(stem) in stems:
            found = "its name differs from another only in letter case or in how accents are stored: one file for many"
        if isinstance(found, str):
            reasons[name] = found
            continue
        stems.add(same_file(stem))
        path = project.registry_dir / f"{stem}.toml"
        wish.datasets[name] = found
        wish.tomls.append(Change(path, project.shown(path), None, new_toml(found), Stage.REGISTRY))
    if chosen is not None and reasons:
        name, reason = next(iter(reasons.items()))
        raise RegistryError(f"{name!r} cannot be adopted: {reason}", where=project.shown(project.info_path))
    made = _planned(project, wish, list(wish.datasets))
    made.unmanaged = reasons
    return made


def init(root: Path, *, dry_run: bool = False) -> Plan:
    """Make a folder a project: `registry/`, the data folder, TOMLs for the entries of a dataset_info.json.

    A dataset_info.json in `data/` or in the folder itself is found; its bytes stay. Raises RegistryError, with nothing
    made, when it cannot be read.
    """
    root = root.resolve()
    project, change = _new_project(root)
    read_info(project)  # refuse a broken one before anything is made

    def make() -> Plan:
        made = _adoption(project, None)
        made.problems += load_all(project).problems.values()
        made.changes += [change] if change else []
        made.folders = [path for path in (project.registry_dir, project.data_dir) if not path.is_dir()]
        for folder in made.folders:
            inside(root, folder)
        return made

    return _run(project, make, dry_run)


def _new_project(root: Path) -> tuple[Root, Change | None]:
    """The project that a folder becomes, and the dsreg.toml it needs where dataset_info.json lies at its top."""
    project = open_project(root)
    settings = root / SETTINGS_FILE
    if settings.exists() or project.info_path.exists() or not (root / INFO_FILE).exists():
        return project, None
    text = b'data_dir = "."\n'
    return Root(root, root, project.registry_dir, project.settings), Change(
        settings, SETTINGS_FILE, None, text, Stage.REGISTRY
    )
