"""A piece of a data file as a source of its own."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from dsreg.rows.source import Source


class Span:
    """So many bytes of an open file, from its place on."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int) -> bytes:
        """The next bytes, `size` of them at most."""
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


class Piece(Source):
    """Bytes of a data file that are at hand, or come from `read`; they begin in the line `line`, behind `given` others.

    `before` is read before them, and stands for what is left out of the file.
    """

    def __init__(
        self, path: Path, read: bytes | Callable[[int], bytes], line: int, given: int = 0, before: bytes = b""
    ) -> None:
        self.path, self.name, self.line, self.given = path, str(path), line, given - len(before)
        self.raw_head, self.packed, self.encoding = b"", "", "utf-8"
        self._next = BytesIO(read).read if isinstance(read, bytes) else read
        self._pending = before

    def close(self) -> None:
        """Nothing is open."""
