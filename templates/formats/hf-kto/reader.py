"""Read unpaired preference rows of Hugging Face: prompt, completion, and whether it is a good one."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_tools_and_extra, need, need_label
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.sides import one_style, read_answer, read_prompt


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one KTO row; raises RowError."""
    if "chosen" in row and "rejected" in row and c.columns.get("completion") not in row:
        raise RowError("DS203", "completion", "the row is a pair of answers; hf-preference reads those")
    one_style(row, c, ["prompt", "completion"])
    messages = read_prompt(row, c)
    completion = read_answer(row, c, "completion", len(messages))
    sample = add_tools_and_extra({"task": c.task, "messages": messages, "completion": completion}, row, c)
    sample["label"] = hf_kto_label(row, c)
    return sample


def hf_kto_label(row: dict[str, Any], c: Constants) -> bool:
    """The label as a boolean; TRL also takes the numbers 1 and 0. Raises RowError DS212."""
    value = need(row, c, "label")
    return bool(value) if type(value) is int and value in (0, 1) else need_label(row, c, "label")
