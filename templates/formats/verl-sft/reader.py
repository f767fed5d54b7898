"""Read verl's supervised rows: messages, tools, media."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import as_object, decode_json, need, read_extra, read_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import without_nulls
from dsreg.rowcode.media import place_media
from dsreg.rowcode.verl import read_verl_media

VERL_SFT_KEYS = frozenset(["role", "content", "tool_calls", "tool_call_id", "name"])


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError."""
    column = c.columns.get("messages", "messages")
    messages = read_chat(need(row, c, "messages"), column)
    media = read_verl_media(row, c)
    if media:
        place_media(messages, media, column)
    for i, message in enumerate(messages):
        content = message["content"]
        if not isinstance(content, str) and all(part["type"] == "text" for part in content):
            raise RowError("DS216", f"{column}[{i}].content", "content of several texts has no place in verl")
        for key in message:
            if key not in VERL_SFT_KEYS:
                raise RowError("DS217", f"{column}[{i}].{key}", "verl knows only role, content and tool calls")
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    tools = read_tools(row, c)
    if tools:
        full = without_nulls(tools, c.columns["tools"], ("default", "const"))
        sample["tools"] = [verl_sft_tool(tool, f"{c.columns['tools']}[{i}]") for i, tool in enumerate(full)]
    extra = read_extra(row, c)
    if extra:
        sample["extra"] = extra
    return sample


def verl_sft_tool(tool: dict[str, Any], path: str) -> dict[str, Any]:
    """A function definition with its parameters decoded, which may stand as JSON text for Arrow's sake."""
    function = tool.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("parameters"), str):
        return tool
    path = f"{path}.function.parameters"
    schema = as_object(decode_json(function["parameters"], path, "DS209", "the schema"), path)
    return {**tool, "function": {**function, "parameters": schema}}
