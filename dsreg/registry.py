"""registry/*.toml: load, add, edit, rename, remove, look up.

What changes a file comes as bytes: `sync` writes them together with what follows from them.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from dsreg.errors import NotFoundError, RegistryError, UsageError
from dsreg.files import atomic_write, delete, move
from dsreg.formats import all_formats
from dsreg.model import (
    COPY_KEYS,
    TARGET_KEYS,
    Dataset,
    Notice,
    Settings,
    closest,
    unknown_key,
    unknown_keys,
    validate,
)
from dsreg.names import check_name, name_of, same_file, stem_of, unfit_name
from dsreg.project import SETTINGS_FILE, Root, inside, read_toml

__all__ = ["Loaded", "add", "edit", "find_toml", "load", "load_all", "look_up", "names", "remove", "rename", "stem_of"]


@dataclass(slots=True)
class Loaded:
    """The whole registry: what could be read, what could not, and what is worth a word."""

    datasets: dict[str, Dataset] = field(default_factory=dict)
    problems: dict[str, RegistryError] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)


def toml_paths(project: Root) -> tuple[dict[str, Path], dict[str, RegistryError]]:
    """The TOML file of each dataset by name, sorted; and the names that two files claim."""
    found: dict[str, Path] = {}
    clashes: dict[str, RegistryError] = {}
    try:
        files = sorted(os.listdir(project.registry_dir))  # noqa: PTH208 - a tenth of the time, with many
    except FileNotFoundError:
        files = []
    except OSError as error:
        raise RegistryError(f"cannot be read: {error.strerror}", where=str(project.registry_dir)) from None
    for file in files:
        if file.startswith(".") or not file.endswith(".toml"):
            continue
        path = project.registry_dir / file
        name = name_of(path.stem)
        if name in found:
            clashes[name] = RegistryError(
                f"two files are called {name!r}: {found[name].name} and {path.name}",
                where=project.shown(path),
                hint="delete one of them",
            )
            continue
        found[name] = path
    return found, clashes


def names(project: Root) -> list[str]:
    """The names of all registered datasets, broken ones included, sorted."""
    return sorted(toml_paths(project)[0])


def find_toml(project: Root, name: str) -> Path | None:
    """The TOML file of a dataset; None when it has none."""
    if not unfit_name(name):
        path = project.registry_dir / f"{stem_of(name)}.toml"
        if path.is_file():
            return path
    return toml_paths(project)[0].get(name)


def load_all(project: Root) -> Loaded:
    """Read every TOML of the registry; a broken one hides no other."""
    loaded = Loaded(notices=unknown_settings(project))
    paths, loaded.problems = toml_paths(project)
    for name, path in paths.items():
        if name in loaded.problems:
            continue
        try:
            loaded.datasets[name], notices = read(project, path)
        except RegistryError as error:
            loaded.problems[name] = error
        else:
            loaded.notices += notices
    return loaded


def read(project: Root, path: Path) -> tuple[Dataset, list[Notice]]:
    """Read one TOML file. Raises RegistryError with file and line."""
    where = project.shown(path)
    values, text = read_toml(path, where)
    dataset = validate(Dataset, values, where=where, text=text)
    notices = unknown_keys(dataset, where, text)
    return dataset, notices + unknown_options(project, dataset.target or {}, where, text, copies=True)


def unknown_settings(project: Root) -> list[Notice]:
    """A notice for each key of dsreg.toml that nobody reads."""
    settings = project.settings
    if not (settings.model_extra or settings.check.model_extra or settings.target):
        return []
    where = SETTINGS_FILE
    _, text = read_toml(project.root / SETTINGS_FILE, where)
    known = list(Settings.model_fields)
    notices = [unknown_key((key,), key, known, where, text) for key in settings.model_extra or {}]
    notices += [unknown_key(("check", key), key, ["ignore"], where, text) for key in settings.check.model_extra or {}]
    return notices + unknown_options(project, settings.target, where, text, copies=False)


def unknown_options(
    project: Root, tables: dict[str, dict[str, Any]], where: str, text: str, *, copies: bool
) -> list[Notice]:
    """A notice for each table `[target.<id>]` of no format, and for each option in one that its format does not have.

    `copies` says whether there may be a table about LlamaFactory's copy.
    """
    if not tables:
        return []
    try:
        formats = all_formats(project.root)
    except RegistryError:
        return []  # whoever needs the format that is broken says so
    notices = []
    for id, table in tables.items():
        if id == "llamafactory" and copies:
            known: tuple[str, ...] = COPY_KEYS
        elif id in formats:
            known = (*TARGET_KEYS, *formats[id].manifest.options)
        else:
            ids = ["llamafactory", *formats] if copies else formats
            notices.append(unknown_key(("target", id), id, ids, where, text))
            continue
        unknown = [key for key in table if key not in known]
        notices += [unknown_key(("target", id, key), key, known, where, text) for key in unknown]
    return notices


def load(project: Root, name: str) -> Dataset:
    """Read one dataset by its exact name. Raises NotFoundError or RegistryError."""
    path = find_toml(project, name)
    if path is None:
        look_up(project, name)
        raise NotFoundError(f"no dataset {name!r}")
    return read(project, path)[0]


def look_up(project: Root, asked: str) -> str:
    """Return the registered name that `asked` is.

    Raises NotFoundError that offers the nearest name, or says under which name a file asked for is registered.
    """
    known = toml_paths(project)[0]
    if asked in known:
        return asked
    by_file = _registered_as(project, asked)
    if by_file is not None:
        raise NotFoundError(
            f"{asked!r} is no dataset's name; that file is registered as {by_file!r}", hint=f"use {by_file}"
        )
    unmanaged = asked in _info_names(project)
    if unmanaged:
        raise NotFoundError(
            f"{asked!r} stands in {project.shown(project.info_path)} but not in the registry",
            hint=f"dsreg add --adopt {asked}",
        )
    meant = closest(asked, known) or closest(asked.lower(), [name.lower() for name in known])
    meant = next((name for name in known if meant and name.lower() == meant.lower()), meant)
    hint = f"did you mean `{meant}`?" if meant else "`dsreg list` shows what is registered"
    raise NotFoundError(f"no dataset {asked!r} in the registry", hint=hint)


def _registered_as(project: Root, asked: str) -> str | None:
    """The dataset whose file this path or file name is: the same file first, then one of the same name."""
    if not re.search(r"[/\\.]", asked):
        return None
    datasets = load_all(project).datasets
    local = {name: PurePosixPath(found.file_name) for name, found in datasets.items() if found.file_name}
    wanted = PurePosixPath(asked.replace("\\", "/"))
    for name, path in local.items():
        if wanted in (path, PurePosixPath(project.shown(project.data_dir)) / path, project.data_dir / path):
            return name
    for name, path in local.items():
        if wanted.name == path.name:
            return name
    return wanted.stem if wanted.stem in datasets and wanted.suffix in (".json", ".jsonl", ".toml", ".csv") else None


def _info_names(project: Root) -> list[str]:
    """The names in dataset_info.json; none while it cannot be read."""
    from dsreg.info import read_info

    try:
        return read_info(project).names
    except RegistryError:
        return []


def check_free(project: Root, name: str, *, leaving: str | None = None) -> Path:
    """Where the TOML of a new dataset goes. Raises UsageError when the name is taken, whatever its letters' case.

    `leaving` is the name that makes place, in a rename.
    """
    reason = unfit_name(name)
    if reason:
        raise UsageError(f"{name!r} cannot be a dataset's name: {reason}")
    path = project.registry_dir / f"{stem_of(name)}.toml"
    stem = same_file(path.stem)
    for other, taken in toml_paths(project)[0].items():
        if other == leaving or same_file(taken.stem) != stem:
            continue
        if other == name:
            raise UsageError(f"{name!r} is registered already", hint=f"dsreg set {name} …, or choose another name")
        raise UsageError(
            f"{name!r} and {other!r} differ only in upper and lower case, or in how accents are stored: "
            "one file on many systems",
            hint="choose another name",
        )
    inside(project.root, path)
    return path


def new_toml(dataset: Dataset) -> bytes:
    """The content of a new TOML file."""
    import tomli_w

    try:
        return tomli_w.dumps(dataset.to_toml()).encode("utf-8")
    except (TypeError, ValueError, UnicodeError) as error:
        raise RegistryError(f"TOML cannot hold this: {error}") from None


def add(project: Root, name: str, dataset: Dataset) -> Path:
    """Write a new dataset's TOML and return its path. Raises UsageError for a name that is taken or cannot be used."""
    check_name(name)
    path = check_free(project, name)
    atomic_write(path, new_toml(dataset))
    return path


def edit(project: Root, name: str, dataset: Dataset) -> Path:
    """Make a TOML say this, comments and order kept, and return its path. Raises NotFoundError or RegistryError."""
    from dsreg.tomledit import edited

    path = find_toml(project, look_up(project, name))
    if path is None:
        raise NotFoundError(f"no dataset {name!r}")
    inside(project.root, path)
    atomic_write(path, edited(path.read_bytes(), dataset.to_toml(), project.shown(path)))
    return path


def rename(project: Root, old: str, new: str) -> Path:
    """Give a TOML another name, its content untouched, and return its path."""
    path = find_toml(project, look_up(project, old))
    check_name(new)
    target = check_free(project, new, leaving=old)
    if path is None:
        raise NotFoundError(f"no dataset {old!r}")
    move(path, target)
    return target


def remove(project: Root, name: str) -> Path:
    """Delete a dataset's TOML and return where it was."""
    path = find_toml(project, look_up(project, name))
    if path is None:
        raise NotFoundError(f"no dataset {name!r}")
    inside(project.root, path.parent)
    delete(path)
    return path
