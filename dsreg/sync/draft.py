"""A plan in the making, and the changes of TOML files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dsreg.files import read_regular
from dsreg.jsonedit import Document
from dsreg.lock import Digests, LockState
from dsreg.model import Dataset
from dsreg.project import TOML_LIMIT, Root, inside
from dsreg.registry import check_free, find_toml, new_toml
from dsreg.sync.plan import Accept, Change, Plan, Stage
from dsreg.tomledit import edited

ABSENT: Any = object()
"""Stands for a member that dataset_info.json does not have; null is a value."""


@dataclass(slots=True)
class Wish:
    """What a command makes of the registry: datasets by name (None goes away), what they were, files to write."""

    datasets: dict[str, Dataset | None] = field(default_factory=dict)
    before: dict[str, Dataset] = field(default_factory=dict)
    tomls: list[Change] = field(default_factory=list)
    renamed: tuple[str, str] | None = None


@dataclass(slots=True)
class Draft:
    """A plan in the making: what was read, and how the parts will look."""

    plan: Plan
    state: LockState
    info: Document
    info_data: bytes | None
    entries_before: dict[str, Any]
    digests: Digests
    accept: Accept | None
    force: bool
    code: Callable[[], str]
    """A fingerprint of the code that generated files are made by, taken once."""
    unmade: set[str] = field(default_factory=set)
    """Generated files that a problem kept from being made."""

    @property
    def project(self) -> Root:
        """The project that is planned for."""
        return self.plan.project


def toml_change(project: Root, name: str, dataset: Dataset | None) -> Change | None:
    """The change that makes a dataset's TOML say this, or deletes it; None when it says so already.

    Raises UsageError for a name that no new file can have, RegistryError for a file that cannot be edited, OutputError
    for one that leads outside the project.
    """
    path = find_toml(project, name)
    old = None if path is None else read_regular(path, limit=TOML_LIMIT)
    if path is None or old is None:
        path = check_free(project, name)
        new = None if dataset is None else new_toml(dataset)
    elif dataset is None:
        new = None
        inside(project.root, path.parent)  # a link in the registry is deleted itself, not what it points to
    else:
        new = edited(old, dataset.to_toml(), project.shown(path))
    if new == old:
        return None
    if new is not None:
        inside(project.root, path)
    return Change(path, project.shown(path), old, new, Stage.REGISTRY)
