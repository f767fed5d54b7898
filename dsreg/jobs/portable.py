"""Convert rows one by one, and write them in blocks of encoded rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsreg.jobs.order import Output, name_of
from dsreg.rows.encode import encode
from dsreg.rows.stream import RowStream
from dsreg.runner import Conversion, Reject, Tally, row_user

BLOCK = 1 << 18
"""How many bytes are written at a time."""


class Portable:
    """One pass over rows; adds to the tally."""

    def __init__(self, conversion: Conversion, tally: Tally, output: Output, reject: Callable[[Reject], None]) -> None:
        self.tally, self.output = tally, output
        self._name = name_of(output)
        self._made: list[bytes] = []
        self._size = 0
        self._convert = row_user(conversion, tally, self._encode, reject)

    def _encode(self, row: dict[str, Any]) -> None:
        data = encode(row, self._name, self.tally.written)
        self._made.append(data)
        self._size += len(data)

    def stream(self, rows: RowStream) -> None:
        """Convert all of these rows."""
        for value in rows:
            self._convert(rows, value)
            if self._size >= BLOCK:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        if self._made:
            self.output.write_joined(self.output.separator.join(self._made), len(self._made))
            self._made.clear()
            self._size = 0
