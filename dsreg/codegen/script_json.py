"""JSON rows: the value of each, or why it has none; and where it stands.

Pasted into generated converters like a format's reader and writer, so it keeps to the standard library. It finds the
same rows bad as `dsreg.rows`, for the same reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from dsreg.rowcode.columns import finite_number, refuse_constant
from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import NOT_JSON, BadRow, explain
from dsreg.rows.strict import strict

SPACE = b" \t\r\n"
JSON_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
# A letter or a digit written as an escape: nobody does, but then a key may hide in it.
ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])")


class Stop(Exception):
    """The work cannot be done; `code` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


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
    """The value of one row.

    Where it is none, `strict` says why: raises RowError, JSONDecodeError or UnicodeDecodeError.
    """
    if may_repeat(raw, spellings):
        return strict(raw)
    try:
        value = PARSER.decode(raw.decode())
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(value, ensure_ascii=False).encode()  # fails for half a character
    except (ValueError, RecursionError):
        return strict(raw)
    return value


PARSER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite_number)


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
