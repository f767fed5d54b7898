"""The project that a command works in: `-C`, the environment, or the folder around."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dsreg.cli import output

if TYPE_CHECKING:
    from dsreg.api import Project
    from dsreg.project import Root


class _Chosen:
    folder: str | None = None
    named: frozenset[Path] = frozenset()


def choose_folder(folder: str | None) -> None:
    """Work in the project at this folder: -C."""
    _Chosen.folder = folder
    _Chosen.named = frozenset()


def chosen_folder() -> str | None:
    """The folder given with -C."""
    return _Chosen.folder


def here() -> Root:
    """The project to work in; raises NotFoundError when there is none."""
    from dsreg.formats import OwnCode
    from dsreg.project import find_root, open_project

    OwnCode.runs = _name_own_code
    return open_project(find_root(explicit=_Chosen.folder))


def _name_own_code(folder: Path) -> None:
    """Say once in a command whose code runs, where it is not dsreg's."""
    if folder not in _Chosen.named:
        _Chosen.named |= {folder}
        output.note("the code of this format runs: it belongs to the project", where=output.path(folder))


def project() -> Project:
    """The project to work in, as the Python API has it."""
    from dsreg.api import Project

    return Project(here())


def here_if_any() -> Root | None:
    """The project to work in, or None outside of one, for commands that do not need it."""
    from dsreg.errors import NotFoundError

    try:
        return here()
    except NotFoundError:
        if _Chosen.folder is not None:
            raise
        return None
