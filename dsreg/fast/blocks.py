"""Files in blocks of rows: the bytes of each row, its length, and its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Any, Protocol

import msgspec
import orjson

from dsreg.rows.arrays import SPACE, Block, cut_array, first_head
from dsreg.rows.decode import Decoder
from dsreg.rows.encoding import refuse_other_encoding
from dsreg.rows.lines import at_once, check_utf8, longer_lines, split, whole_lines
from dsreg.rows.scan import spans
from dsreg.rows.source import Source
from dsreg.rows.values import row_value

ROW_END = re.compile(rb"[ \t\r\n]*\}[ \t\r\n]*,[ \t\r\n]*\Z")
SIZE = 1 << 17
"""How many bytes of a file are converted at once."""


class Rows(Protocol):
    """The rows of one block; `typed` are the decoded ones, None where one is not of the plan's type."""

    text: bytes
    typed: list[Any]

    def doubtful(self, sizes: list[int], limit: int) -> list[int] | None:
        """Which rows may take `limit` bytes more than these; None where `typed` may be other rows than those."""

    def raw(self, i: int) -> bytes:
        """The bytes of a row."""

    def value(self, i: int) -> Any:
        """What the portable reader is to see."""

    def line(self, i: int) -> int:
        """The number of the line in which a row begins."""

    def exactly(self) -> Rows:
        """The rows decoded one by one."""


class Lines:
    """Rows of JSON Lines, one on each line of a block, as `doubtful` has to show first."""

    def __init__(self, blocks: Blocks, text: bytes, line: int, typed: list[Any]) -> None:
        self.text = text if text.endswith(b"\n") else text + b"\n"
        self.typed = typed
        self._blocks = blocks
        self._line = line

        self.lines = len(typed)
        self._sizes: list[int] = []

    def doubtful(self, sizes: list[int], limit: int) -> list[int] | None:
        """Which lines are that much longer, if every one is a row."""
        self._sizes = sizes
        return longer_lines(self.text, sizes, limit)

    @cached_property
    def _ends(self) -> list[int]:
        """Where each row ends, not counting line ends."""
        return list(accumulate(self._sizes, initial=0))

    def raw(self, i: int) -> bytes:
        """The bytes of a row."""
        return self.text[self._ends[i] + i : self._ends[i + 1] + i]

    def value(self, i: int) -> Any:
        """What the portable reader is to see."""
        return self._blocks.decoder.row_or_bad(self.raw(i))

    def line(self, i: int) -> int:
        """The number of a row's line."""
        return self._line + i

    def exactly(self) -> Rows:
        """The rows decoded one by one."""
        self.lines = self.text.count(b"\n")  # blank ones too, which are no rows
        return self._blocks.one_by_one(self.text, self._line)


class ValueLines:
    """Rows of JSON Lines that are all left to the portable reader, decoded at once: one on each line of a block."""

    def __init__(self, text: bytes, line: int, values: list[Any]) -> None:
        self.text = text
        self.typed: list[Any] = [None] * len(values)
        self.lines = len(values)
        self._line = line
        self._values = values

    def doubtful(self, sizes: list[int], limit: int) -> list[int] | None:
        """None of them: they are exact."""
        return []

    def raw(self, i: int) -> bytes:
        """The bytes of a row."""
        return split(self.text)[i]

    def value(self, i: int) -> Any:
        """What the portable reader is to see."""
        return self._values[i]

    def line(self, i: int) -> int:
        """The number of a row's line."""
        return self._line + i

    def exactly(self) -> Rows:
        """These."""
        return self


class SingleLines:
    """Rows of JSON Lines that were decoded one by one: blank lines are none. `numbers` are those of their lines."""

    def __init__(self, blocks: Blocks, rows: list[bytes], numbers: list[int], typed: list[Any]) -> None:
        self.text = b"\n".join(rows)
        self.typed = typed
        self._blocks = blocks
        self._rows = rows
        self._numbers = numbers
        self.lines = 0

    def doubtful(self, sizes: list[int], limit: int) -> list[int] | None:
        """Which lines are that much longer."""
        return doubtful(map(sub, map(len, self._rows), sizes), limit)

    def raw(self, i: int) -> bytes:
        """The bytes of a row."""
        return self._rows[i]

    def value(self, i: int) -> Any:
        """What the portable reader is to see."""
        return self._blocks.decoder.row_or_bad(self._rows[i])

    def line(self, i: int) -> int:
        """The number of a row's line."""
        return self._numbers[i]

    def exactly(self) -> Rows:
        """These."""
        return self


class Items:
    """Rows of a JSON array: those of one of its blocks.

    `head` are the bytes with which the rows begin, None where they are to be found by their brackets; `values` what
    the portable reader is to see, where that is known.
    """

    def __init__(
        self,
        blocks: Blocks,
        source: Source,
        block: Block,
        typed: list[Any],
        head: bytes | None,
        values: list[Any] | None = None,
    ) -> None:
        self.text = block.text
        self.typed = typed
        self._blocks = blocks
        self._source = source
        self._block = block
        self._head = head
        self._values = values

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Where each row begins and ends."""
        return spans(self.text)

    def doubtful(self, sizes: list[int], limit: int) -> list[int] | None:
        """Which rows may be that much longer; None if they are not those that were decoded."""
        places = self._between_alike(sizes) if self._head else None
        if places is not None:
            self._places = places
        if len(self._places) != len(sizes):
            return None
        indent = (self._head or b"")[1:].partition(b'"')[0]
        spare = [end - start - size for (start, end), size in zip(self._places, sizes, strict=True)]
        if self._head and min(spare) < 0:  # these are other rows
            return None
        if indent.startswith(b"\n"):  # line breaks with the indentation of the columns are nothing but space
            for i, (start, end) in enumerate(self._places):
                spare[i] -= len(indent) * self.text.count(indent, start, end)
        return doubtful(spare, limit)

    def _between_alike(self, sizes: list[int]) -> list[tuple[int, int]] | None:
        """Where the rows are if between each two of them stands what stands between the first two."""
        text, head, places = self.text, self._head or b"", []
        start = len(text) - len(text.lstrip(SPACE))
        second = text.find(head, start + 1)
        found = ROW_END.search(text, max(0, second - 64), second) if second > 0 else None
        between = found[0] + head if found else b""
        close, gap = between.find(b"}") + 1, len(between) - len(head)
        more = 0  # how many bytes the last row took beyond its size
        for size in sizes[:-1]:
            at = start + size + more - close
            if not size or text[at : at + len(between)] != between:
                at = text.find(between, start) if between else -1
                if at < 0:
                    return None
                more = at + close - start - size
            places.append((start, at + close))
            start = at + gap
        return [*places, (start, len(text.rstrip(SPACE)))]

    def raw(self, i: int) -> bytes:
        """The bytes of a row."""
        start, end = self._places[i]
        return self.text[start:end]

    def value(self, i: int) -> Any:
        """What the portable reader is to see."""
        if self._values is not None:
            return self._values[i]
        return row_value(self._source, self._blocks.decoder, self._block, *self._places[i])

    def line(self, i: int) -> int:
        """The number of the line in which a row begins."""
        return self._block.line + self.text.count(b"\n", 0, self._places[i][0])

    def exactly(self) -> Rows:
        """The rows found by their brackets, and decoded one by one."""
        return self._blocks.items_one_by_one(self._source, self._block)


class Blocks:
    """Cuts files into blocks; `portable` makes it decode none of the rows of the following blocks."""

    def __init__(self, row_type: type, decoder: Decoder) -> None:
        self.decoder = decoder
        self._type = row_type
        self.portable = 0
        self._lines: Callable[[bytes], list[Any]] = msgspec.json.Decoder(row_type).decode_lines
        self._one: Callable[[bytes], Any] = msgspec.json.Decoder(row_type).decode
        self._list = msgspec.json.Decoder(list[row_type]).decode  # type: ignore[valid-type]

    def of_lines(self, source: Source) -> Iterator[Rows]:
        """The rows of JSON Lines; the source's line goes with them."""
        for block in whole_lines(source, SIZE):
            rows = self.lines(block, source.line, source.name)
            yield rows
            source.line += rows.lines

    def lines(self, block: bytes, line: int, name: str) -> Lines | ValueLines | SingleLines:
        """The rows of a block of whole lines."""
        if not self.portable:
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                check_utf8(block)
                return Lines(self, block, line, self._lines(block))
        if line == 1:
            refuse_other_encoding(block, split(block), name)
        if self.portable:
            values = at_once(block)
            if values is not None and self.decoder.is_exact(block, values):
                return ValueLines(block, line, values)
        return self.one_by_one(block, line)

    def one_by_one(self, block: bytes, line: int) -> SingleLines:
        """The rows of lines of which some are blank, broken, or not of the plan's type."""
        lines = split(block)
        kept = [i for i, raw in enumerate(lines) if raw.strip()]
        rows = [lines[i] for i in kept]
        made = SingleLines(self, rows, [line + i for i in kept], [self._try(raw) for raw in rows])
        made.lines = len(lines)
        return made

    def _try(self, raw: bytes) -> Any:
        if self.portable:
            return None
        try:
            raw.decode()
            return self._one(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def of_array(self, source: Source) -> Iterator[Rows]:
        """The rows of a JSON array."""
        any_row = False
        head: bytes | None = None
        for block in cut_array(source, SIZE, decode=self._array):
            if not block.text.strip(SPACE) and not any_row:
                continue  # an array without rows
            head = head or first_head(block.text)
            plain = block.value is not None and not self.portable and isinstance(block.value[0], self._type)
            yield Items(self, source, block, block.value, head) if plain else self.items_one_by_one(source, block)
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

    def items_one_by_one(self, source: Source, block: Block) -> Items:
        """The rows of a block of an array, found by their brackets and decoded one by one."""
        value = block.value
        other = value is not None and not isinstance(value[0], self._type)
        values = value if other and self.decoder.is_exact(block.text, value) else None
        typed = [self._try(block.text[start:end]) for start, end in spans(block.text)]
        return Items(self, source, block, typed, None, values)


def doubtful(spare: Iterable[int], limit: int) -> list[int]:
    """Which rows have that many bytes to spare; or fewer than none, which is no less strange."""
    return [i for i, more in enumerate(spare) if not 0 <= more < limit]
