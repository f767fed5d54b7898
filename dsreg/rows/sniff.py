"""What kind of file this is, judged by its content."""

from __future__ import annotations

import json
from pathlib import Path

from dsreg.errors import DataFileError
from dsreg.rows.encoding import refuse_other_encoding
from dsreg.rows.lines import split
from dsreg.rows.scan import value_end
from dsreg.rows.source import Source

CONTAINERS = ("jsonl", "json", "csv", "tsv", "parquet", "arrow", "txt")
_WINDOW = 1 << 18
_PACKED = {".gz", ".zst", ".zstd"}
_TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "txt", ".text": "txt", ".md": "txt"}
_ARROW = (b"ARROW1\x00\x00", b"\xff\xff\xff\xff")


def sniff(path: Path, name: str = "") -> str:
    """The container of a data file: "jsonl" "json" "csv" "tsv" "parquet" "arrow" "txt".

    By content wherever it tells: a JSON array is "json" whatever its suffix. CSV, TSV and text go by suffix. "json" is
    an array, one object over several lines, or several of those. Raises DataFileError for what is none of them.
    """
    with Source(path, name) as source:
        return container_of(source)


def container_of(source: Source) -> str:
    """The container of an open file, which is left at its start."""
    binary = _binary(source)
    if binary:
        return binary
    head = source.peek(_WINDOW)
    by_suffix = _TABLES.get(suffix_of(source.path), "")
    start = head.lstrip()[:1]
    if start == b"[" and (not by_suffix or _is_array_of_objects(head)):
        return "json"
    if start == b"{" and (not by_suffix or _line_is_object(first_line(head))):
        return _lines_or_objects(head)
    if by_suffix:
        return by_suffix
    if not start:
        raise DataFileError("is empty but for white space", where=source.name)
    return _unclear(source, head)


def _binary(source: Source) -> str:
    head = source.peek(8)
    found = "parquet" if head.startswith(b"PAR1") else "arrow" if head.startswith(_ARROW) else ""
    if found and source.packed:
        raise DataFileError(f"is {found} inside {source.packed}", where=source.name, hint="unpack the file first")
    if not found and suffix_of(source.path) in (".parquet", ".arrow"):
        raise DataFileError(f"is not {suffix_of(source.path)[1:]}, whatever its name says", where=source.name)
    return found


def suffix_of(path: Path) -> str:
    """The suffix that names the kind of a file, in lower case: `.jsonl` for `a.JSONL.gz`."""
    suffixes = [s.lower() for s in path.suffixes]
    while suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def first_line(head: bytes) -> bytes:
    """The first line that is not blank."""
    return head.lstrip().split(b"\n", 1)[0].strip()


def _lines_or_objects(head: bytes) -> str:
    """Text that begins with `{`: JSON Lines, unless the first object goes on over the end of its line."""
    text = head.lstrip()
    line, _, rest = text.partition(b"\n")
    if _line_is_object(line.strip()) or not rest or value_end(line) >= 0:
        return "jsonl"
    following = rest.lstrip(b"\r\n").split(b"\n", 1)[0]
    return "jsonl" if following[:1] == b"{" and _line_is_object(following.strip()) else "json"


def _line_is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_array_of_objects(head: bytes) -> bool:
    """Whether text in a file called .txt or .csv is beyond doubt a JSON array of rows."""
    inner = head.lstrip()[1:].lstrip()
    end = value_end(inner) if inner[:1] == b"{" else -1
    return _line_is_object(inner[:end]) if end > 0 else inner == b"]"


def _unclear(source: Source, head: bytes) -> str:
    """A file that begins with something else: JSON Lines if a line further down is an object, else by suffix."""
    lines = split(head)
    if any(_line_is_object(line) for line in lines[:1000] if line[:1] == b"{"):
        return "jsonl"
    refuse_other_encoding(head, lines, source.name)
    for number, line in enumerate(lines, 1):
        if line.strip() in (b"[", b"{") or line.startswith(b"[{"):
            shown = first_line(head)[:60].decode("utf-8", "replace")
            message = f"`{shown}` is not JSON, and stands before the data that begin in line {number}"
            raise DataFileError(message, where=f"{source.name}:1", hint="remove it: JSON has no comments or headings")
    if suffix_of(source.path) in (".json", ".jsonl", ".ndjson"):
        return "jsonl"
    kinds = "JSON, JSON Lines, CSV, TSV, Parquet, Arrow or text"
    raise DataFileError(f"cannot be told to be {kinds}", where=source.name, hint="give it the right suffix")
