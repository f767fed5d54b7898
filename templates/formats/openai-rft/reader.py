"""Read OpenAI reinforcement rows: messages, tools, and whatever keys the graders use."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import add_tools_and_extra, need
from dsreg.rowcode.constants import Constants


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one reinforcement row; raises RowError. A null ground truth is none."""
    messages = read_chat(need(row, c, "messages"), c.columns["messages"])
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    column = c.columns.get("answer")
    if column is not None and row.get(column) is not None:
        sample["answer"] = row[column]
    return add_tools_and_extra(sample, row, c)
