"""Read messages of content blocks, as Amazon Bedrock's Converse layout has them."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import as_list, as_object, as_text, need
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import json_text

CONVERSE_MEDIA = ("image", "video", "document")


def as_closed_object(value: Any, keys: tuple[str, ...], path: str) -> dict[str, Any]:
    """The object without its nulls; raises RowError DS217 for a key that has no place in a sample."""
    found = {key: inner for key, inner in as_object(value, path).items() if inner is not None}
    for key in found:
        if key not in keys:
            raise RowError("DS217", f"{path}.{key:.60}", f"Nova has no such key here, only {', '.join(keys)}")
    return found


def read_converse(row: dict[str, Any], c: Constants) -> tuple[list[dict[str, Any]], list[Any]]:
    """The system messages of a row, and its raw turns; raises RowError."""
    version_column = c.columns.get("schemaVersion")
    if version_column is not None and row.get(version_column) is not None:
        as_text(row[version_column], version_column)
    return read_converse_system(row, c), as_list(need(row, c, "messages"), c.columns["messages"])


def read_converse_system(row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """The system blocks of a row as system messages."""
    column = c.columns.get("system")
    if column is None or row.get(column) is None:
        return []
    messages = []
    for i, block in enumerate(as_list(row[column], column)):
        text = as_closed_object(block, ("text",), f"{column}[{i}]").get("text")
        messages.append({"role": "system", "content": as_text(text, f"{column}[{i}].text")})
    return messages


def read_tool_config(row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """The tools of a toolConfig as function definitions; raises RowError DS209 for an empty list."""
    column = c.columns.get("toolConfig")
    if column is None or row.get(column) is None:
        return []
    config = as_closed_object(row[column], ("tools",), column)
    tools = []
    for i, tool in enumerate(as_list(config.get("tools"), f"{column}.tools")):
        path = f"{column}.tools[{i}].toolSpec"
        spec = as_closed_object(tool, ("toolSpec",), f"{column}.tools[{i}]").get("toolSpec")
        spec = as_closed_object(spec, ("name", "description", "inputSchema"), path)
        function: dict[str, Any] = {key: spec[key] for key in ("name", "description") if key in spec}
        if "inputSchema" in spec:
            schema = as_closed_object(spec["inputSchema"], ("json",), f"{path}.inputSchema")
            function["parameters"] = schema.get("json")
        tools.append({"type": "function", "function": function})
    if not tools:
        raise RowError("DS209", f"{column}.tools", "the list of tools is empty")
    return tools


def read_converse_turn(raw: Any, path: str) -> list[dict[str, Any]]:
    """The messages of one turn: one, or a tool message for each result that a user's turn holds."""
    raw = as_closed_object(raw, ("role", "content"), path)
    role = raw.get("role")
    if role not in ("user", "assistant"):
        raise RowError("DS206", f"{path}.role", f"the role is {role!r:.40}; Nova knows user and assistant")
    return read_blocks(as_list(raw.get("content"), f"{path}.content"), role, f"{path}.content")


def read_blocks(blocks: list[Any], role: str, path: str) -> list[dict[str, Any]]:
    """The messages that the content blocks of one turn stand for."""
    message: dict[str, Any] = {"role": role, "content": ""}
    parts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    if not blocks:
        raise RowError("DS303", path, "the content is empty")
    for i, block in enumerate(blocks):
        at = f"{path}[{i}]"
        block = {kind: value for kind, value in as_object(block, at).items() if value is not None}
        if len(block) != 1:
            raise RowError("DS216", at, "a block has one key: text, image, video, document, toolUse, toolResult, …")
        kind, value = next(iter(block.items()))
        if kind == "text":
            parts.append({"type": "text", "text": as_text(value, f"{at}.text")})
        elif kind in CONVERSE_MEDIA:
            parts.append({"type": kind, "source": read_s3(value, f"{at}.{kind}")})
        elif kind == "reasoningContent" and role == "assistant" and "thinking" not in message:
            message["thinking"] = read_reasoning(value, f"{at}.reasoningContent")
        elif kind == "toolUse" and role == "assistant":
            message.setdefault("tool_calls", []).append(read_tool_use(value, f"{at}.toolUse"))
        elif kind == "toolResult" and role == "user":
            results.append(read_tool_result(value, f"{at}.toolResult"))
        else:
            raise RowError("DS216", at, f"a block `{kind:.40}` cannot stand here in a turn of the {role}")
    if results:
        if parts:
            raise RowError("DS216", path, "text or media beside tool results in one turn has no place in a dialogue")
        return results
    if len(parts) == 1 and parts[0]["type"] == "text":
        message["content"] = parts[0]["text"]
    elif parts:
        message["content"] = parts
    elif "tool_calls" not in message:
        raise RowError("DS303", path, "the turn holds reasoning and no answer")
    return [message]


def read_reasoning(value: Any, path: str) -> str:
    """The text of a reasoningContent block."""
    reasoning = as_closed_object(value, ("reasoningText",), path).get("reasoningText")
    text = as_closed_object(reasoning, ("text",), f"{path}.reasoningText").get("text")
    return as_text(text, f"{path}.reasoningText.text")


def read_s3(value: Any, path: str) -> dict[str, Any]:
    """The S3 object of a media block, with its format: {uri, bucketOwner, format}."""
    value = as_closed_object(value, ("format", "source"), path)
    source = as_object(value.get("source"), f"{path}.source")
    if not isinstance(source.get("s3Location"), dict):
        raise RowError("DS305", f"{path}.source", "Nova takes media by s3Location.uri only")
    location = as_closed_object(source["s3Location"], ("uri", "bucketOwner"), f"{path}.source.s3Location")
    as_text(location.get("uri"), f"{path}.source.s3Location.uri")
    if "format" in value:
        location["format"] = as_text(value["format"], f"{path}.format")
    return location


def read_tool_use(value: Any, path: str) -> dict[str, Any]:
    """One toolUse block as a call."""
    value = as_closed_object(value, ("toolUseId", "name", "input"), path)
    return {
        "id": as_text(value.get("toolUseId"), f"{path}.toolUseId"),
        "name": as_text(value.get("name"), f"{path}.name"),
        "arguments": as_object(value.get("input"), f"{path}.input"),
    }


def read_tool_result(value: Any, path: str) -> dict[str, Any]:
    """One toolResult block as a tool message; json content becomes its text."""
    value = as_closed_object(value, ("toolUseId", "content"), path)
    texts = []
    for i, block in enumerate(as_list(value.get("content"), f"{path}.content")):
        at = f"{path}.content[{i}]"
        block = as_closed_object(block, ("text", "json"), at)
        if set(block) == {"json"}:
            texts.append(json_text(block["json"], at))
        else:
            texts.append(as_text(block.get("text"), f"{at}.text"))
    if not texts:
        raise RowError("DS303", f"{path}.content", "the tool's answer is empty")
    content: Any = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
    return {"role": "tool", "content": content, "tool_call_id": as_text(value.get("toolUseId"), f"{path}.toolUseId")}
