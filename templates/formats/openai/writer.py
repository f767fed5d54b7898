"""Write OpenAI chat rows: messages of role and content, with tool calls, content parts and reasoning."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import write_chat
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The OpenAI row of one sample; raises RowError DS302 for a training row without an assistant's turn."""
    messages = sample["messages"]
    if c.task == "kto":
        messages = messages + sample["completion"]
    row: dict[str, Any] = {"messages": write_chat(messages)}
    if c.task == "sft":
        if not any(message["role"] == "assistant" for message in messages):
            raise RowError("DS302", "messages", "no message is the assistant's, so there is nothing to train")
    elif c.task == "preference":
        row["chosen"] = openai_turn(sample, "chosen")
        row["rejected"] = openai_turn(sample, "rejected")
    elif c.task == "kto":
        row["label"] = sample["label"]
    if c.task == "prompt" and "answer" in sample:
        row["answer"] = sample["answer"]
    if sample.get("tools"):
        row["tools"] = [t if "function" in t else {"type": "function", "function": t} for t in sample["tools"]]
    return {**sample["extra"], **row} if "extra" in sample else row


def openai_turn(sample: dict[str, Any], key: str) -> Any:
    """One answer as a message; several as a list."""
    answer = write_chat(sample[key])
    return answer[0] if len(answer) == 1 else answer
