"""Write verl's older rows, whose prompt is text."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.plain import write_plain
from dsreg.rowcode.verl import write_verl


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS308 for a prompt that is not one text of the user."""
    prompt = write_plain(sample["messages"], "prompt", "verl-legacy")
    if len(prompt) != 1 or prompt[0]["role"] != "user":
        raise RowError("DS308", "prompt", "a prompt of text is one turn of the user: --target verl holds more")
    return write_verl(sample, prompt[0]["content"], c, flat=False)
