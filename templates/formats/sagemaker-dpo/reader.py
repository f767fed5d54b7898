"""Read SageMaker preference rows: prompt, chosen, rejected, or the documented pair of whole dialogues."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_tools_and_extra, need_text, optional
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.sides import read_pair


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError. Without a prompt, both answers are whole dialogues that share it."""
    column = c.columns.get("prompt")
    has_prompt = column is not None and row.get(column) is not None
    if has_prompt or isinstance(optional(row, c, "chosen"), str):
        for name in ("prompt", "chosen", "rejected"):
            need_text(row, c, name)
    return add_tools_and_extra({"task": c.task, **read_pair(row, c)}, row, c)
