"""Write OpenAI reinforcement rows: messages, tools, the ground truth, and further keys for graders."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import check_calls, write_chat, write_tools
from dsreg.rowcode.columns import refuse_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The reinforcement row of one sample; raises RowError DS302, DS306 or DS307."""
    messages = sample["messages"]
    if not messages or messages[-1]["role"] != "user":
        raise RowError("DS302", "messages", "the last message must be the user's, which the model is to answer")
    check_calls(messages)
    row: dict[str, Any] = {"messages": write_chat(messages)}
    for message in row["messages"]:
        if message["role"] == "system":
            message["role"] = c.options["system_role"]
    if sample.get("tools"):
        row["tools"] = write_tools(sample["tools"])
    extra = sample.get("extra", {})
    if "answer" in sample:
        key = c.options["answer_key"]
        if key in extra or key in ("messages", "tools", ""):
            reason = f"the row has another `{key}` beside its ground truth"
            raise RowError("DS307", key, f"{reason}; --option answer_key= names a free key")
        row[key] = sample["answer"]
    refuse_extra(extra, ("messages", "tools"), "OpenAI")
    return {**extra, **row}
