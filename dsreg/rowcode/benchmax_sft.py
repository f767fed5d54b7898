"""The parts of a benchmax-sft-v1 row, each under the rules of benchmax.sft.SftDataset (benchmax 0.2.4 and later)."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.chat import write_tool_call, write_tools
from dsreg.rowcode.errors import RowError

SFT_METADATA_BYTES, SFT_ROW_BYTES, SFT_DEPTH = 64 * 1024, 1024 * 1024, 64


def write_sft_message(message: dict[str, Any], path: str) -> dict[str, Any]:
    """One message with exactly the keys of its role; raises RowError DS303, DS305, DS306 or DS310."""
    role, content = message["role"], message["content"]
    allowed = {"assistant": ("tool_calls", "weight"), "tool": ("tool_call_id", "name")}.get(role, ())
    for key in message:
        if key not in ("role", "content", *allowed):
            raise RowError("DS310", f"{path}.{key}", f"benchmax-sft-v1 has no place for this in a turn of the {role}")
    if not isinstance(content, str):
        raise RowError("DS305", f"{path}.content", "benchmax-sft-v1 takes text only")
    calls = message.get("tool_calls", ())
    if not content and not calls and role != "tool":
        raise RowError("DS303", f"{path}.content", "the text is empty")
    row: dict[str, Any] = {"role": role}
    if content or not calls:
        row["content"] = content
    if calls:
        row["tool_calls"] = [write_sft_call(call, path) for call in calls]
    if role == "tool" and message.get("tool_call_id"):
        row["tool_call_id"] = message["tool_call_id"]
    if "weight" in message:
        row["weight"] = message["weight"]
    return row


def write_sft_call(call: dict[str, Any], path: str) -> dict[str, Any]:
    """One call; its arguments must be an object, and its name not empty."""
    if not isinstance(call["arguments"], dict):
        raise RowError("DS210", path, f"the arguments of {call['name']!r:.60} are no JSON object")
    if not call["name"]:
        raise RowError("DS306", path, "a call needs the name of a tool")
    return write_tool_call(call)


def write_sft_tools(tools: list[Any]) -> list[dict[str, Any]]:
    """The function definitions, closed; raises RowError DS306."""
    rows = write_tools(tools)
    if len(rows) > 128:
        raise RowError("DS306", "tools", f"{len(rows)} tools; benchmax-sft-v1 takes 128")
    names: set[str] = set()
    for i, row in enumerate(rows):
        path = f"tools[{i}].function"
        if row.keys() != {"type", "function"} or row["type"] != "function":
            raise RowError("DS306", f"tools[{i}]", "a tool has two keys: type, which is `function`, and function")
        function = {key: value for key, value in row["function"].items() if value is not None and key != "type"}
        for key in function:
            if key not in ("name", "description", "parameters"):
                raise RowError("DS306", f"{path}.{key}", "benchmax-sft-v1 has no such key in a tool")
        name, schema = function["name"], function.get("parameters")
        if not name or name in names:
            raise RowError("DS306", f"{path}.name", f"the name {name!r:.60} is empty or used twice")
        names.add(name)
        if not isinstance(function.get("description", ""), str):
            raise RowError("DS306", f"{path}.description", "a description is text")
        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            raise RowError("DS306", f"{path}.parameters", "benchmax-sft-v1 wants parameters of type object")
        rows[i] = {"type": "function", "function": function}
    return rows


def write_metadata(extra: dict[str, Any], option: str) -> dict[str, Any]:
    """The metadata of a row: its own, and with "extras" all further columns; raises RowError DS310."""
    own = extra.get("metadata")
    if own is not None and not isinstance(own, dict):
        raise RowError("DS310", "metadata", "metadata must be an object")
    metadata = dict(own or {})
    if option == "extras":
        for key, value in extra.items():
            if key == "metadata":
                continue
            if key in metadata:
                raise RowError("DS310", f"metadata.{key}", "the row has this both as a column and in its metadata")
            metadata[key] = value
    for key in metadata:
        if key == "tools" or key.startswith("_castform_"):
            raise RowError("DS310", f"metadata.{key:.60}", "benchmax-sft-v1 reserves this key")
    if metadata and canonical_size(metadata, "metadata") > SFT_METADATA_BYTES:
        raise RowError("DS310", "metadata", "metadata is larger than 64 KiB")
    return metadata


def check_size(row: dict[str, Any]) -> None:
    """Raise RowError DS310 for a row of more than 1 MiB or 64 levels."""
    if canonical_size(row, "") > SFT_ROW_BYTES:
        raise RowError("DS310", "", "the row is larger than 1 MiB")
    for key in ("tools", "metadata"):
        if key in row and not fits_depth(row[key], SFT_DEPTH - 1):
            raise RowError("DS310", key, f"nested deeper than {SFT_DEPTH} levels")


def fits_depth(value: Any, levels: int) -> bool:
    """Whether the value is nested no deeper than so many levels."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(fits_depth(item, levels - 1) for item in inner)


def canonical_size(value: Any, path: str) -> int:
    """The bytes of the value's canonical JSON text; raises RowError DS310 for what has none."""
    try:
        return len(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    except (ValueError, RecursionError):  # NaN, half a surrogate pair, too deep
        raise RowError("DS310", path, "the row has no canonical JSON text: NaN, or half a surrogate pair") from None
