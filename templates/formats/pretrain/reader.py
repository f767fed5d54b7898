"""Read pretraining rows: one text."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra, need_text
from dsreg.rowcode.constants import Constants


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one pretraining row; raises RowError."""
    sample: dict[str, Any] = {"task": "pretrain", "text": need_text(row, c, "text")}
    return add_extra(sample, row, c)
