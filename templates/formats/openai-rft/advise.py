"""What to know about a file for OpenAI as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants

MINIMUM = 10
"""OpenAI refuses training files with fewer rows (fine-tuning guide)."""


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Only the number of rows matters."""


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """An advisory on too few rows."""
    if rows < MINIMUM:
        yield Advice("DS401", f"{rows:,} rows; OpenAI trains on {MINIMUM} or more", "add rows")
