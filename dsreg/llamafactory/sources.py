"""Which files an entry reads, by split (data/loader.py:59-89; for script_url the data-only folders of `datasets`)."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .outcome import Fatal, Note, Stop
from .resolve import Entry

KINDS = {"arrow": "arrow", "csv": "csv", "json": "json", "jsonl": "json", "parquet": "parquet", "txt": "text"}

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".txt": "text",
    ".parquet": "parquet",
    ".geoparquet": "parquet",
    ".gpq": "parquet",
    ".arrow": "arrow",
}
_NEVER_DATA = (
    "README.md",
    "config.json",
    "dataset_info.json",
    "dataset_infos.json",
    "dummy_data.zip",
    "dataset_dict.json",
)
_SPLIT_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_SHARD = re.compile(r"data/(.+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*")


@dataclass
class Source:
    """The kind of files an entry reads and the files of each split, in reading order."""

    kind: str
    splits: dict[str, list[Path]]
    notes: list[Note] = field(default_factory=list)


def find_source(entry: Entry, dataset_dir: Path) -> Source:
    """The files that a `file_name` or `script_url` entry reads; raises Stop("load") as loading would stop."""
    if entry.load_from == "script":
        return _folder_by_split(Path(os.path.join(dataset_dir, entry.dataset_name)), entry)  # noqa: PTH118
    place = os.path.join(dataset_dir, entry.dataset_name)  # noqa: PTH118 - an empty name means the folder itself
    notes: list[Note] = []
    if os.path.isdir(place):  # noqa: PTH112
        names = os.listdir(place)  # noqa: PTH208 - the file system's order is the reading order
        files = [os.path.join(place, name) for name in names]  # noqa: PTH118
        if len(files) > 1:
            notes.append(Note("order_of_folder", f"{len(files)} files are read in the order of the file system"))
    elif os.path.isfile(place):  # noqa: PTH113
        files = [place]
    else:
        raise stop("file_not_found", f"File {place} not found.", "file_name")
    if not files:
        raise stop("folder_empty", f"IndexError: list index out of range: the folder {place} is empty", "file_name")
    kinds = [KINDS.get(os.path.splitext(file)[-1][1:]) for file in files]  # noqa: PTH122 - `.json` has no suffix there
    if kinds[0] is None:
        raise stop("file_type", "Allowed file types: arrow,csv,json,jsonl,parquet,txt.", "file_name", files[0])
    odd = next((file for file, kind in zip(files, kinds, strict=True) if kind != kinds[0]), None)
    if odd is not None:
        raise stop("folder_mixed", "File types should be identical.", "file_name", odd)
    return Source(kinds[0], {"train": [found for file in files for found in _resolve(file)]}, notes)


def _resolve(file: str) -> list[Path]:
    """`datasets` takes the path for a pattern or an address: brackets and stars match other files, or none."""
    if "::" in file or "://" in file:
        raise stop("file_not_found", f"'{file}' is taken for an address of another file system", "file_name", file)
    if not glob.has_magic(file):
        return [Path(file)]
    asked = os.path.basename(file)  # noqa: PTH119
    found = [Path(path) for path in sorted(glob.glob(file, recursive=True)) if os.path.isfile(path)]  # noqa: PTH113, PTH207
    found = [path for path in found if path.name not in _NEVER_DATA or path.name == asked]
    if not found:
        raise stop("file_not_found", f"Unable to find '{file}': the name is taken for a pattern", "file_name", file)
    return found


def _folder_by_split(folder: Path, entry: Entry) -> Source:
    name = folder.name if folder.name.endswith(".py") else folder.name + ".py"
    if folder.name.endswith(".py") or (folder / name).is_file():
        raise stop("script_forbidden", f"Dataset scripts are no longer supported, but found {name}", "script_url")
    if not folder.is_dir():
        raise stop("file_not_found", f"Couldn't find any data file at {folder}.", "script_url")
    if entry.folder and not isinstance(entry.folder, str):
        raise stop("file_not_found", f"TypeError: `folder` is {entry.folder!r}, not text", "folder")
    if entry.folder and Path(entry.folder).is_absolute():
        raise stop("file_not_found", "`data_dir` must be relative to a dataset directory's root", "folder")
    if _has_configs(folder):
        notes = [Note("folder_configs", "README.md sets configs, which are not read here", "script_url")]
        return Source("json", {}, notes)
    if entry.subset and entry.subset != "default":
        message = f"BuilderConfig '{entry.subset}' not found. Available: ['default']"
        raise stop("config_unknown", message, "subset")
    base = folder / (entry.folder or "")
    splits = split_files(base, _data_files(base))
    kinds = {split: _common_kind(files) for split, files in splits.items()}
    kind = next(iter(kinds.values()), None)
    if kind is None or set(kinds.values()) != {kind}:
        raise stop("file_type", f"No (supported) data files, or files of several kinds, in {base}", "script_url")
    wanted = {suffix for suffix, of in _SUFFIXES.items() if of.replace("tsv", "csv") == kind.replace("tsv", "csv")}
    return Source(kind, {split: [f for f in files if _has(f, wanted)] for split, files in splits.items()})


def _has_configs(folder: Path) -> bool:
    """Whether the folder's README.md has front matter with `configs:`, which then names the files."""
    readme = folder / "README.md"
    if not readme.is_file():
        return False
    text = readme.read_text(encoding="utf-8", errors="replace")
    head = text.split("---", 2)
    return len(head) == 3 and not head[0].strip() and re.search(r"(?m)^configs:", head[1]) is not None


def _has(file: Path, suffixes: Iterable[str]) -> bool:
    return any(f".{part}" in suffixes for part in file.name.split(".")[1:])


def _data_files(base: Path) -> list[Path]:
    """Every file below `base` but hidden ones, `__special__` folders and files that are never data, sorted."""
    found = []
    for folder, inner, names in os.walk(base, followlinks=True):
        inner[:] = [name for name in inner if not name.startswith((".", "__"))]
        found += [Path(folder) / name for name in names if not name.startswith(".") and name not in _NEVER_DATA]
    return sorted(found)


def split_files(base: Path, files: list[Path]) -> dict[str, list[Path]]:
    """The files by split: from shard names, else folder names, else file names, else all of them `train`."""
    shards: dict[str, list[Path]] = {}
    for file in files:
        if found := _SHARD.fullmatch(file.relative_to(base).as_posix()):
            shards.setdefault(found.group(1), []).append(file)
    if shards:
        known = [split for split in _SPLIT_WORDS if split in shards]
        return {split: shards[split] for split in [*known, *sorted(set(shards) - set(known))]}
    for of_folders in (True, False):
        by_split = {
            split: chosen
            for split, words in _SPLIT_WORDS.items()
            if (chosen := [f for pattern in _patterns(words, of_folders) for f in files if _fits(pattern, base, f)])
        }
        if by_split:
            return by_split
    return {"train": files} if files else {}


def _patterns(words: Iterable[str], of_folders: bool) -> list[tuple[re.Pattern[str], bool]]:
    """The name patterns of a split in their order; a file that fits two of them is read twice."""
    sep = "[-._ 0-9]"
    shapes = ("{w}", "{w}{s}.*", ".*{s}{w}", ".*{s}{w}{s}.*") if of_folders else ("{w}{s}.*", ".*{s}{w}{s}.*")
    return [(re.compile(shape.format(w=word, s=sep)), of_folders) for word in words for shape in shapes]


def _fits(pattern: tuple[re.Pattern[str], bool], base: Path, file: Path) -> bool:
    names = file.relative_to(base).parts[:-1] if pattern[1] else (file.name,)
    return any(map(pattern[0].fullmatch, names))


def _common_kind(files: list[Path]) -> str | None:
    """The kind of the most frequent suffix, as `datasets` infers the builder."""
    counts = Counter(f".{part.lower()}" for file in files for part in file.name.split(".")[1:])
    prefer = (".parquet", ".jsonl", ".json", ".csv")
    ranked = sorted(counts, key=lambda s: (counts[s], *(s == favourite for favourite in prefer), s), reverse=True)
    return next((_SUFFIXES[suffix] for suffix in ranked if suffix in _SUFFIXES), None)


def stop(reason: str, message: str, path: str = "", file: str | Path = "") -> Stop:
    """A Stop while loading."""
    return Stop(Fatal("load", message, reason, path, str(file)))
