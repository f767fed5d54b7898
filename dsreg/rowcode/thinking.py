"""Reasoning as `<think>…</think>` in front of an answer's text, and apart from it."""

from __future__ import annotations

import re
from typing import Any

from dsreg.rowcode.features import TURNS

# The line breaks that templates put around the block belong to it, not to the texts.
THINK_BLOCK = re.compile(r"<think>\n?(.*?)\n?</think>\n{0,2}", re.DOTALL)


def split_thinking(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample with the reasoning that answers begin with moved to `thinking`; an empty block just goes."""
    turns = {key: [split_message(message) for message in sample[key]] for key in TURNS if key in sample}
    return {**sample, **turns}


def split_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its reasoning apart, if it is an assistant's and begins with a whole block."""
    content = message["content"]
    if message["role"] != "assistant" or "thinking" in message or not isinstance(content, str):
        return message
    block = THINK_BLOCK.match(content)
    if block is None:
        return message
    split = {**message, "content": content[block.end() :]}
    return {**split, "thinking": block[1]} if block[1] else split


def inline_thinking(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample with reasoning written in front of the answer, as chat templates and LlamaFactory expect it."""
    turns = {key: [inline_message(message) for message in sample[key]] for key in TURNS if key in sample}
    return {**sample, **turns}


def inline_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its reasoning in front of its text; before a call it is `write_turns` that puts it there."""
    if "thinking" not in message or "tool_calls" in message:
        return message
    content = message["content"]
    block = f"<think>\n{message['thinking']}\n</think>\n\n"
    rest = {key: value for key, value in message.items() if key != "thinking"}
    return {**rest, "content": block + content if isinstance(content, str) else [text_part(block), *content]}


def text_part(text: str) -> dict[str, Any]:
    """A content part of text."""
    return {"type": "text", "text": text}
