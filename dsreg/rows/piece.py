"""A piece of a data file as a source of its own."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from dsreg.rows.source import Source


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
