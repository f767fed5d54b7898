"""Files in blocks of rows: the bytes of each row, its length, and its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any

import msgspec
import orjson

from dsreg.rows.arrays import SPACE, Block, cut_array, first_head
from dsreg.rows.decode import Decoder
from dsreg.rows.encoding import refuse_other_encoding
from dsreg.rows.lines import at_once, check_utf8, split, whole_lines
from dsreg.rows.scan import spans
from dsreg.rows.source import Source
from dsreg.rows.values import row_value

ROW_END = re.compile(rb"[ \t\r\n]*\}[ \t\r\n]*,[ \t\r\n]*\Z")
_FIRST = itemgetter(0)


@dataclass
class Rows:
    """The rows of one block.

    `typed` are the decoded rows, None where one is not of the plan's type; `lengths` how many bytes each takes at
    most; `raw(i)` gives its bytes, `value(i)` what the portable reader is to see, `line(i)` where it begins.
    """

    text: bytes
    typed: list[Any]
    lengths: list[int]
    raw: Callable[[int], bytes]
    value: Callable[[int], Any]
    line: Callable[[int], int]
    starts: Callable[[], list[int]]
    exactly: Callable[[], Rows]
    lines: int = 0


class Blocks:
    """Cuts files into blocks; `portable` makes it decode none of the rows of the following blocks."""

    def __init__(self, row_type: type, decoder: Decoder) -> None:
        self.decoder = decoder
        self._type = row_type
        self.portable = 0
        self._lines: Callable[[bytes], list[Any]] = msgspec.json.Decoder(row_type).decode_lines
        self._one: Callable[[bytes], Any] = msgspec.json.Decoder(row_type).decode
        self._list = msgspec.json.Decoder(list[row_type]).decode  # type: ignore[valid-type]

    def of_lines(self, source: Source, line: int = 1) -> Iterator[Rows]:
        """The rows of JSON Lines."""
        for block in whole_lines(source):
            rows = self.lines(block, line, source.name)
            yield rows
            line += rows.lines

    def lines(self, block: bytes, line: int, name: str) -> Rows:
        """The rows of a block of whole lines."""
        lines = split(block)
        typed: list[Any] | None = None
        if not self.portable:
            typed = self._typed(block, lines)
        if typed is None:
            if line == 1:
                refuse_other_encoding(block, lines, name)
            return self.one_by_one(block, lines, line)
        return Rows(
            block,
            typed,
            list(map(len, lines)),
            lines.__getitem__,
            lambda i: self.decoder.row_or_bad(lines[i]),
            lambda i: line + i,
            lambda: [0, *accumulate(len(raw) + 1 for raw in lines)],
            lambda: self.one_by_one(block, lines, line),
            len(lines),
        )

    def is_row(self, raw: bytes) -> bool:
        """Whether these bytes are one row of the plan's type."""
        return self._try(raw) is not None

    def _typed(self, block: bytes, lines: list[bytes]) -> list[Any] | None:
        """All rows in one call, if every line is one."""
        try:
            check_utf8(block)
            rows = self._lines(block)
            if len(rows) == len(lines) and set(map(_FIRST, lines)) == {123}:
                return rows
        except (msgspec.DecodeError, UnicodeDecodeError, IndexError, RecursionError):
            pass
        return None

    def one_by_one(self, block: bytes, lines: list[bytes], line: int) -> Rows:
        """The rows of lines of which some are blank, broken, or not of the plan's type."""
        count = len(lines)
        kept = [(i, raw) for i, raw in enumerate(lines) if raw.strip()]
        numbers, lines = [line + i for i, _ in kept], [raw for _, raw in kept]
        values: list[Any] | None = None
        if self.portable:
            values = at_once(block)
            values = values if values is not None and self.decoder.is_exact(block, values) else None
        typed = [None if self.portable else self._try(raw) for raw in lines]
        value = values.__getitem__ if values is not None else lambda i: self.decoder.row_or_bad(lines[i])
        joined = b"\n".join(lines)
        return Rows(
            joined,
            typed,
            list(map(len, lines)),
            lines.__getitem__,
            value,
            numbers.__getitem__,
            lambda: [0, *accumulate(len(raw) + 1 for raw in lines)],
            lambda: self.one_by_one(block, lines, line),
            count,
        )

    def _try(self, raw: bytes) -> Any:
        try:
            raw.decode()
            return self._one(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def of_array(self, source: Source) -> Iterator[Rows]:
        """The rows of a JSON array."""
        any_row = False
        head: bytes | None = None
        for block in cut_array(source, decode=self._array):
            if not block.text.strip(SPACE) and not any_row:
                continue  # an array without rows
            head = head or first_head(block.text)
            yield self._array_rows(source, block, head)
            any_row = True

    def _array(self, text: bytes) -> Any:
        """What an array decodes to: rows of the plan's type, or else any values; raises ValueError for no JSON."""
        if not self.portable:
            try:
                check_utf8(text)
                return self._list(text)
            except (msgspec.ValidationError, RecursionError):
                pass
            except msgspec.DecodeError as error:
                raise ValueError(str(error)) from None
        return orjson.loads(text)

    def _array_rows(self, source: Source, block: Block, head: bytes | None) -> Rows:
        """The rows of one block of an array, with their lengths if all of them begin alike."""
        found: list[list[tuple[int, int]]] = []

        def places() -> list[tuple[int, int]]:
            if not found:
                found.append(spans(block.text))
            return found[0]

        typed = block.value
        plain = typed is not None and not self.portable and isinstance(typed[0], self._type)
        lengths = piece_lengths(block.text, head, len(typed)) if plain and head else None
        if not plain or lengths is None:
            rows = places()
            lengths = [end - start for start, end in rows]
            exact = typed is not None and not plain and self.decoder.is_exact(block.text, typed)
            values = typed if exact else None
            if not plain or len(rows) != len(typed):
                typed = [self._try_span(block.text[start:end]) for start, end in rows]
        else:
            values = None

        pieces: list[bytes] = []

        def raw(i: int) -> bytes:
            if lengths is not None and head and not found:
                if not pieces:
                    pieces.extend(block.text.split(head)[1:])
                whole = head + pieces[i].rstrip(SPACE + b",")
                if self.is_row(whole):
                    return whole
            start, end = places()[i]
            return block.text[start:end]

        def value(i: int) -> Any:
            return values[i] if values is not None else row_value(source, self.decoder, block, *places()[i])

        return Rows(
            block.text,
            typed,
            lengths,
            raw,
            value,
            lambda i: block.line + block.text.count(b"\n", 0, places()[i][0]),
            lambda: [start for start, _ in places()] + [len(block.text)],
            lambda: self._array_rows(source, block, None),
        )

    def _try_span(self, raw: bytes) -> Any:
        return None if self.portable else self._try(raw)


def piece_lengths(text: bytes, head: bytes, count: int) -> list[int] | None:
    """How long the rows of an array are at most, if what stands between them is the same everywhere.

    Line breaks with the indentation of a row's columns are not counted.
    """
    indent = head[1 : head.index(b'"')]
    if indent.startswith(b"\n"):
        text, head = text.replace(indent, b""), head.replace(indent, b"")
    second = text.find(head, 1)
    between = ROW_END.search(text, max(0, second - 64), second) if second > 0 else None
    if between is None:
        return [len(text)] if count == 1 else None
    pieces = text.split(between[0] + head)
    return [len(piece) + len(head) + 1 for piece in pieces] if len(pieces) == count else None
