"""JSON arrays and streams of objects: rows whose ends must be found, in memory that does not grow with the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from dsreg.errors import DataFileError
from dsreg.rows.scan import scan
from dsreg.rows.source import BLOCK, MAX_ROW, Source

SPACE = b" \t\r\n"
_FIRST_ROW = re.compile(rb'[ \t\r\n]*(\{[ \t\r\n]*"[^"\\,:\]} \t\r\n](?:[^"\\]|\\.)*")', re.DOTALL)
_BETWEEN_ROWS = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*\Z")
_TRIES = 8
_GAP = 64
"""How many bytes stand between two rows at most, where they are cut by how rows begin."""
_REACH = 16 << 20
"""How far the next row is looked for."""


class Block(NamedTuple):
    """Comma-separated rows, the number of the line they begin in, and what `[text]` decodes to.

    `value` is None where the rows must be decoded one by one: something in them is no JSON.
    """

    text: bytes
    line: int
    value: Any


def array_blocks(path: Path, size: int = BLOCK) -> Iterator[tuple[bytes, int]]:
    """Cut a JSON array into blocks of whole rows: (bytes within the brackets, number of the line they begin in)."""
    with Source(path) as source:
        for block in cut_array(source, size):
            yield block.text, block.line


def cut_array(source: Source, size: int = BLOCK, decode: Callable[[bytes], Any] = orjson.loads) -> Iterator[Block]:
    """The blocks of an array, each decoded by `decode`, which raises ValueError for what is no JSON.

    A block ends where the bytes that begin the first row, `{ "key"`, follow `}` and a comma. Those bytes cannot stand
    inside a string (its quotes are escaped there; and a closing quote cannot be followed by a key's first letter), so
    they begin an object, only its depth is unknown. At a greater depth the block does not decode, and the next place
    to the left is tried. Where none is found, or the block is no JSON, the brackets are counted one by one.

    Raises DataFileError for an array that is not closed, or is followed by something.
    """
    text, line = _after_bracket(source)
    head: bytes | None = None
    want, started = size, False
    while True:
        chunk = source.read(want)
        text += chunk
        if not chunk:
            yield from _last(source, text, line, started, decode)
            return
        if head is None and not started:
            head = first_head(text)
        cut = (_cut_at_head(text, head, decode) if head else None) or _cut_at_comma(text)
        if cut is None:
            if len(text) > MAX_ROW:
                raise DataFileError(f"a row is longer than {MAX_ROW >> 20} MiB", where=f"{source.name}:{line}")
            want = min(want * 2, MAX_ROW)
            continue
        end, following, value = cut
        yield Block(text[:end], line, value)
        line += text.count(b"\n", 0, following)
        text, want, started = text[following:], size, True
        if following == end:  # the array's own bracket
            _nothing_follows(source, text, line)
            return


def _after_bracket(source: Source) -> tuple[bytes, int]:
    """Read up to the opening bracket: what was read behind it, and its line."""
    line = source.line
    while chunk := source.read():
        rest = chunk.lstrip(SPACE)
        line += chunk.count(b"\n", 0, len(chunk) - len(rest))
        if rest:
            if rest[:1] != b"[":
                raise DataFileError("is not a JSON array", where=f"{source.name}:{line}")
            return rest[1:], line
    raise DataFileError("is empty", where=source.name)


def first_head(text: bytes) -> bytes | None:
    """The bytes that begin a row, as the first row shows them."""
    first = _FIRST_ROW.match(text)
    return first[1] if first else None


def next_row(file: BinaryIO, place: int, head: bytes) -> tuple[int, int] | None:
    """Where a row that begins with `head` follows others, from a place of a file on: (their end, its begin).

    Both are the end of the file where no row follows; None where none is found near.
    """
    base = max(0, place - _GAP)
    file.seek(base)
    text = b""
    while chunk := file.read(max(BLOCK, len(text))):
        start, text = max(place - base - 1, len(text) - len(head)), text + chunk
        while (start := text.find(head, start + 1)) >= 0:
            between = _BETWEEN_ROWS.search(text, max(0, start - _GAP), start)
            if between:
                return base + between.start() + 1, base + start
        if len(text) > _REACH:
            return None
    end = file.seek(0, 2)
    return end, end


def _cut_at_head(text: bytes, head: bytes, decode: Callable[[bytes], Any]) -> tuple[int, int, Any] | None:
    """The last place where a row begins: (end of the rows before, start of that row, the rows' value)."""
    start = len(text)
    for _ in range(_TRIES):
        start = text.rfind(head, 1, start)
        if start < 0:
            return None
        between = _BETWEEN_ROWS.search(text, max(0, start - _GAP), start)
        if between:
            end = between.start() + 1
            try:
                return end, start, decode(b"[%b]" % text[:end])
            except ValueError:
                continue
    return None


def _cut_at_comma(text: bytes) -> tuple[int, int, None] | None:
    """The last comma between rows, or the end of the array, where both ends are the same."""
    commas, close = scan(text)
    if close >= 0:
        return close, close, None
    return (commas[-1], commas[-1] + 1, None) if commas else None


def _last(source: Source, text: bytes, line: int, started: bool, decode: Callable[[bytes], Any]) -> Iterator[Block]:
    """What is left when the file ends: the last rows and the closing bracket."""
    rows = text.rstrip(SPACE)
    if rows.endswith(b"]"):
        try:
            value = decode(b"[" + rows)
        except ValueError:
            pass
        else:
            if value or started:
                yield Block(rows[:-1], line, value or None)
            return
    commas, close = scan(text)
    if close >= 0:
        yield Block(text[:close], line, None)
        _nothing_follows(source, text[close:], line + text.count(b"\n", 0, close))
        return
    if commas:
        yield Block(text[: commas[-1]], line, None)
    rest = text[commas[-1] + 1 if commas else 0 :].strip(SPACE)
    line += text.count(b"\n", 0, len(text.rstrip(SPACE)))
    what = f"after `{_shorten(rest)}`" if rest else "after a comma"
    raise DataFileError(
        f"the file ends inside the array, {what}",
        where=f"{source.name}:{line}",
        hint="the file is cut off, or a text or a bracket in it is not closed",
    )


def _nothing_follows(source: Source, text: bytes, line: int) -> None:
    """Refuse whatever stands behind the array; `text` begins with the bracket that closes it."""
    bracket, rest = text[:1], text[1:]
    while not rest.strip(SPACE):
        line += rest.count(b"\n")
        rest = source.read()
        if not rest and bracket == b"]":
            return
        if not rest:
            break
    if bracket != b"]":
        raise DataFileError("`}` closes nothing here", where=f"{source.name}:{line}")
    space = len(rest) - len(rest.lstrip(SPACE))
    line += rest.count(b"\n", 0, space)
    offset = source.given - len(rest) + space
    shown = rest[space : space + 40].split(b"\n")[0].decode("utf-8", "replace")
    again = rest[space : space + 1] in (b"[", b"{")
    raise DataFileError(
        f"the array has ended, but `{shown}` follows at byte {offset}"
        + (": several JSON values one after the other" if again else ""),
        where=f"{source.name}:{line}",
        hint="join them into one array, or split them into files" if again else "remove what follows the array",
    )


def _shorten(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return text if len(text) <= 40 else "…" + text[-39:]
