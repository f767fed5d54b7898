"""The data files that a path stands for."""

from __future__ import annotations

from pathlib import Path

from dsreg.errors import DataFileError
from dsreg.rows.sniff import suffix_of

_KINDS = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "txt",
}


def data_files(path: Path) -> list[Path]:
    """A file is itself; a folder is its files, sorted by name, which must be of one kind (JSON and JSON Lines are one).

    Raises DataFileError for a folder that is empty or holds anything else, hidden files included: LlamaFactory lists a
    folder without recursion and stops with "File types should be identical."
    """
    try:
        if not path.is_dir():
            return [path]
        entries = sorted(path.iterdir(), key=lambda entry: entry.name)
    except (OSError, ValueError) as e:
        reason = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        raise DataFileError(f"cannot be read: {reason}", where=str(path)) from e
    if not entries:
        raise DataFileError("is an empty folder", where=str(path))
    files = [entry for entry in entries if _kind(entry)]
    odd = [_describe(entry) for entry in entries if not _kind(entry)]
    kinds = sorted({_kind(entry) for entry in files})
    if odd:
        hint = "move them elsewhere: LlamaFactory reads every entry of the folder and fails"
        if {"state.json", "dataset_info.json"} <= {entry.name for entry in entries}:
            hint = "this is a `save_to_disk` folder, which LlamaFactory cannot read: name one of its .arrow files"
        raise DataFileError(f"holds more than data files: {_listed(odd)}", where=str(path), hint=hint)
    if len(kinds) > 1:
        examples = [next(f.name for f in files if _kind(f) == kind) for kind in kinds]
        if {"state.json", "dataset_info.json"} <= {entry.name for entry in entries}:
            hint = "this is a `save_to_disk` folder, which LlamaFactory cannot read: name one of its .arrow files"
        else:
            hint = "one folder, one kind: move the others elsewhere"
        raise DataFileError(f"holds files of several kinds: {_listed(examples)}", where=str(path), hint=hint)
    return files


def _kind(entry: Path) -> str:
    if entry.name.startswith(".") or entry.is_dir():
        return ""
    return _KINDS.get(suffix_of(entry), "")


def _describe(entry: Path) -> str:
    return f"{entry.name}/" if entry.is_dir() else entry.name


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
