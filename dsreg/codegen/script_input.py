"""Files in: JSON, JSON Lines, CSV, TSV and text, told apart as `dsreg export` does.

Pasted into generated converters like a format's reader and writer, so it keeps to the standard library. A JSON array
is held in memory as a whole; of the rest, one row is.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dsreg.codegen.script_json import Stop, json_lines, json_values, key_spellings, object_end
from dsreg.rows.bad import NOT_JSON, BadRow

ENCODINGS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
UNPACK_FIRST = (
    "install pyarrow and make JSON Lines of it first:\n"
    "  pip install pyarrow\n"
    "  python -c 'import json, sys, pyarrow as pa, pyarrow.parquet as pq; "
    "[print(json.dumps(row)) for row in {}.to_pylist()]' FILE > rows.jsonl"
)
UNREADABLE = {
    b"PAR1": "is Parquet; " + UNPACK_FIRST.format("pq.read_table(sys.argv[1])"),
    b"ARROW1\0\0": "is Arrow; " + UNPACK_FIRST.format("pa.ipc.open_file(sys.argv[1]).read_all()"),
    b"\xff\xff\xff\xff": "is Arrow; " + UNPACK_FIRST.format("pa.ipc.open_stream(sys.argv[1]).read_all()"),
    b"\x28\xb5\x2f\xfd": "is packed with zstd; install zstd and unpack it first: zstd -d FILE",
    b"PK\x03\x04": "is a zip archive; unpack it first: unzip FILE",
    b"BZh": "is packed with bzip2; unpack it first: bunzip2 FILE",
    b"\xfd7zXZ\x00": "is packed with xz; unpack it first: unxz FILE",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive; unpack it first: 7z x FILE",
    b"SQLite format 3\0": "is an SQLite database; export the table first",
    b"%PDF-": "is a PDF document",
    b"\x89HDF": "is an HDF5 file; export it first",
    b"version https://git-lfs.github.com/spec/": "is a Git LFS pointer, not the data; fetch them first: git lfs pull",
}
TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "txt", ".text": "txt", ".md": "txt"}
WINDOW = 1 << 18


def read_rows(name: str, keys: Iterable[str]) -> Iterator[tuple[int, int, Any]]:
    """Each row of a file with its number and its line; a BadRow in place of one that cannot be read.

    `keys` are the columns that no row may hold twice. Raises Stop for a file that cannot be read as a whole.
    """
    spellings = {key: key_spellings(key) for key in keys}
    try:
        with open_input(name) as file:
            head = file.peek(WINDOW)
            kind = kind_of(head, name)
            if kind == "jsonl":
                check_encoding(head[: head.rfind(b"\n") + 1] or head, name)
                yield from json_lines(file, spellings)
            elif kind == "json":
                yield from json_values(file.read(), name, spellings)
            elif kind == "txt":
                yield from text_lines(file)
            else:
                yield from table_rows(file, name, "," if kind == "csv" else "\t")
    except UnicodeError as error:
        raise Stop(f"{name}: is not UTF-8: {error}") from None
    except (OSError, EOFError) as error:
        raise Stop(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


@functools.cache
def standard_input() -> bytes:
    """All of standard input, which may be needed twice."""
    return sys.stdin.buffer.read()


@contextmanager
def open_input(name: str) -> Iterator[io.BufferedReader]:
    """A file, or standard input for "-", as bytes of UTF-8: unpacked and without a byte order mark."""
    path = Path(name)
    if name != "-" and path.exists() and not path.is_file():
        raise Stop(f"{name}: is not a regular file")
    with ExitStack() as stack:
        raw: Any = io.BytesIO(standard_input()) if name == "-" else path.open("rb", buffering=0)
        file = stack.enter_context(io.BufferedReader(raw, WINDOW))
        if file.peek(2).startswith(b"\x1f\x8b"):
            unpacked: Any = stack.enter_context(gzip.GzipFile(fileobj=file))
            file = io.BufferedReader(unpacked, WINDOW)
        head = file.peek(WINDOW)
        for magic, advice in UNREADABLE.items():
            if head.startswith(magic):
                raise Stop(f"{name}: {advice}")
        if head.startswith(b"\xef\xbb\xbf"):
            file.read(3)
        for mark, encoding in ENCODINGS.items():
            if head.startswith(mark):
                file = io.BufferedReader(io.BytesIO(file.read().decode(encoding).encode()), WINDOW)
                break
        if not file.peek(1):
            raise Stop(f"{name}: is empty")
        yield file


def kind_of(head: bytes, name: str) -> str:
    """jsonl, json, csv, tsv or txt: by content, and where that does not tell by the suffix of the name."""
    path = Path(name.lower().removesuffix(".gz"))
    table = TABLES.get(path.suffix, "")
    text = head.lstrip()
    line, _, rest = text.partition(b"\n")
    if text[:1] == b"[" and (not table or is_array(text)):
        return "json"
    if text[:1] == b"{" and (not table or is_object(line)):
        if is_object(line) or not rest or object_end(line, 0):
            return "jsonl"
        following = rest.lstrip(b"\r\n").partition(b"\n")[0]
        return "jsonl" if is_object(following) else "json"
    if table:
        return table
    if not text:
        raise Stop(f"{name}: is empty but for white space")
    lines = head.split(b"\n")
    if any(map(is_object, lines[:1000])):
        return "jsonl"
    check_encoding(head, name)
    if any(line.strip() in (b"[", b"{") or line.startswith(b"[{") for line in lines):
        raise Stop(f"{name}:1: this is not JSON, and stands before the data")
    if path.suffix in (".json", ".jsonl", ".ndjson"):
        return "jsonl"
    raise Stop(f"{name}: cannot be told to be JSON, JSON Lines, CSV, TSV or text; give it the right suffix")


def is_object(line: bytes) -> bool:
    """Whether a line is one JSON object."""
    try:
        return line[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def is_array(text: bytes) -> bool:
    """Whether text is beyond doubt a JSON array of objects."""
    inner = text[1:].lstrip()
    return inner == b"]" or (inner[:1] == b"{" and is_object(inner[: object_end(inner, 0)]))


def check_encoding(head: bytes, name: str) -> None:
    """Refuse a file of another encoding as a whole, rather than line by line."""
    lines = head.removesuffix(b"\n").split(b"\n")
    broken = sum(not is_utf8(line) for line in lines)
    if broken * 2 > len(lines) or (broken >= 8 and broken * 2 > sum(not line.isascii() for line in lines)):
        raise Stop(f"{name}: is not UTF-8; convert it first: iconv -f gb18030 -t utf-8 FILE")
    if head.isascii() and b"\0" in head[:4]:
        raise Stop(f"{name}: is not UTF-8; convert it first: iconv -f utf-16le -t utf-8 FILE")


def is_utf8(raw: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_lines(file: BinaryIO) -> Iterator[tuple[int, int, Any]]:
    """A row for every line of text, empty ones too."""
    for line, raw in enumerate(file, 1):
        yield line, line, {"text": raw.removesuffix(b"\n").decode().removesuffix("\r")}


def table_rows(file: BinaryIO, name: str, delimiter: str) -> Iterator[tuple[int, int, Any]]:
    """A row of texts for every record below the header of a CSV or TSV file."""
    csv.field_size_limit(1 << 26)
    records = csv.reader((line.decode() for line in file), delimiter=delimiter, strict=True)
    header: list[str] = []
    row = 0
    while True:
        line, problem = records.line_num + 1, ""
        try:
            cells = next(records, None)
        except csv.Error as error:
            if not header or re.search("end of data|field limit|new-line character", str(error)):
                raise Stop(f"{name}:{line}: {error}") from None
            cells, problem = [""], f"{error}" if line == records.line_num else f"{error}, in line {records.line_num}"
        if cells is None:
            break
        if not cells:
            continue
        if not header:
            header = table_header(cells, name)
            continue
        row += 1
        yield row, line, table_row(header, cells, delimiter, problem)
    if not header:
        raise Stop(f"{name}: has no header")


def table_header(cells: list[str], name: str) -> list[str]:
    """The names of the columns, each there once."""
    if len(set(cells)) < len(cells):
        raise Stop(f"{name}:1: the header has a name twice")
    return cells


def table_row(header: list[str], cells: list[str], delimiter: str, problem: str) -> Any:
    """The row of one record, or a BadRow where it is broken or has too many or too few cells."""
    if problem:
        return BadRow(NOT_JSON, "", f"not a row: {problem}", "")
    if len(cells) != len(header):
        count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return BadRow(NOT_JSON, "", f"{count} where the header has {len(header)}", delimiter.join(cells))
    return dict(zip(header, cells, strict=True))
