"""Read benchmax-sft-v1 rows: messages, tools, metadata."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import need, read_extra, read_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

BENCHMAX_SFT_KEYS = frozenset(["role", "content", "tool_calls", "tool_call_id", "weight"])


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError."""
    column = c.columns.get("messages", "messages")
    messages = read_chat(need(row, c, "messages"), column)
    for i, message in enumerate(messages):
        if not isinstance(message["content"], str):
            raise RowError("DS216", f"{column}[{i}].content", "benchmax-sft-v1 takes text only")
        for key in message:
            if key not in BENCHMAX_SFT_KEYS:
                raise RowError("DS217", f"{column}[{i}].{key}", "benchmax-sft-v1 has no such key in a message")
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    tools = read_tools(row, c)
    if tools:
        sample["tools"] = tools
    extra = {key: value for key, value in read_extra(row, c).items() if value is not None}
    if extra:
        sample["extra"] = extra
    return sample
