"""dsreg.lock: what dsreg wrote last; and in `.dsreg/`, what it is about to write and what it has hashed.

The lock is JSON with one dataset a line, sorted, so that two branches merge where they touch different datasets. Where
git left merge markers or broke the commas, every line that can be read counts, on both sides.
"""

from __future__ import annotations

import hashlib
import json
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsreg.errors import RegistryError
from dsreg.files import atomic_write, delete, read_regular, state_dir
from dsreg.jsonedit import canonical
from dsreg.model import DatasetRecord, ExportRecord, Lock, Notice
from dsreg.project import INFO_FILE, LOCK_FILE, Root

LOCK_LIMIT = 256 * 1024 * 1024
_PENDING = "pending.json"
_CACHE = "cache.json"
_RACY_NS = 2_000_000_000  # a file as young as this can change again within the same time stamp
_BLOCK = 1 << 20


@dataclass(slots=True)
class Known:
    """What dsreg itself may have left on the disk: entries by dataset and contents by path, as text and sha256.

    It has the lock's, those of a lock's other side in a merge, and those that a killed command was about to write.
    """

    entries: dict[str, set[str]] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)

    def add_entry(self, name: str, entry: dict[str, Any] | None) -> None:
        """Count an entry as dsreg's own."""
        if entry is not None:
            self.entries.setdefault(name, set()).add(canonical(entry))

    def has_entry(self, name: str, entry: Any) -> bool:
        """Whether dsreg wrote this entry."""
        return canonical(entry) in self.entries.get(name, ())

    def has_file(self, path: str, digest: str | None) -> bool:
        """Whether dsreg wrote this content."""
        return digest in self.files.get(path, ())

    def add_file(self, path: str, digest: str) -> None:
        """Count a content as dsreg's own."""
        self.files.setdefault(path, set()).add(digest)

    def add(self, other: Known) -> None:
        """Count everything that another holds."""
        for name, entries in other.entries.items():
            self.entries.setdefault(name, set()).update(entries)
        for path, digests in other.files.items():
            self.files.setdefault(path, set()).update(digests)

    def add_record(self, name: str, record: DatasetRecord) -> None:
        """Count everything in a dataset's record as dsreg's own."""
        self.add_entry(name, record.entry)
        for path, digest in record.files.items():
            self.add_file(path, digest)


@dataclass(slots=True)
class LockState:
    """The lock as read, what it and the unfinished work make known, where that was asked for, and what to say of it."""

    lock: Lock
    known: Known
    pending: Known
    data: bytes | None
    notices: list[Notice] = field(default_factory=list)


def read_lock(project: Root) -> LockState:
    """Read dsreg.lock; an empty one when there is none. Raises RegistryError when it is from a newer dsreg."""
    data = read_regular(project.lock_path, limit=LOCK_LIMIT)
    state = LockState(Lock(), Known(), Known(), data)
    if data is not None:
        _fill(state, data.decode("utf-8", "replace"))
    return state


def read_known(project: Root) -> LockState:
    """Read dsreg.lock, with all that it and unfinished work make known. Raises what `read_lock` does."""
    state = read_lock(project)
    for name, record in state.lock.datasets.items():
        state.known.add_record(name, record)
    state.pending = _read_pending(project)
    state.known.add(state.pending)
    return state


def _read_pending(project: Root) -> Known:
    """What a killed command was about to write."""
    pending, values = Known(), read_state(project, _PENDING)
    for kind, known in (("entries", pending.entries), ("files", pending.files)):
        members = values.get(kind)
        for key, found in members.items() if isinstance(members, dict) else ():
            if isinstance(found, list):
                known[key] = {value for value in found if isinstance(value, str)}
    return pending


def _fill(state: LockState, text: str) -> None:
    """Take a lock's text in, whole or, where it does not parse, line by line."""
    try:
        values = json.loads(text)
        if isinstance(values, dict) and isinstance(values.get("version"), int) and values["version"] > 1:
            raise RegistryError("written by a newer dsreg", where=LOCK_FILE, hint="upgrade dsreg")
        state.lock = Lock.model_validate(values)
    except (ValueError, RecursionError):  # pydantic's ValidationError is a ValueError
        state.lock = Lock()
        state.notices.append(
            Notice(
                "DS161", "cannot be read as a whole; every readable line counts, of both sides of a merge", LOCK_FILE
            )
        )
        for key, value in _readable_lines(text):
            _salvage(state, key, value)


def _readable_lines(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The members that stand on a line of their own."""
    for line in text.splitlines():
        with suppress(ValueError, RecursionError):
            values = json.loads("{" + line.strip().removesuffix(",") + "}")
            yield from ((key, value) for key, value in values.items() if isinstance(value, dict) and value)


def _salvage(state: LockState, key: str, value: dict[str, Any]) -> None:
    with suppress(ValueError):
        if "target" in value:
            state.lock.exports[key] = ExportRecord.model_validate(value)
            return
        record = DatasetRecord.model_validate(value)
        state.known.add_record(key, record)
        state.lock.datasets[key] = record


def lock_bytes(lock: Lock) -> bytes:
    """The lock's file: sorted, one dataset or export a line."""
    sections = [
        ("datasets", {name: record.model_dump(exclude_none=True) for name, record in lock.datasets.items()}),
        ("exports", {path: record.model_dump() for path, record in lock.exports.items()}),
    ]
    texts = [f'  "{title}": {_section(members)}' for title, members in sections]
    return ('{\n  "version": 1,\n' + ",\n".join(texts) + "\n}\n").encode("utf-8")


def _section(members: dict[str, dict[str, Any]]) -> str:
    lines = [f"    {json.dumps(key)}: {json.dumps(members[key], sort_keys=True)}" for key in sorted(members)]
    return "{\n" + ",\n".join(lines) + "\n  }" if lines else "{}"


def write_pending(project: Root, known: Known) -> None:
    """Record, before the first write, what the disk may hold until the lock says it. Nothing to record: remove it."""
    path = project.state / _PENDING
    if not known.entries and not known.files:
        if path.exists():
            delete(path)
        return
    state_dir(project.root)
    values = {
        "entries": {name: sorted(found) for name, found in sorted(known.entries.items())},
        "files": {name: sorted(found) for name, found in sorted(known.files.items())},
    }
    atomic_write(path, json.dumps(values, indent=1).encode("utf-8"))


def read_state(project: Root, name: str) -> dict[str, Any]:
    """A file of `.dsreg/`; {} when it is absent or damaged, for it holds nothing that cannot be had again."""
    with suppress(OSError, ValueError, RecursionError, RegistryError):
        data = read_regular(project.state / name, limit=LOCK_LIMIT)
        values = json.loads(data) if data is not None else {}
        if isinstance(values, dict):
            return values
    return {}


class Digests:
    """Hashes of files, remembered in `.dsreg/cache.json` while size, times and inode stay the same."""

    def __init__(self, project: Root) -> None:
        self._project = project
        values = read_state(project, _CACHE)
        files, keys = values.get("files"), values.get("keys")
        self._files: dict[str, Any] = files if isinstance(files, dict) else {}
        self.keys: dict[str, str] = dict(keys) if isinstance(keys, dict) else {}
        self._changed = False

    def of(self, path: Path) -> tuple[str, int] | None:
        """The sha256 and size of a regular file; None when there is none. Raises RegistryError if it cannot be read."""
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                return None
            stamp = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
            name = self._project.shown(path)
            cached = self._files.get(name)
            if isinstance(cached, dict) and cached.get("stamp") == stamp and isinstance(cached.get("sha256"), str):
                return cached["sha256"], found.st_size
            digest = sha256_of(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RegistryError(f"cannot be read: {error}", where=str(path)) from None
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        if newest + _RACY_NS < time.time_ns():
            self._files[name] = {"stamp": stamp, "sha256": digest}
            self._changed = True
        return digest, found.st_size

    def of_data(self, path: Path) -> tuple[str, int] | None:
        """The digest of a data file, or of a folder's files as LlamaFactory takes them; None when it is neither."""
        if not path.is_dir():
            return self.of(path)
        total, lines = 0, []
        for file in path.iterdir():  # not what lies deeper: LlamaFactory lists one level
            found = None if file.name in (INFO_FILE, LOCK_FILE) or file.name.startswith(".") else self.of(file)
            if found is not None:
                lines.append(f"{found[0]}  {file.name}\n")
                total += found[1]
        text = "".join(sorted(lines)).encode("utf-8", "surrogateescape")
        return hashlib.sha256(text).hexdigest(), total

    def set_key(self, path: str, key: str) -> None:
        """Remember from what a generated file was made."""
        if self.keys.get(path) != key:
            self.keys[path] = key
            self._changed = True

    def save(self) -> None:
        """Write the cache, if there is anything new. It is only a help: failing to is no error."""
        if self._changed:
            with suppress(Exception):
                state_dir(self._project.root)
                text = json.dumps({"files": self._files, "keys": self.keys}, sort_keys=True)
                atomic_write(self._project.state / _CACHE, text.encode("utf-8"))
            self._changed = False


def sha256_of(path: Path) -> str:
    """The sha256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
