"""Messages of a role and a text, and nothing else: all that the prompts of reinforcement learning hold."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.errors import RowError

PLAIN_ROLES = ("system", "user", "assistant")


def check_plain(messages: list[dict[str, Any]], path: str, target: str) -> None:
    """Raise RowError DS302 for another role, DS306 for tool calls, DS310 for other keys of a message."""
    for i, message in enumerate(messages):
        if message["role"] not in PLAIN_ROLES:
            raise RowError("DS302", f"{path}[{i}].role", f"{target} holds no turn of the role {message['role']!r:.40}")
        for key in message:
            if key not in ("role", "content"):
                code = "DS306" if key == "tool_calls" else "DS310"
                raise RowError(code, f"{path}[{i}].{key}", f"{target} holds only role and content of a message")


def write_plain(messages: list[dict[str, Any]], path: str, target: str) -> list[dict[str, Any]]:
    """The messages as role and text, read or to be written; raises RowError DS302 to DS310 for more than that."""
    check_plain(messages, path, target)
    for i, message in enumerate(messages):
        if not isinstance(message["content"], str):
            raise RowError("DS305", f"{path}[{i}].content", f"{target} holds text only")
    return [{"role": message["role"], "content": message["content"]} for message in messages]
