"""The step between tasks: what one row for one task becomes for another.

Each function takes a sample and gives a list: empty when the row is set aside by the choice that was made.
"""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.errors import RowError
from dsreg.rowcode.features import find_features
from dsreg.rowcode.jsontext import json_text


def adapt_preference_to_kto(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Two rows: the chosen answer is desirable, the rejected one undesirable."""
    rest = {key: value for key, value in sample.items() if key not in ("chosen", "rejected")}
    return [
        {**rest, "task": "kto", "completion": sample["chosen"], "label": True},
        {**rest, "task": "kto", "completion": sample["rejected"], "label": False},
    ]


def adapt_preference_to_sft_chosen(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The chosen answer becomes the last turn."""
    rest = {key: value for key, value in sample.items() if key not in ("chosen", "rejected")}
    return [{**rest, "task": "sft", "messages": sample["messages"] + sample["chosen"]}]


def adapt_preference_to_sft_rejected(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The rejected answer becomes the last turn."""
    rest = {key: value for key, value in sample.items() if key not in ("chosen", "rejected")}
    return [{**rest, "task": "sft", "messages": sample["messages"] + sample["rejected"]}]


def adapt_preference_to_prompt_chosen(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The text of the chosen answer becomes the ground truth."""
    rest = {key: value for key, value in sample.items() if key not in ("chosen", "rejected")}
    answer = sample["chosen"]
    if len(answer) != 1:
        raise RowError("DS311", "chosen", "the chosen answer is not one message, so it cannot become the ground truth")
    return [{**rest, "task": "prompt", "answer": plain_answer(answer[0], "chosen")}]


def adapt_kto_to_sft_desirable(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """A desirable answer becomes the last turn; other rows are set aside."""
    rest = {key: value for key, value in sample.items() if key not in ("completion", "label")}
    return [{**rest, "task": "sft", "messages": sample["messages"] + sample["completion"]}] if sample["label"] else []


def adapt_kto_to_sft_undesirable(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """An undesirable answer becomes the last turn; other rows are set aside."""
    rest = {key: value for key, value in sample.items() if key not in ("completion", "label")}
    return [] if sample["label"] else [{**rest, "task": "sft", "messages": sample["messages"] + sample["completion"]}]


def adapt_sft_to_prompt(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The last assistant text becomes the ground truth."""
    messages = sample["messages"]
    if not messages or messages[-1]["role"] != "assistant":
        raise RowError("DS311", "messages", "the row does not end in an assistant's text, which would be the answer")
    answer = plain_answer(messages[-1], f"messages[{len(messages) - 1}]")
    return [{**sample, "task": "prompt", "messages": messages[:-1], "answer": answer}]


def plain_answer(message: dict[str, Any], path: str) -> str:
    """The text of an answer that has nothing else; raises RowError DS311 for what a ground truth would lose."""
    more = [key for key in message if key not in ("role", "content")]
    if more or not isinstance(message["content"], str):
        what = more[0] if more else "content of several parts"
        raise RowError("DS311", path, f"the answer has {what}, which a ground truth of text would lose")
    return message["content"]


def adapt_prompt_to_sft_answer(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer becomes the assistant's turn; rows without a text answer are set aside."""
    answer = sample.get("answer")
    if not isinstance(answer, str) or not answer:
        return []
    rest = {key: value for key, value in sample.items() if key != "answer"}
    turn = {"role": "assistant", "content": answer}
    return [{**rest, "task": "sft", "messages": [*sample["messages"], turn]}]


def adapt_to_pretrain(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The dialogue as plain text, turns separated by an empty line; undesirable answers are set aside.

    `left` names the features that text has no place for.
    """
    if sample["task"] == "kto" and not sample["label"]:
        return []
    left = find_features(sample) & {"tools", "weight", "name", "other_keys"}
    text = plain_text(dialogue(sample))
    return [{"task": "pretrain", "text": text, "extra": sample.get("extra", {}), "left": sorted(left)}]


def dialogue(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a sample with its answer: the chosen one, the completion, or the ground truth."""
    answer = sample.get("chosen") or sample.get("completion") or []
    if sample["task"] == "prompt" and isinstance(sample.get("answer"), str) and sample["answer"]:
        answer = [{"role": "assistant", "content": sample["answer"]}]
    return [*sample["messages"], *answer]


def plain_text(messages: list[dict[str, Any]]) -> str:
    """Text and tool calls of the messages, separated by empty lines. Media cannot be text: RowError DS312."""
    pieces = []
    for i, message in enumerate(messages):
        content = message["content"]
        if isinstance(content, list):
            if any(part["type"] != "text" for part in content):
                raise RowError("DS312", f"messages[{i}].content", "media cannot be written as text")
            content = "".join(part["text"] for part in content)
        if message.get("thinking"):
            pieces.append(message["thinking"])
        if content:
            pieces.append(content)
        for call in message.get("tool_calls", ()):
            entry = {"name": call["name"], "arguments": call["arguments"]}
            pieces.append(json_text(entry, f"messages[{i}]"))
    return "\n\n".join(pieces)
