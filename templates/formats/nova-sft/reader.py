"""Read Amazon Nova SFT rows: system, messages of content blocks, toolConfig."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_read import read_converse, read_converse_turn, read_tool_config


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one Nova row; raises RowError."""
    messages, turns = read_converse(row, c)
    column = c.columns["messages"]
    for i, turn in enumerate(turns):
        messages.extend(read_converse_turn(turn, f"{column}[{i}]"))
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    tools = read_tool_config(row, c)
    if tools:
        sample["tools"] = tools
    return add_extra(sample, row, c)
