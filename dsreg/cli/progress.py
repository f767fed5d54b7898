"""How far a long conversion is, on a terminal, after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dsreg.cli import output

if TYPE_CHECKING:
    from dsreg.runner import Conversion

_AFTER = 1.0
_EVERY = 0.2
_STEP = 256
"""Rows between two looks at the clock."""


@contextmanager
def progress(conversion: Conversion) -> Iterator[None]:
    """Count the rows that are read on the last line of the terminal; nothing where nobody would see it."""
    if output.is_quiet() or not sys.stderr.isatty():
        yield
        return
    counter = _Counter(conversion.source.name, conversion.steps.read_row)
    conversion.steps.read_row = counter
    try:
        yield
    finally:
        conversion.steps.read_row = counter.read_row
        counter.clear()


class _Counter:
    """A reader that counts its rows and shows the number now and then."""

    def __init__(self, name: str, read_row: Any) -> None:
        self.read_row = read_row
        self._label = output.cut(output.line(name), 40)
        self._rows = 0
        self._start = self._last = time.monotonic()
        self._shown = False

    def __call__(self, row: Any, constants: Any) -> Any:
        self._rows += 1
        if not self._rows % _STEP:
            self._tick()
        return self.read_row(row, constants)

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._start < _AFTER or now - self._last < _EVERY:
            return
        self._last, self._shown = now, True
        rate = self._rows / (now - self._start)
        sys.stderr.write(f"\r{self._label}: {self._rows:,} rows, {rate:,.0f} a second\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
