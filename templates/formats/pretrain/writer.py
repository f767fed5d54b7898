"""Write pretraining rows: one text."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import carry_extra
from dsreg.rowcode.constants import Constants


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The pretraining row of one sample."""
    row = {"text": sample["text"]}
    return carry_extra(sample, row)
