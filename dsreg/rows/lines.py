"""JSON Lines and plain text: one row per line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from operator import add
from pathlib import Path
from typing import Any

import orjson

from dsreg.errors import DataFileError
from dsreg.rows.decode import Decoder
from dsreg.rows.encoding import not_utf8, refuse_other_encoding
from dsreg.rows.place import Place
from dsreg.rows.source import BLOCK, MAX_ROW, Source


def jsonl_blocks(path: Path, size: int = BLOCK) -> Iterator[tuple[bytes, int]]:
    """Cut a file into blocks of whole lines: (bytes, number of the first line). Only `\\n` ends a line."""
    line = 1
    with Source(path) as source:
        for block in whole_lines(source, size):
            yield block, line
            line += block.count(b"\n")


def whole_lines(source: Source, size: int = BLOCK) -> Iterator[bytes]:
    """The blocks of `jsonl_blocks`, uncounted. Raises DataFileError for a line longer than MAX_ROW."""
    parts: list[bytes | memoryview] = []
    held = 0
    while chunk := source.read(size):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            parts.append(memoryview(chunk)[:cut])
            yield b"".join(parts)
            parts, held = [], 0
        parts.append(chunk[cut:])
        held += len(chunk) - cut
        if held > MAX_ROW:
            message = f"a line is longer than {MAX_ROW >> 20} MiB"
            raise DataFileError(message, where=source.name, hint="is this one row per line, and text at all?")
    if held:
        yield b"".join(parts)


def jsonl_rows(source: Source, decoder: Decoder, place: Place, size: int = BLOCK) -> Iterator[Any]:
    """The value of every line that is not blank, or a BadRow."""
    line = source.line
    for block in whole_lines(source, size):
        rows = at_once(block)
        if rows is not None and decoder.is_exact(block, rows):
            yield from place.over(rows, partial(add, line))
        else:
            lines = split(block)
            if line == 1:
                refuse_other_encoding(block, lines, source.name)
            rows = [decoder.row_or_bad(raw) if raw.strip() else _BLANK for raw in lines]
            for row in place.over(rows, partial(add, line)):
                if row is _BLANK:
                    place.skip()
                else:
                    yield row
        source.line = line = line + len(rows)


_SLICE = 1 << 15
_NEWLINE, _OPEN, _CLOSE = b"\n{}"
_BLANK = object()
_MARK = int.from_bytes(os.urandom(6), "big")
_BETWEEN = b",%d," % _MARK


def at_once(block: bytes) -> list[Any] | None:
    """The values of all lines, by one call of the parser; None unless every line is one value.

    The lines become an array with a number between each two. It has to come out between each two rows, once for every
    line end: a row that goes on over a line end, or two rows on one line, cannot make up for each other, as nobody
    who writes a file knows the number.
    """
    text = block.removesuffix(b"\n")
    joined = text.replace(b"\n", _BETWEEN)
    try:
        values = orjson.loads(b"[%b]" % joined)
    except orjson.JSONDecodeError:
        return None
    rows: list[Any] = values[::2]
    ends = (len(joined) - len(text)) // (len(_BETWEEN) - 1)
    return rows if len(rows) == ends + 1 and values[1::2] == [_MARK] * ends else None


def txt_rows(source: Source, place: Place, size: int = BLOCK) -> Iterator[dict[str, str]]:
    """{"text": line} for every line, empty ones too; a line keeps all but its end."""
    line = source.line
    for block in whole_lines(source, size):
        lines = text_lines(block, line, source.name)
        for text in place.over(lines, partial(add, line)):
            yield {"text": text.removesuffix("\r")}
        source.line = line = line + len(lines)


def text_lines(block: bytes, line: int, name: str) -> list[str]:
    """The lines of a block of whole lines; raises DataFileError where they are not UTF-8."""
    try:
        lines = block.decode().split("\n")
    except UnicodeDecodeError as e:
        raise not_utf8(block, e.start, line, name) from e
    if not lines[-1]:
        lines.pop()
    return lines


def split(block: bytes) -> list[bytes]:
    """The lines of a block of whole lines, without their ends."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def cut(text: bytes | bytearray, size: int = BLOCK) -> Iterator[bytes]:
    """Blocks of whole lines, of about that size, of a text that is in memory."""
    start = 0
    while start < len(text):
        end = text.rfind(b"\n", start, start + size) + 1 or text.find(b"\n", start + size) + 1 or len(text)
        yield bytes(text[start:end])
        start = end


def longer_lines(text: bytes, sizes: list[int], limit: int) -> list[int] | None:
    """Which lines are at least `limit` bytes longer than the rows they hold; None where a line is not one row.

    `sizes` are the bytes that each row takes at least, 0 where nobody knows; they become those of its line. The text
    ends with a line end, and is as many objects as there are sizes. A line is one of them: it begins with `{` and ends
    with `}`, between which no line end within an object stands, and there are as many lines as objects.
    """
    start, found = 0, []
    try:
        for i, size in enumerate(sizes):
            end = start + size
            if text[end] != _NEWLINE or text[end - 1] != _CLOSE or not size:  # not compact, or not known
                end = text.index(b"\n", start)
                sizes[i] = end - start
                if sizes[i] < size or text[start:end].rstrip()[-1] != _CLOSE:
                    return None
                if sizes[i] >= size + limit:
                    found.append(i)
            if text[start] != _OPEN:
                return None
            start = end + 1
    except (IndexError, ValueError):
        return None
    return found if start == len(text) else None


def check_utf8(block: bytes) -> None:
    """Raise UnicodeDecodeError for bytes that are not UTF-8.

    In slices: one emoji makes Python take four bytes for every character of a text.
    """
    if block.isascii():
        return
    view, start, size = memoryview(block), 0, len(block)
    while start < size:
        end = block.rfind(b"\n", start, start + _SLICE) + 1
        end = end or block.find(b"\n", start) + 1 or size
        str(view[start:end], "utf-8")
        start = end
