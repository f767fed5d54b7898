"""What to know about a file of benchmax rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants

FEWEST_ROWS, BEST_ROWS = 200, 1_000


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Nothing in a single row is worth noting."""


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    if rows < BEST_ROWS:
        wanted = f"{FEWEST_ROWS:,} or more for training to mean something, {BEST_ROWS:,} for best results"
        yield Advice("DS401", f"{rows:,} rows; benchmax recommends {wanted}", "add rows")
