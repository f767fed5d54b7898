"""Whether LlamaFactory reads a file as it is: it goes by the suffix, whatever the content."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dsreg.llamafactory.sources import KINDS
from dsreg.rows import sniff

_HOLDS = {"json": ("json", "jsonl"), "text": ("txt",)}
_WORDS = {"json": "JSON", "jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV", "txt": "text"}


def unread_reason(files: Iterable[Path]) -> str:
    """Why LlamaFactory cannot read files and needs a copy; "" where it can.

    Suffixes are case-sensitive and nothing is unpacked (extras/constants.py, FILEEXT2TYPE; data/loader.py:59-89).
    """
    for path in files:
        kind = KINDS.get(path.suffix[1:])
        if kind is None:
            what = f"{path.suffix} files" if path.suffix else "files without a suffix"
            return f"LlamaFactory does not read {what}: it needs a copy"
        found = sniff(path)
        if found not in _HOLDS.get(kind, (kind,)):
            held = _WORDS.get(found, found)
            return f"{path.name} holds {held}, and LlamaFactory goes by the suffix: it needs a copy"
    return ""
