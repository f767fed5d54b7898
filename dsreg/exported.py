"""Which files exports wrote, so that the next one may overwrite them: in dsreg.lock, and in `.dsreg/` until it says so.

Files outside the project stay in `.dsreg/`: the lock is shared, and paths of one machine mean nothing on another.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from dsreg.files import atomic_write, project_lock, read_regular, state_dir
from dsreg.lock import LOCK_LIMIT, lock_bytes, read_lock, read_state, sha256_of
from dsreg.model import ExportRecord
from dsreg.project import Root, inside

_EXPORTS = "exports.json"


class Exported:
    """The exports of a project. What is written within `with` stands in the lock when the block ends, however it does.

    Killed before that, dsreg still knows the files as its own, by what `note` left in `.dsreg/`. Raises OutputError.
    """

    def __init__(self, project: Root) -> None:
        self._project = project
        self._written: dict[str, tuple[Path, str, str]] = {}

    def __enter__(self) -> Exported:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        if self._written:
            self._record()

    @cached_property
    def _records(self) -> dict[str, ExportRecord]:
        return read_lock(self._project).lock.exports

    def wrote(self, path: Path) -> bool:
        """Whether an export wrote this file, if only to be killed right then, and nobody changed it since."""
        if not path.is_file():
            return False
        key = self._key(path)
        record, noted = self._records.get(key), read_state(self._project, _EXPORTS).get(key)
        known = {noted} | ({record.sha256} if record else set())
        return known != {None} and sha256_of(path) in known

    def note(self, path: Path, content: Path | bytes) -> None:
        """Note what is about to be written: the complete temporary file, or the bytes."""
        digest = hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else sha256_of(content)
        with project_lock(self._project.root):
            self._write_noted({**read_state(self._project, _EXPORTS), self._key(path): digest})

    def add(self, path: Path, dataset: str, target: str) -> None:
        """Count a file that an export wrote."""
        self._written[self._key(path)] = (path, dataset, target)

    def of(self, name: str) -> list[str]:
        """The paths of a dataset's exports that are still there."""
        root = self._project.root
        return sorted(path for path, each in self._records.items() if each.dataset == name and (root / path).exists())

    def _record(self) -> None:
        """Say in the lock what was written."""
        with project_lock(self._project.root):
            lock, noted = read_lock(self._project).lock, read_state(self._project, _EXPORTS)
            for key, (path, dataset, target) in self._written.items():
                digest = noted.get(key) or sha256_of(path)
                if Path(key).is_absolute():
                    noted[key] = digest
                    continue
                noted.pop(key, None)
                lock.exports[key] = ExportRecord(dataset=dataset, target=target, sha256=str(digest))
            inside(self._project.root, self._project.lock_path)
            data = lock_bytes(lock)
            if lock.exports and data != read_regular(self._project.lock_path, limit=LOCK_LIMIT):
                atomic_write(self._project.lock_path, data)
            self._write_noted(noted)
        self._written.clear()

    def _key(self, path: Path) -> str:
        """How a file is called: from the project's root where it is inside, else by its absolute path."""
        return self._project.shown(Path(os.path.realpath(path.parent)) / path.name)

    def _write_noted(self, noted: dict[str, Any]) -> None:
        state_dir(self._project.root)
        path = self._project.state / _EXPORTS
        atomic_write(path, json.dumps(noted, indent=1, sort_keys=True).encode("utf-8"))
