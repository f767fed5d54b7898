"""Where repaired entries are written: into dataset_info.json, textually, or into the TOMLs of a project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsreg.check.fix import Fixed, fix_entry
from dsreg.check.registry_file import open_registry_file, who_is
from dsreg.entry import entry_of
from dsreg.errors import NotFoundError, RegistryError
from dsreg.files import atomic_write, project_lock, unified_diff
from dsreg.info import read_info
from dsreg.jsonedit import same_json
from dsreg.model import Dataset, validate
from dsreg.project import Root
from dsreg.registry import load_all, look_up
from dsreg.tasks import EXTRA_COLUMNS


@dataclass
class Repairs:
    """What was done to which dataset, and the change as a diff."""

    done: dict[str, list[str]] = field(default_factory=dict)
    diff: str = ""
    written: list[str] = field(default_factory=list)


WITHOUT_BOM = "the byte order mark, at which LlamaFactory stops, is gone"


def fix_folder(dataset_dir: Path, names: Iterable[str] | None, *, dry_run: bool, shown: str) -> Repairs:
    """Repair entries of a dataset_info.json; every byte that no repair touches stays.

    Raises RegistryError for a file that cannot be read, NotFoundError for a name that is no entry.
    """
    path, repairs = dataset_dir / "dataset_info.json", Repairs()
    registry = open_registry_file(path, shown)
    document = registry.document
    if document is None:
        first = registry.findings[0]
        place = f"{first.file}:{first.line}" if first.line else first.file
        raise RegistryError(f"{first.message}; nothing was repaired", where=place, hint=first.hint)
    for name in names or registry.names:
        if not isinstance(registry.entries.get(name), dict):
            message, hint = who_is(registry, name)
            raise NotFoundError(message, hint=hint)
        fixed = fix_entry(name, registry.entries[name], dataset_dir)
        if fixed.done:
            repairs.done[name] = fixed.done
            document.set_member(name, fixed.after)
    if document.has_bom:
        document.drop_bom()
        repairs.done[path.name] = [WITHOUT_BOM]
    old, new = path.read_bytes(), document.encode()
    if old != new:
        repairs.diff = unified_diff(old, new, shown)
        if not dry_run:
            atomic_write(path, new)
            repairs.written.append(shown)
    return repairs


def fix_project(root: Root, names: Iterable[str] | None, *, dry_run: bool) -> Repairs:
    """Repair the TOMLs of a project and what follows from them.

    Raises NotFoundError for a name that is not registered, ConflictError where something was changed by hand.
    """
    from dsreg.sync import set_dataset

    loaded, repairs = load_all(root), Repairs()
    for name in [look_up(root, name) for name in names] if names else sorted(loaded.datasets):
        dataset = loaded.datasets.get(name)
        if dataset is None:
            raise loaded.problems[name]
        revised = _revised(name, dataset, root)
        if revised is None:
            continue
        fixed, changed = revised
        plan = set_dataset(root, name, changed, dry_run=dry_run)
        repairs.done[name] = fixed.done
        repairs.diff += plan.diff()
        if not dry_run:
            repairs.written += [change.shown for change in plan.ordered() if change.shown not in repairs.written]
    _drop_bom(root, repairs, dry_run=dry_run)
    return repairs


def _drop_bom(root: Root, repairs: Repairs, *, dry_run: bool) -> None:
    """Take the byte order mark from a project's dataset_info.json."""
    document, shown = read_info(root), root.shown(root.info_path)
    if not document.has_bom:
        return
    old = document.encode()
    document.drop_bom()
    repairs.done[root.info_path.name] = [WITHOUT_BOM]
    repairs.diff += unified_diff(old, document.encode(), shown)
    if not dry_run:
        with project_lock(root.root):
            atomic_write(root.info_path, document.encode())
        repairs.written += [shown] if shown not in repairs.written else []


def _revised(name: str, dataset: Dataset, root: Root) -> tuple[Fixed, Dataset] | None:
    """A dataset whose entry is the repaired one; None where there is nothing to repair."""
    entry = entry_of(name, dataset)
    if entry is None or dataset.llamafactory == "copy" or dataset.format == "pretrain":
        return None
    fixed = fix_entry(name, json.loads(json.dumps(entry)), root.data_dir)
    if not fixed.done or same_json(fixed.before, fixed.after):
        return None
    values = dataset.to_toml()
    for key in [*fixed.before, *fixed.after]:
        if key not in fixed.after:
            values.pop(key, None)
            _drop_verbatim(values, key)
        elif fixed.before.get(key) != fixed.after[key] or key not in fixed.before:
            _drop_verbatim(values, key)
            values.update(_as_toml(key, fixed.after[key], dataset))
    return fixed, validate(Dataset, values, where=name)


def _drop_verbatim(values: dict[str, Any], key: str) -> None:
    verbatim = values.get("entry")
    if isinstance(verbatim, dict):
        verbatim.pop(key, None)
        if not verbatim:
            del values["entry"]


def _as_toml(key: str, value: Any, dataset: Dataset) -> dict[str, Any]:
    """A key of an entry as the TOML has it: dsreg's own columns stay, `format` says the formatting."""
    if key == "formatting":
        return {"format": value}
    if key == "columns":
        return {key: {**value, **dict(_own_columns(dataset))}}
    return {key: value}


def _own_columns(dataset: Dataset) -> Iterator[tuple[str, str]]:
    return ((key, column) for key, column in (dataset.columns or {}).items() if key in EXTRA_COLUMNS)
