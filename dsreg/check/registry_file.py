"""The registry file as a whole: can LlamaFactory open and parse dataset_info.json, and is it one?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsreg.check.finding import Finding, Hit, Rule, run_rules
from dsreg.check.places import InfoPlaces
from dsreg.errors import DsregError, RegistryError
from dsreg.files import read_regular
from dsreg.jsonedit import Document
from dsreg.model import closest

_LIMIT = 256 * 1024 * 1024
STOP = "LlamaFactory stops before training"
_DATASET_INFO = frozenset({"features", "splits", "builder_name", "config_name", "download_size", "dataset_size"})
_SWIFT_KEYS = frozenset({"dataset_id", "hf_dataset_id"})
_SWIFT = frozenset({"ms_dataset_id", "hf_dataset_id", "dataset_path", "subsets"})


@dataclass
class RegistryFile:
    """A dataset_info.json: its entries as far as it can be read, and what is to be said of the file."""

    path: Path
    shown: str
    document: Document | None = None
    places: InfoPlaces | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def entries(self) -> dict[str, Any]:
        """All members by name."""
        return self.document.value if self.document is not None else {}

    @property
    def names(self) -> list[str]:
        """The members that are entries."""
        return [name for name, value in self.entries.items() if isinstance(value, dict)]

    def place(self, name: str, path: tuple[str, ...]) -> tuple[str, int | None]:
        """File and line of a key of an entry."""
        return self.places.of_entry(name, path) if self.places is not None else (self.shown, None)


def open_registry_file(path: Path, shown: str) -> RegistryFile:
    """Read `path` and say what is wrong with it; a file that cannot be read has no entries and an error."""
    registry = RegistryFile(path, shown)
    try:
        data = read_regular(path, limit=_LIMIT)
        if data is None:
            raise RegistryError("there is no such file", where=shown, hint="name the folder that holds it")
    except (DsregError, OSError) as error:
        registry.findings.append(_unreadable(error, shown))
        return registry
    lookalike = _lookalike(data)
    if lookalike:
        registry.findings.append(Finding("DS171", "error", lookalike[0], shown, None, None, "", STOP, lookalike[1]))
        return registry
    try:
        registry.document = Document.parse(data, shown)
    except RegistryError as error:
        registry.findings.append(_unreadable(error, shown))
        return registry
    registry.places = InfoPlaces(data.decode("utf-8"), shown)
    registry.findings += run_rules(RULES, registry, lambda keys: registry.place(keys[0] if keys else "", keys[1:]))
    return registry


def _unreadable(error: Exception, shown: str) -> Finding:
    """The finding of an error whose place is `file:line:column`."""
    message, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
    parts = str(getattr(error, "where", "")).rsplit(":", 2)
    numbers = [int(part) for part in parts[1:] if part.isdigit()]
    if len(numbers) == 2:
        message = f"column {numbers[1]}: {message}"
    return Finding("DS101", "error", message, shown, numbers[0] if numbers else None, None, "", STOP, hint)


def _lookalike(data: bytes) -> tuple[str, str] | None:
    """What else a file of this name may be, and what to do: the files of other tools."""
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        return "this is a Git LFS pointer, not the file", "git lfs pull"
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and value and all(isinstance(v, dict) and not _SWIFT.isdisjoint(v) for v in value):
        return "this is the dataset list of ms-swift, not a registry of LlamaFactory", "name another folder"
    if not isinstance(value, dict):
        return None
    swift = [entry for entry in value.values() if isinstance(entry, dict) and not _SWIFT_KEYS.isdisjoint(entry)]
    if len(swift) > len(value) / 2:
        return "this is the dataset list of ms-swift, not a registry of LlamaFactory", "name another folder"
    infos = [value, *value.values()] if len(value) < 200 else [value]
    for info in infos:
        if isinstance(info, dict) and "features" in info and len(_DATASET_INFO & info.keys()) >= 2:
            message = "this is the DatasetInfo that Hugging Face's `datasets` writes beside saved data, not a registry"
            return message, "name the folder of the registry; this folder holds data"
    return None


def byte_order_mark(registry: RegistryFile) -> Iterator[Hit]:
    """The file begins with a byte order mark (BOM), which Python's JSON parser refuses."""
    if registry.document is not None and registry.document.has_bom:
        yield Hit("the file begins with a byte order mark", (), "save it as UTF-8 without BOM")


def repeated_names(registry: RegistryFile) -> Iterator[Hit]:
    """A name stands in dataset_info.json more than once."""
    for name in registry.document.duplicates if registry.document is not None else ():
        yield Hit(f"{short_name(name)} stands there more than once", (name,), "rename or remove one of them")


def no_entries(registry: RegistryFile) -> Iterator[Hit]:
    """Members of dataset_info.json that are no objects are no entries; people keep comments in them."""
    odd = [name for name, value in registry.entries.items() if not isinstance(value, dict)]
    if odd:
        listed = ", ".join(short_name(name) for name in odd[:5]) + (f" and {len(odd) - 5} more" if odd[5:] else "")
        many = "are no entries" if odd[1:] else "is no entry"
        yield Hit(f"{listed} {many} and left alone", (odd[0],))


def short_name(name: str) -> str:
    """A name in quotes, cut where it is long."""
    return f"{name[:60]!r}"


RULES = [
    Rule("DS172", "error", byte_order_mark, STOP, "EF BB BF 7B …", "data/parser.py:109"),
    Rule(
        "DS165",
        "warning",
        repeated_names,
        "the last one counts, the others are never read",
        '{"a": {"file_name": "old.json"}, "a": {"file_name": "new.json"}}',
        "json.load",
    ),
    Rule("DS173", "note", no_entries, "LlamaFactory cannot select them", '{"//": "paths are relative", "a": {…}}'),
]


def who_is(registry: RegistryFile, asked: str) -> tuple[str, str]:
    """Why a name is not an entry and what was probably meant: a file of an entry, a near name, or nothing."""
    last = asked.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    local = {name: raw.get("file_name") for name in registry.names if (raw := registry.entries[name])}
    for name, file in local.items():
        known = isinstance(file, str) and file.replace("\\", "/").rsplit("/", 1)[-1] == last
        if known or last.rsplit(".", 1)[0] == name != asked:
            return f"{asked!r} is no entry's name; that file is registered as {name!r}", f"use {name}"
    near = closest(asked, registry.names) or closest(asked.lower(), registry.names)
    where = f"in {registry.shown}"
    return f"no entry is called {asked!r} {where}", f"did you mean `{near}`?" if near else _some(registry.names)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return f"the names are {shown}{', …' if names[8:] else ''}" if names else ""
