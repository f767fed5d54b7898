"""What is to be written, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Literal

from dsreg.errors import ConflictError, DsregError
from dsreg.files import unified_diff
from dsreg.lock import Digests, Known
from dsreg.model import Notice
from dsreg.project import Root
from dsreg.uses import Use

Accept = Literal["registry", "dataset_info"]


class Stage(IntEnum):
    """The order of writes: what others are made from first, the lock last.

    Generated files come before the entries that point to them, and go after the entries are gone.
    """

    REGISTRY = 0
    GENERATED = 1
    INFO = 2
    OBSOLETE = 3
    LOCK = 4


@dataclass(frozen=True, slots=True)
class Change:
    """One file that will be written, or deleted when `new` is None; `moved_from` is the file that it was."""

    path: Path
    shown: str
    old: bytes | None
    new: bytes | None
    stage: Stage
    moved_from: Path | None = None

    @property
    def verb(self) -> str:
        """What happens to the file, in a word."""
        if self.moved_from is not None:
            return "rename"
        return "delete" if self.new is None else "create" if self.old is None else "update"

    def diff(self) -> str:
        """A unified diff of the file."""
        return "" if self.moved_from is not None else unified_diff(self.old, self.new, self.shown)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something of dsreg's that a person changed. The diff goes from what stands there to what the registry says."""

    kind: Literal["entry", "file"]
    dataset: str
    where: str
    message: str
    diff: str
    ways: tuple[str, ...]


@dataclass(slots=True)
class Plan:
    """Everything a command will do. Nothing is written while there are conflicts."""

    project: Root
    changes: list[Change] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    problems: list[DsregError] = field(default_factory=list)
    unmanaged: dict[str, str] = field(default_factory=dict)
    """Members of dataset_info.json that could not be adopted, with the reason."""
    names: list[str] = field(default_factory=list)
    """The datasets that a command added, changed or removed."""
    uses: list[Use] = field(default_factory=list)
    """Config files that name a dataset that goes away."""
    kept: list[str] = field(default_factory=list)
    """Data and exports that stay behind."""
    folders: list[Path] = field(default_factory=list)
    """Folders to make."""
    generated: set[str] = field(default_factory=set)
    """The paths of all generated files that dsreg knows of."""
    intent: Known = field(default_factory=Known)
    unfinished: Known = field(default_factory=Known)
    digests: Digests | None = None

    @property
    def drift(self) -> bool:
        """Whether something is not as the registry says: what `sync --check` answers."""
        return bool(self.changes or self.conflicts or self.problems)

    def diff(self) -> str:
        """All changes as one unified diff, the lock's left out: it follows from the others."""
        return "".join(change.diff() for change in self.ordered() if change.stage != Stage.LOCK)

    def ordered(self) -> list[Change]:
        """The changes in the order of their writing."""
        return sorted(self.changes, key=lambda change: change.stage)

    def refuse_conflicts(self) -> None:
        """Raise ConflictError when there are conflicts, showing each as a diff with the ways out."""
        if not self.conflicts:
            return
        texts = [f"{conflict.where}: {conflict.message}\n{conflict.diff}" for conflict in self.conflicts]
        ways = list(dict.fromkeys(way for conflict in self.conflicts for way in conflict.ways))
        raise ConflictError("changed by hand; nothing was written\n" + "\n".join(texts), hint=", or ".join(ways))
