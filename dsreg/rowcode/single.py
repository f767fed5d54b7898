"""One question and its answer as plain texts, with at most a system prompt before them: all that some targets hold."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.errors import RowError


def single_prompt(messages: list[dict[str, Any]]) -> tuple[str, str]:
    """The system prompt ("" for none) and the text of the one user's turn; raises RowError DS302 or DS305."""
    system, turns = "", messages
    if turns and turns[0]["role"] == "system":
        system, turns = single_text(turns[0], "messages[0]"), turns[1:]
    if len(turns) != 1 or turns[0]["role"] != "user":
        found = ", ".join(message["role"] for message in turns[:5]) or "nothing"
        raise RowError("DS302", "messages", f"the target holds one turn of the user before the answer, found {found}")
    return system, single_text(turns[0], f"messages[{len(messages) - 1}]")


def single_answer(messages: list[dict[str, Any]], path: str) -> str:
    """The text of an answer of one assistant's turn; raises RowError DS302 or DS305."""
    if len(messages) != 1 or messages[0]["role"] != "assistant" or "tool_calls" in messages[0]:
        raise RowError("DS302", path, "the target holds one text of the assistant as the answer")
    return single_text(messages[0], path)


def single_text(message: dict[str, Any], path: str) -> str:
    """The text of a message; raises RowError DS305 for content that is a list of parts."""
    content = message["content"]
    if not isinstance(content, str):
        raise RowError("DS305", f"{path}.content", "the target holds text only")
    return content
