"""Write OpenAI preference rows: input, preferred_output, non_preferred_output."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import check_calls, write_chat, write_tools
from dsreg.rowcode.columns import json_name
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The preference row of one sample; raises RowError DS302, DS306 or DS310."""
    messages = sample["messages"]
    if not messages or messages[-1]["role"] == "assistant":
        reason = "ends with the assistant" if messages else "has no messages"
        raise RowError("DS302", "messages", f"the input {reason}; an output must follow a turn of somebody else")
    given: dict[str, Any] = {"messages": write_chat(messages)}
    if sample.get("tools"):
        given["tools"] = write_tools(sample["tools"])
    parallel = sample.get("extra", {}).get("parallel_tool_calls")
    if parallel is not None:
        if not isinstance(parallel, bool):
            found = json_name(parallel)
            raise RowError("DS310", "parallel_tool_calls", f"expected true or false, found {found}")
        given["parallel_tool_calls"] = parallel
    return {
        "input": given,
        "preferred_output": openai_dpo_answer(sample, "chosen"),
        "non_preferred_output": openai_dpo_answer(sample, "rejected"),
    }


def openai_dpo_answer(sample: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """One output: a list of exactly one message of the assistant."""
    answer = sample[key]
    if len(answer) != 1 or answer[0]["role"] != "assistant":
        raise RowError("DS302", key, f"{len(answer)} messages; an output is exactly one message of the assistant")
    check_calls(sample["messages"] + answer)
    return write_chat(answer)
