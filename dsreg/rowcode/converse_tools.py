"""Function definitions, calls and results in Amazon Bedrock's Converse layout, under Nova's rules."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import as_object
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.nova_text import checked_text

SPEC_KEYS = frozenset(["type", "name", "description", "parameters", "strict"])


def write_tool_config(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The toolConfig of function definitions; no two of one name. Raises RowError DS306."""
    specs = [write_tool_spec(tool, i) for i, tool in enumerate(tools)]
    names = [spec["toolSpec"]["name"] for spec in specs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise RowError("DS306", f"tools[{i}].name", f"the tool {name!r:.60} is defined twice")
    return {"tools": specs}


def write_tool_spec(tool: dict[str, Any], place: int) -> dict[str, Any]:
    """A function definition as toolSpec; Nova needs a description and parameters with a type.

    `strict` is left out: it tells OpenAI's API how to sample, and says nothing about the tool.
    """
    path = f"tools[{place}]"
    function = as_object(tool.get("function", tool), path)
    name, description = function.get("name"), function.get("description")
    schema = function.get("parameters")
    if not isinstance(name, str) or not name:
        raise RowError("DS306", f"{path}.name", "Nova wants a name for each tool")
    if not isinstance(description, str) or not description:
        raise RowError("DS306", f"{path}.description", f"Nova wants a description of the tool {name!r:.60}")
    if not isinstance(schema, dict) or "type" not in schema:
        raise RowError("DS306", f"{path}.parameters", f"Nova wants parameters with a `type` for the tool {name!r:.60}")
    if not function.keys() <= SPEC_KEYS:
        for key in function:
            if key not in SPEC_KEYS and function[key] is not None:
                raise RowError("DS306", f"{path}.{key}", f"Nova has no place for {key!r:.40} of the tool {name!r:.60}")
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


def write_tool_use(call: dict[str, Any], path: str) -> dict[str, Any]:
    """One call as a block; raises RowError DS210 for arguments that are no object."""
    if not isinstance(call["arguments"], dict):
        raise RowError("DS210", path, f"the arguments of {call['name']!r:.60} are no JSON object")
    return {"toolUse": {"toolUseId": call["id"], "name": call["name"], "input": call["arguments"]}}


def write_tool_result(message: dict[str, Any], turns: list[dict[str, Any]], path: str, c: Constants) -> dict[str, Any]:
    """A tool's answer as text. A message without an id answers the first call before it that has no answer yet."""
    content = message["content"]
    if isinstance(content, str):
        blocks = [{"text": checked_text(content, path, c)}]
    elif all(part["type"] == "text" for part in content):
        blocks = [{"text": checked_text(part["text"], path, c)} for part in content]
    else:
        raise RowError("DS305", path, "a tool's answer can only be text for Nova")
    return {"toolUseId": message.get("tool_call_id") or waiting_call(turns), "content": blocks}


def waiting_call(turns: list[dict[str, Any]]) -> str:
    """The id of the first call that no result names, or ""."""
    blocks = [block for turn in turns for block in turn["content"]]
    answered = {block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block}
    asked = (block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block)
    return next((call_id for call_id in asked if call_id not in answered), "")


def check_tool_links(row: dict[str, Any]) -> None:
    """Each call is of a declared tool under an id of its own; each result is of a call that waits for one.

    The validators check names only where the row declares tools. Raises RowError DS306.
    """
    names = {spec["toolSpec"]["name"] for spec in row.get("toolConfig", {}).get("tools", [])}
    seen: set[str] = set()
    waiting: set[str] = set()
    for i, turn in enumerate(row["messages"]):
        for block in turn["content"]:
            if "toolUse" in block:
                name, call_id = block["toolUse"]["name"], block["toolUse"]["toolUseId"]
                if names and name not in names:
                    raise RowError("DS306", f"messages[{i}]", f"the tool {name!r:.60} is called but not defined")
                if call_id in seen:
                    raise RowError("DS306", f"messages[{i}]", f"the call id {call_id!r:.60} is used twice")
                seen.add(call_id)
                waiting.add(call_id)
            elif "toolResult" in block:
                call_id = block["toolResult"]["toolUseId"]
                if call_id not in waiting:
                    reason = f"a tool's answer names {call_id!r:.60}, which no open call has"
                    raise RowError("DS306", f"messages[{i}]", reason)
                waiting.discard(call_id)
