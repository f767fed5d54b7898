"""Files in and out: JSON, JSON Lines, CSV, TSV and text.

The part of a generated converter that is the same for all of them. It is pasted like a format's reader and writer, so
it keeps to the standard library. It reads files as `dsreg.rows` does and finds the same rows bad, but simply: a JSON
array is held in memory as a whole.
"""

from __future__ import annotations

import argparse
import csv
import functools
import gzip
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dsreg.rowcode.columns import refuse_constant
from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import NOT_JSON, BadRow, explain
from dsreg.rows.strict import strict

ENCODINGS = {
    b"\xef\xbb\xbf": "utf-8-sig",
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
    b"ARROW1": "is Arrow; " + UNPACK_FIRST.format("pa.ipc.open_file(sys.argv[1]).read_all()"),
    b"\xff\xff\xff\xff": "is Arrow; " + UNPACK_FIRST.format("pa.ipc.open_stream(sys.argv[1]).read_all()"),
    b"\x28\xb5\x2f\xfd": "is packed with zstd; install zstd and unpack it first: zstd -d FILE",
    b"PK\x03\x04": "is a zip archive; unpack it first: unzip FILE",
    b"BZh": "is packed with bzip2; unpack it first: bunzip2 FILE",
    b"\xfd7zXZ\x00": "is packed with xz; unpack it first: unxz FILE",
    b"version https://git-lfs": "is a Git LFS pointer, not the data; fetch them first: git lfs pull",
}
TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "txt", ".text": "txt", ".md": "txt"}
WINDOW = 1 << 18
SPACE = b" \t\r\n"
JSON_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
# A letter or a digit written as an escape: nobody does, but then a key may hide in it.
ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])")


class Stop(Exception):
    """The work cannot be done; `code` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


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
                check_encoding(head, name)
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


def open_input(name: str) -> io.BufferedReader:
    """Open a file, or standard input for "-", as bytes of UTF-8: unpacked and without a byte order mark."""
    if name != "-" and not stat.S_ISREG(os.stat(name).st_mode):
        raise Stop(f"{name}: is not a regular file")
    file: Any = io.BytesIO(standard_input()) if name == "-" else open(name, "rb")
    file = io.BufferedReader(file, WINDOW)
    if file.peek(2).startswith(b"\x1f\x8b"):
        file = io.BufferedReader(gzip.GzipFile(fileobj=file), WINDOW)  # type: ignore[arg-type]
    head = file.peek(WINDOW)
    for magic, advice in UNREADABLE.items():
        if head.startswith(magic):
            raise Stop(f"{name}: {advice}")
    if not head:
        raise Stop(f"{name}: is empty")
    for mark, encoding in ENCODINGS.items():
        if head.startswith(mark):
            return io.BufferedReader(io.BytesIO(file.read().decode(encoding).encode()), WINDOW)  # type: ignore[arg-type]
    return file


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
    if path.suffix in (".json", ".jsonl", ".ndjson") or any(map(is_object, head.split(b"\n")[:1000])):
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
    lines = head.split(b"\n")
    broken = sum(not is_utf8(line) for line in lines[:-1] or lines)
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


def json_lines(file: BinaryIO, spellings: dict[str, set[bytes]]) -> Iterator[tuple[int, int, Any]]:
    """The value of every line that is not blank."""
    row = 0
    for line, raw in enumerate(file, 1):
        if raw.strip():
            row += 1
            yield row, line, parse_line(raw.removesuffix(b"\n"), spellings)


def parse_line(raw: bytes, spellings: dict[str, set[bytes]]) -> Any:
    """The value of one line, or the BadRow that says why it has none."""
    try:
        return parse(raw, spellings)
    except RowError as error:
        code, path, message = error.code, error.path, error.message
    except json.JSONDecodeError as error:
        reason = explain(error.doc, error.pos, error.msg)
        code, path, message = NOT_JSON, "", f"not JSON: {reason} (column {error.pos + 1})"
    except UnicodeDecodeError as error:
        byte = f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the row"
        code, path, message = NOT_JSON, "", f"not UTF-8: {byte}"
    return BadRow(code, path, message, raw_text(raw))


def raw_text(raw: bytes) -> str:
    """The bytes of a bad row as text, whatever they are."""
    return raw.decode("utf-8", "backslashreplace").strip("\r\n")


def parse(raw: bytes, spellings: dict[str, set[bytes]]) -> Any:
    """The value of one row; `strict` says what is wrong with it. Raises RowError, JSONDecodeError, UnicodeDecodeError."""
    if may_repeat(raw, spellings):
        return strict(raw)
    try:
        value = PARSER.decode(raw.decode())
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(value, ensure_ascii=False).encode()  # fails for half a character
    except (ValueError, RecursionError):
        return strict(raw)
    return value


def finite(digits: str) -> float:
    """A number that a double can hold."""
    value = float(digits)
    if value - value != 0:
        raise ValueError("too large")
    return value


PARSER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)


def key_spellings(key: str) -> set[bytes]:
    """How a key is written in JSON: as it is, or with escapes in either letter case."""
    escaped = json.dumps(key)
    upper = re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match[0][2:].upper(), escaped)
    plain = json.dumps(key, ensure_ascii=False)
    return {text.encode("utf-8", "surrogatepass") for text in (plain, escaped, upper)}


def may_repeat(raw: bytes, spellings: dict[str, set[bytes]]) -> bool:
    """Whether one of the keys may stand in a row twice."""
    if spellings and b"\\u00" in raw and ESCAPED_LETTER.search(raw):
        return True
    for written in spellings.values():
        if sum(map(raw.count, written)) > 1:
            keys = [re.findall(re.escape(key) + rb"\s*:", raw) for key in written]
            if sum(map(len, keys)) > 1:
                return True
    return False


def json_values(data: bytes, name: str, spellings: dict[str, set[bytes]]) -> Iterator[tuple[int, int, Any]]:
    """The values of an array, or objects one after the other; wrong syntax is an error of the file."""
    start = len(data) - len(data.lstrip(SPACE))
    cut = cut_array if data[start : start + 1] == b"[" else cut_objects
    line, counted = 1, 0
    for row, (begin, end) in enumerate(cut(data, start, name), 1):
        line, counted = line + data.count(b"\n", counted, begin), begin
        raw = data[begin:end].rstrip(SPACE)
        try:
            value = parse(raw, spellings)
        except RowError as error:
            value = BadRow(error.code, error.path, error.message, raw_text(raw))
        except json.JSONDecodeError as error:
            line += error.doc.count("\n", 0, error.pos)
            raise Stop(f"{name}:{line}: not JSON: {explain(error.doc, error.pos, error.msg)}") from None
        yield row, line, value


def cut_array(data: bytes, start: int, name: str) -> Iterator[tuple[int, int]]:
    """Where the values of an array begin and end, found by brackets and commas alone."""
    depth, begin = 0, start + 1
    for token in JSON_TOKEN.finditer(data, start + 1):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
        elif mark == b'"':
            break
        if depth < 0 or (mark == b"," and not depth):
            value = data[begin : token.start()]
            if value.strip(SPACE) or begin > start + 1 or mark == b",":
                yield begin + len(value) - len(value.lstrip(SPACE)), token.start()
            begin = token.end()
        if depth < 0:
            if mark == b"}" or data[begin:].strip(SPACE):
                line = data.count(b"\n", 0, begin) + 1
                raise Stop(f"{name}:{line}: the array has ended, but something follows")
            return
    raise Stop(f"{name}: the file ends inside the array")


def cut_objects(data: bytes, start: int, name: str) -> Iterator[tuple[int, int]]:
    """Where objects that follow each other without commas begin and end."""
    while start < len(data):
        end = object_end(data, start)
        if not end:
            line = data.count(b"\n", 0, start) + 1
            raise Stop(f"{name}:{line}: expected a whole JSON object")
        yield start, end
        while data[end : end + 1] in (b" ", b"\t", b"\r", b"\n"):
            end += 1
        start = end


def object_end(data: bytes, start: int) -> int:
    """Where the object that begins at `start` ends; 0 if it does not."""
    depth = 0
    if data[start : start + 1] == b"{":
        for token in JSON_TOKEN.finditer(data, start):
            mark = token[0]
            if mark in (b"{", b"["):
                depth += 1
            elif mark in (b"}", b"]"):
                depth -= 1
            elif mark == b'"':
                break
            if depth == 0:
                return token.end()
    return 0


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


class RowFile:
    """Takes rows for a file of JSON Lines, or of a JSON array."""

    def __init__(self, file: BinaryIO, container: str) -> None:
        self.file, self.is_array = file, container == "json"
        self.rows = 0

    def write(self, row: Any) -> None:
        """Add one row; raises Stop for one that is no JSON."""
        self.rows += 1
        try:
            text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            before, after = (b",\n" if self.rows > 1 else b"[\n", b"") if self.is_array else (b"", b"\n")
            self.file.write(before + text.encode() + after)
        except (ValueError, TypeError, RecursionError) as error:
            raise Stop(f"row {self.rows} of the output cannot be written: {error}") from None

    def finish(self) -> None:
        """Close the array."""
        if self.is_array:
            self.file.write(b"\n]\n" if self.rows else b"[]\n")


@contextmanager
def whole_file(name: str) -> Iterator[BinaryIO]:
    """A file that appears under its name when the block ends well, and not at all otherwise; "-" is standard output."""
    if name == "-":
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    target = os.path.realpath(name)  # a link stays, what it points to is replaced
    temp = os.path.join(os.path.dirname(target), f".{os.path.basename(target)[:100]}.{os.getpid()}.tmp")
    try:
        with open(temp, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temp, target)
    except OSError as error:
        raise Stop(f"{name}: cannot be written: {error.strerror or error}") from None
    finally:
        if os.path.exists(temp):
            os.unlink(temp)


def reject_of(name: str, row: int, line: int, value: Any, error: RowError) -> dict[str, Any]:
    """One line of the rejects file: where the row stands, why it cannot be used, and the row itself."""
    place = {"source": name, "row": row, "line": line}
    reason = {"code": error.code, "path": error.path, "message": error.message}
    return {**place, **reason, "raw": value.raw if isinstance(value, BadRow) else value}


def report(rejects: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Show and keep the rejects; raises Stop unless they may be left out."""
    for reject in rejects[:10]:
        path = f"{reject['path']}: " if reject["path"] else ""
        print(f"{reject['source']}:{reject['line']}: {reject['code']} {path}{reject['message']}", file=sys.stderr)
    if len(rejects) > 10:
        print(f"and {len(rejects) - 10:,} more", file=sys.stderr)
    if args.rejects:
        write_rejects(args.rejects, rejects)
    elif args.output != "-" and (args.skip_invalid or not rejects):
        write_rejects(f"{args.output}.rejects.jsonl", rejects)
    if rejects and not args.skip_invalid:
        raise Stop(f"{len(rejects):,} rows were rejected and nothing was written; --skip-invalid leaves them out", 1)


def write_rejects(name: str, rejects: list[dict[str, Any]]) -> None:
    """Write the rejects, one on a line; where there are none, remove those of an earlier run."""
    if rejects:
        with whole_file(name) as file:
            for reject in rejects:
                file.write(json.dumps(reject, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    elif os.path.isfile(name):
        os.unlink(name)


def arguments(container: str) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Convert a data file; the head of this script says how.")
    parser.add_argument("input", metavar="INPUT", help="JSON, JSON Lines, CSV, TSV or text; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUTPUT", default="-", help="default: standard output")
    parser.add_argument("--container", choices=["json", "jsonl"], default=container, help="default: %(default)s")
    parser.add_argument("--skip-invalid", action="store_true", help="leave out rows that cannot be converted")
    parser.add_argument("--rejects", metavar="FILE", help="where those rows go (default: OUTPUT.rejects.jsonl)")
    return parser.parse_args()
