"""How a file is shared out: into stretches of whole rows, numbered in order, of which each worker takes every n-th."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from dsreg.errors import DataFileError
from dsreg.rows.arrays import SPACE, first_head, next_row
from dsreg.rows.columnar import columnar_parts, columnar_rest
from dsreg.rows.lines import whole_lines
from dsreg.rows.piece import Piece, Span
from dsreg.rows.source import BLOCK, MAX_ROW, Source

STRETCH = 1 << 20
"""How many bytes of a file a worker takes at a time."""


class Stretch(NamedTuple):
    """Some rows of a file, as a source of their own; `lines` end in them, None where whoever reads them counts."""

    source: Source
    lines: int | None = None


class Shares(Protocol):
    """A file that can be shared out."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def container(self) -> str:
        """What kind of file it is."""

    @property
    def length(self) -> int:
        """How many bytes of the file a stretch takes; more where a row is longer, fewer where they are packed."""

    def stretches(self, first: int, step: int, given: Iterator[bytes]) -> Iterator[Stretch]:
        """Every `step`-th stretch from the `first` on, with lines that count from its start.

        `given` are the stretches that come from `feed`, where there is one.
        """

    def feed(self) -> Iterator[bytes] | None:
        """What each stretch is made from, where the workers cannot read the file for themselves."""

    @contextmanager
    def rest(self, number: int, line: int) -> Iterator[Source]:
        """All that is left from that stretch on, which begins in that line."""


def numbered(path: Path, number: int, text: bytes, lines: int | None = None) -> Stretch:
    """The stretch of that number; the first line of any but the first has the number 2: it is not the file's first."""
    return Stretch(Piece(path, text, 2 if number else 1), lines)


@dataclass(frozen=True)
class Lines:
    """A file of UTF-8 lines: the lines that begin in a stretch belong to it."""

    path: Path
    container: str
    length: int

    def stretches(self, first: int, step: int, given: Iterator[bytes]) -> Iterator[Stretch]:
        """Every `step`-th stretch from the `first` on."""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            for number in range(first, -(-size // self.length), step):
                start = number * self.length
                begin, end = (next_line(file, place, size, self.path) for place in (start, start + self.length))
                file.seek(begin)
                span = Span(file, end - begin)
                yield Stretch(Piece(self.path, span.read, 2 if number else 1))

    def feed(self) -> None:
        """Workers read for themselves."""

    @contextmanager
    def rest(self, number: int, line: int) -> Iterator[Source]:
        """The file from the first line that begins in that stretch on."""
        with self.path.open("rb") as file:
            file.seek(next_line(file, number * self.length, self.path.stat().st_size, self.path))
            yield Piece(self.path, file.read, line)


def next_line(file: BinaryIO, place: int, size: int, path: Path) -> int:
    """The first place from `place` on where a line begins; `size` where there is none."""
    if place == 0 or place >= size:
        return min(place, size)
    file.seek(place - 1)
    line = file.readline(MAX_ROW + 1)
    if len(line) > MAX_ROW:
        message = f"a line is longer than {MAX_ROW >> 20} MiB"
        raise DataFileError(message, where=str(path), hint="is this one row per line, and text at all?")
    return min(place - 1 + len(line), size)


class Unclear(Exception):
    """Where the rows of an array begin cannot be told from a part of it."""


@dataclass(frozen=True)
class Array:
    """A JSON array in UTF-8, cut where the bytes that begin its first row follow `}` and a comma.

    Whether they begin a row, or an object inside of one, shows when a stretch is decoded: as long as all stretches
    before it are arrays when brackets are put around them, its begin was the begin of a row.
    """

    path: Path
    head: bytes
    length: int
    container: str = "json"

    def stretches(self, first: int, step: int, given: Iterator[bytes]) -> Iterator[Stretch]:
        """Every `step`-th stretch from the `first` on; raises Unclear where none can be cut."""
        with self.path.open("rb") as file:
            for number in count(first, step):
                before, begin = self._cut(file, number)
                if number and before == begin:
                    return
                end, following = self._cut(file, number + 1)
                file.seek(begin)
                text = file.read(following - begin)
                lines = text.count(b"\n")
                if following <= begin:  # a row that is longer than a stretch
                    text = b"]"
                elif end < following:  # not the file's own end
                    text = text[: end - begin] + b"]"
                yield numbered(self.path, number, self._bracket(number) + text, lines)

    def _bracket(self, number: int) -> bytes:
        """What has to stand before a stretch for it to be an array; the first begins with the file."""
        return b"[" if number else b""

    def _cut(self, file: BinaryIO, number: int) -> tuple[int, int]:
        """Where the rows before a stretch end, and where it begins: both the end of the file behind the last."""
        if number == 0:
            return 0, 0
        found = next_row(file, number * self.length, self.head)
        if found is None:
            raise Unclear
        return found

    def feed(self) -> None:
        """Workers read for themselves."""

    @contextmanager
    def rest(self, number: int, line: int) -> Iterator[Source]:
        """The array from the first row of that stretch on."""
        with self.path.open("rb") as file:
            _, begin = self._cut(file, number)
            file.seek(begin)
            yield Piece(self.path, file.read, line, begin, self._bracket(number))


@dataclass(frozen=True)
class Packed:
    """Lines that one process has to unpack, or to bring into UTF-8, before others can work on them."""

    path: Path
    container: str
    length: int

    def stretches(self, first: int, step: int, given: Iterator[bytes]) -> Iterator[Stretch]:
        """The stretches that are given."""
        for number, text in zip(count(first, step), given):
            yield numbered(self.path, number, text)

    def feed(self) -> Iterator[bytes]:
        """The bytes of all stretches."""
        with Source(self.path) as source:
            held: list[bytes] = []
            size = 0
            for block in whole_lines(source):
                held.append(block)
                size += len(block)
                if size >= self.length:
                    yield b"".join(held)
                    held, size = [], 0
            if held:
                yield b"".join(held)

    @contextmanager
    def rest(self, number: int, line: int) -> Iterator[Source]:
        """The lines from that stretch on."""
        left = islice(self.feed(), number, None)
        yield Piece(self.path, lambda size: next(left, b""), line)


@dataclass(frozen=True)
class Columns:
    """A Parquet or Arrow file, in parts as `dsreg.rows.columnar` counts them."""

    path: Path
    container: str
    length: int

    def stretches(self, first: int, step: int, given: Iterator[bytes]) -> Iterator[Stretch]:
        """Every `step`-th part from the `first` on."""
        with Source(self.path) as source:
            for part in columnar_parts(source, self.container, first, step):
                yield Stretch(part)

    def feed(self) -> None:
        """Workers read for themselves."""

    @contextmanager
    def rest(self, number: int, line: int) -> Iterator[Source]:
        """All parts from that on."""
        with Source(self.path) as source:
            yield columnar_rest(source, self.container, number)


def share(source: Source, container: str, length: int | None = None) -> Shares | None:
    """How an open file is shared out, which is left at its start; None for one that a single process has to read."""
    length = length or STRETCH
    plain = not source.packed and source.encoding == "utf-8" and not source.raw_head.startswith(b"\xef\xbb\xbf")
    if source.path.stat().st_size <= length:
        return None
    if container in ("parquet", "arrow"):
        return Columns(source.path, container, length)
    if container in ("jsonl", "txt"):
        return Lines(source.path, container, length) if plain else Packed(source.path, container, length)
    text = source.peek(BLOCK).lstrip(SPACE)
    head = first_head(text[1:]) if text[:1] == b"[" else None
    return Array(source.path, head, length) if container == "json" and plain and head else None
