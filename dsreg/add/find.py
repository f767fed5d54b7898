"""Find the data of a new dataset, and say how its entry names it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from dsreg.errors import NotFoundError, UsageError
from dsreg.project import INFO_FILE, Root
from dsreg.rows import CONTAINERS

_SUFFIXES = frozenset(f".{kind}" for kind in (*CONTAINERS, "ndjson"))
_PACKED = ("", ".gz", ".zst", ".zstd")


def find_source(project: Root, name: str, source: str | None) -> Path:
    """The file or folder that was named, or the one in the data folder that is called as the dataset is.

    Raises NotFoundError when there is none, UsageError when there are several.
    """
    if source is not None:
        return _named(project, source)
    found = candidates(project, name)
    shown = [project.shown(path) for path in found]
    if len(found) > 1:
        hint = f"name one: {shlex.join(['dsreg', 'add', name, shown[0]])}"
        raise UsageError(f"{len(found)} files could be meant: {', '.join(shown)}", hint=hint)
    if not found:
        raise NotFoundError(
            f"there is no {project.shown(project.data_dir)}/{name}.*",
            hint=f"name the file: dsreg add {shlex.quote(name)} FILE; or --hf-hub-url REPO for a dataset on a hub",
        )
    return found[0]


def _named(project: Root, source: str) -> Path:
    """The path as it was given, or as LlamaFactory would take it, below the data folder."""
    paths = [Path(source), project.data_dir / source]
    try:
        for path in paths:
            if path.exists():
                _refuse_own(project, path)
                return path
    except (OSError, ValueError) as error:  # a name that no file can have
        raise UsageError(f"cannot be a file: {error}", where=source) from None
    hint = "is it a dataset on Hugging Face? then --hf-hub-url" if source.count("/") == 1 else "check the path"
    if "://" in source:
        hint = "a file in a cloud goes with --cloud-file-name, a dataset on a hub with --hf-hub-url"
    raise NotFoundError("there is no such file or folder", where=source, hint=hint)


def _refuse_own(project: Root, path: Path) -> None:
    """Refuse what a project is made of; raises UsageError."""
    real = Path(os.path.realpath(path))
    own = (project.root, project.data_dir, project.registry_dir, project.info_path, project.lock_path)
    if str(real) in map(os.path.realpath, own) or real.is_relative_to(os.path.realpath(project.registry_dir)):
        what = "a folder" if path.is_dir() else "a file"
        raise UsageError(
            f"is {what} of the project, not a dataset", where=str(path), hint="name a data file, or a folder of its own"
        )


def candidates(project: Root, name: str) -> list[Path]:
    """What in the data folder is called NAME with a data file's suffix, or is a folder of that name."""
    if not project.data_dir.is_dir():
        return []
    return sorted(
        path
        for path in project.data_dir.iterdir()
        if path.name != INFO_FILE and path.name.startswith(name) and _fits(path, path.name[len(name) :].lower())
    )


def _fits(path: Path, rest: str) -> bool:
    if not rest:
        return path.is_dir()
    return any(rest.removesuffix(packed) in _SUFFIXES for packed in _PACKED if rest.endswith(packed))


def file_name_of(project: Root, path: Path) -> tuple[str, list[str]]:
    """How an entry names a path: relative to the data folder, with forward slashes; and what speaks against it.

    A path outside of the project stays absolute, which other machines may not have.
    """
    real = Path(os.path.normpath(Path.cwd() / path))
    resolved = path.resolve()
    for found in (real, resolved):
        if found.is_relative_to(project.data_dir):
            return found.relative_to(project.data_dir).as_posix(), []
    for found in (real, resolved):
        if found.is_relative_to(project.root):
            return Path(os.path.relpath(found, project.data_dir)).as_posix(), []
    warning = (
        f"{real} lies outside of the project, so its absolute path is registered; "
        f"a copy in {project.shown(project.data_dir)}/ would be found on every machine"
    )
    return real.as_posix(), [warning]
