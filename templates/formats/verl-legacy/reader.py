"""Read verl's older rows, whose prompt is text."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import need_text
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.verl import read_verl


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError."""
    return read_verl(row, [{"role": "user", "content": need_text(row, c, "prompt")}], c)
