"""Function definitions, calls and results in Amazon Bedrock's Converse layout, under Nova's rules."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dsreg.rowcode.columns import as_object
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.nova_text import checked_text, is_doubtful

# A call or, without a name, a result: the place of its turn, the call's id, and the tool's name.
Link = tuple[int, str, str | None]

SPEC_KEYS = frozenset(["type", "name", "description", "parameters", "strict"])


# The tools that were written last, by the identity of their list, with what they became.
TOOLS_WRITTEN: dict[int, tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]] = {}


def write_tools_once(tools: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The toolSpecs of function definitions by name; many rows share one list, and nothing changes what they share."""
    known = TOOLS_WRITTEN.get(id(tools))
    if known is None or known[0] is not tools:
        if len(TOOLS_WRITTEN) >= 512:
            TOOLS_WRITTEN.clear()
        known = TOOLS_WRITTEN[id(tools)] = (tools, write_tool_specs(tools))
    return known[1]


def write_tool_specs(tools: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The toolSpecs of function definitions by name; no two of one name. Raises RowError DS306."""
    specs = [write_tool_spec(tool, i) for i, tool in enumerate(tools)]
    named: dict[str, dict[str, Any]] = {}
    for i, spec in enumerate(specs):
        name = spec["toolSpec"]["name"]
        if name in named:
            raise RowError("DS306", f"tools[{i}].name", f"the tool {name!r:.60} is defined twice")
        named[name] = spec
    return named


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


def write_tool_result(message: dict[str, Any], links: list[Link], i: int, c: Constants) -> dict[str, Any]:
    """A tool's answer as text. A message without an id answers the first call before it that has no answer yet."""
    content = message["content"]
    if isinstance(content, str):
        if is_doubtful(content):
            checked_text(content, f"messages[{i}]", c)
        blocks = [{"text": content}]
    elif all(part["type"] == "text" for part in content):
        blocks = [{"text": checked_text(part["text"], f"messages[{i}]", c)} for part in content]
    else:
        raise RowError("DS305", f"messages[{i}]", "a tool's answer can only be text for Nova")
    return {"toolUseId": message.get("tool_call_id") or waiting_call(links), "content": blocks}


def waiting_call(links: list[Link]) -> str:
    """The id of the first call that no result names, or ""."""
    answered = {call_id for _, call_id, name in links if name is None}
    return next((call_id for _, call_id, name in links if name is not None and call_id not in answered), "")


def check_tool_links(links: list[Link], names: Collection[str]) -> None:
    """Each call is of a declared tool under an id of its own; each result is of a call that waits for one.

    The validators check names only where the row declares tools. Raises RowError DS306.
    """
    seen: set[str] = set()
    waiting: set[str] = set()
    for i, call_id, name in links:
        if name is not None:
            if names and name not in names:
                raise RowError("DS306", f"messages[{i}]", f"the tool {name!r:.60} is called but not defined")
            if call_id in seen:
                raise RowError("DS306", f"messages[{i}]", f"the call id {call_id!r:.60} is used twice")
            seen.add(call_id)
            waiting.add(call_id)
        elif call_id in waiting:
            waiting.discard(call_id)
        else:
            reason = f"a tool's answer names {call_id!r:.60}, which no open call has"
            raise RowError("DS306", f"messages[{i}]", reason)
