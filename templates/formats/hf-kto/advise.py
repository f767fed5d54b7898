"""What to know about a file of KTO rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.arrow import mixed_columns, observe_columns
from dsreg.rowcode.constants import Constants


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note the JSON types of the further columns."""
    observe_columns(row, number, notes)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """Advisories on columns of several types."""
    for message in mixed_columns(notes):
        yield Advice("DS411", message, "give the column one type")
