"""Write OpenAI chat rows: messages of role and content, with tool calls, content parts and reasoning."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import check_calls, write_chat, write_tools
from dsreg.rowcode.columns import carry_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.thinking import split_thinking


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The OpenAI row of one sample; raises RowError DS302, DS306 or DS310 where OpenAI would refuse the file."""
    if c.options["thinking"] == "split":
        sample = split_thinking(sample)
    messages = sample["messages"]
    if c.task == "kto":
        messages = messages + sample["completion"]
    row: dict[str, Any] = {"messages": write_chat(messages)}
    if c.task == "preference":
        row["chosen"] = openai_turn(sample, "chosen")
        row["rejected"] = openai_turn(sample, "rejected")
    else:
        openai_check(messages, c.task)
    if c.task == "kto":
        row["label"] = sample["label"]
    elif c.task == "prompt" and "answer" in sample:
        row["answer"] = sample["answer"]
    if sample.get("tools"):
        row["tools"] = write_tools(sample["tools"])
    return carry_extra(sample, row)


def openai_check(messages: list[dict[str, Any]], task: str) -> None:
    """Raise RowError for a dialogue that OpenAI's schema for training files does not allow."""
    if not messages:
        raise RowError("DS302", "messages", "the row has no messages")
    if task == "sft" and not any(message["role"] == "assistant" for message in messages):
        raise RowError("DS302", "messages", "no message is the assistant's, so there is nothing to train")
    check_calls(messages)
    for i, message in enumerate(messages):
        if "weight" in message and message["role"] != "assistant":
            raise RowError("DS310", f"messages[{i}].weight", "only an assistant's turn has a weight")


def openai_turn(sample: dict[str, Any], key: str) -> Any:
    """One answer as a message; several as a list. Raises RowError where nothing was asked before it."""
    if not sample["messages"]:
        raise RowError("DS302", "messages", "the row has no messages before its answers")
    openai_check(sample["messages"] + sample[key], "preference")
    answer = write_chat(sample[key])
    return answer[0] if len(answer) == 1 else answer
