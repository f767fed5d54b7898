"""Read SageMaker rows for supervised fine-tuning: prompt and completion, or the documented list of messages."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import add_extra, need_text, optional
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.sides import under_system


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError, also for a row that has both layouts or neither."""
    column = c.columns.get("messages")
    if column is not None and row.get(column) is not None:
        for name in ("prompt", "completion"):
            if optional(row, c, name) is not None:
                raise RowError("DS203", column, f"the row has `{c.columns[name]}` and `{column}`: which is meant?")
        messages = read_chat(row[column], column)
    else:
        messages = [
            {"role": "user", "content": need_text(row, c, "prompt")},
            {"role": "assistant", "content": need_text(row, c, "completion")},
        ]
    sample: dict[str, Any] = {"task": c.task, "messages": under_system(messages, row, c)}
    return add_extra(sample, row, c)
