"""Messages of role and content, as OpenAI's API has them: read into the sample's messages, and back."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.columns import as_list, as_object, as_text, json_name
from dsreg.rowcode.errors import RowError

CHAT_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
CHAT_KEYS = frozenset(
    [
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "name",
        "weight",
        "reasoning_content",
        "reasoning",
        "function_call",
    ]
)


def read_chat(value: Any, path: str) -> list[dict[str, Any]]:
    """Read a list of chat messages; raises RowError with the path of the message that cannot be used."""
    messages = []
    for i, raw in enumerate(as_list(value, path)):
        if type(raw) is dict and len(raw) == 2:
            role, content = raw.get("role"), raw.get("content")
            if type(content) is str and (role == "user" or role == "assistant" or role == "system"):
                messages.append({"role": role, "content": content})
                continue
        messages.append(read_chat_message(raw, f"{path}[{i}]", i))
    return messages


def read_chat_message(raw: Any, path: str, turn: int) -> dict[str, Any]:
    """Read one chat message that is more than a role and text."""
    raw = as_object(raw, path)
    name = as_text(raw.get("role"), f"{path}.role")
    role = CHAT_ROLES.get(name)
    if role is None:
        raise RowError("DS206", f"{path}.role", f"the role {name!r} is not known: system, user, assistant, tool")
    calls = read_tool_calls(raw, path, turn)
    message: dict[str, Any] = {
        "role": role,
        "content": read_content(raw.get("content"), f"{path}.content", bool(calls)),
    }
    if calls:
        if role != "assistant":
            raise RowError("DS206", f"{path}.tool_calls", f"only an assistant can call tools, not {name!r}")
        message["tool_calls"] = calls
    thinking = raw.get("reasoning_content") or raw.get("reasoning")
    if thinking is not None and role == "assistant":
        message["thinking"] = as_text(thinking, f"{path}.reasoning_content")
    for key in ("tool_call_id", "name"):
        if raw.get(key) is not None:
            message[key] = as_text(raw[key], f"{path}.{key}")
    if raw.get("weight") is not None:
        message["weight"] = read_weight(raw["weight"], f"{path}.weight")
    other = {key: value for key, value in raw.items() if key not in CHAT_KEYS and value is not None}
    if other:
        message["other"] = other
    return message


def read_weight(value: Any, path: str) -> int:
    """The training weight of an assistant turn: 0 or 1."""
    if isinstance(value, bool) or value not in (0, 1):
        raise RowError("DS204", path, f"expected 0 or 1, found {value!r:.40}")
    return int(value)


def read_content(value: Any, path: str, called: bool) -> Any:
    """Content as text or a list of parts; null and absent are the empty text beside a tool call."""
    if isinstance(value, str):
        return value
    if value is None and called:
        return ""
    if not isinstance(value, list):
        raise RowError("DS204", path, f"expected text or a list of parts, found {json_name(value)}")
    parts = [read_part(part, f"{path}[{i}]") for i, part in enumerate(value)]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return parts


def read_part(raw: Any, path: str) -> dict[str, Any]:
    """One content part: OpenAI's text, image_url and input_audio, and the image, video, audio of chat templates."""
    raw = {key: value for key, value in as_object(raw, path).items() if value is not None}
    kind = raw.get("type", "text" if "text" in raw else None)
    if kind == "text":
        return {"type": "text", "text": as_text(raw.get("text", raw.get("value")), f"{path}.text")}
    base = kind.removesuffix("_url").removeprefix("input_") if isinstance(kind, str) else None
    if base not in ("image", "video", "audio"):
        raise RowError("DS216", f"{path}.type", f"content parts of type {kind!r:.40} are not known")
    source = next((raw[key] for key in (kind, base, "url", "path", "value") if key in raw), None)
    if isinstance(source, dict) and set(source) == {"url"}:
        source = source["url"]
    if source is None:
        raise RowError("DS216", path, f"the {base} part names no {base}")
    return {"type": base, "source": source}


def read_tool_calls(raw: dict[str, Any], path: str, turn: int) -> list[dict[str, Any]]:
    """The calls of a message: `tool_calls`, flat or nested under `function`, or the older `function_call`."""
    calls = raw.get("tool_calls")
    if calls is None and raw.get("function_call") is not None:
        calls, path = [raw["function_call"]], f"{path}.function_call"
    else:
        path = f"{path}.tool_calls"
    return [
        read_tool_call(call, f"{path}[{n}]", f"call_{turn}_{n}") for n, call in enumerate(as_list(calls or [], path))
    ]


def read_tool_call(raw: Any, path: str, default_id: str) -> dict[str, Any]:
    """One call as {id, name, arguments}; arguments that are no JSON object stay the text they are."""
    raw = as_object(raw, path)
    function = as_object(raw.get("function", raw), f"{path}.function")
    return {
        "id": as_text(raw.get("id") or default_id, f"{path}.id"),
        "name": as_text(function.get("name"), f"{path}.function.name"),
        "arguments": read_arguments(function.get("arguments"), f"{path}.function.arguments"),
    }


def read_arguments(value: Any, path: str) -> Any:
    """The decoded object of a call's arguments, or the text itself where it is not the JSON text of an object."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            decoded = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return value
        return decoded if isinstance(decoded, dict) else value
    return as_object(value, path)


def write_chat(messages: list[dict[str, Any]], arguments: str = "text") -> list[dict[str, Any]]:
    """Lay out messages as OpenAI's API has them; `arguments` of calls as JSON "text" or as an "object"."""
    return [
        {"role": m["role"], "content": m["content"]}
        if len(m) == 2 and type(m["content"]) is str
        else write_chat_message(m, arguments)
        for m in messages
    ]


def write_chat_message(message: dict[str, Any], arguments: str) -> dict[str, Any]:
    """Lay out one message that is more than a role and text."""
    content = message["content"]
    row: dict[str, Any] = {"role": message["role"]}
    row["content"] = content if isinstance(content, str) else [write_part(part) for part in content]
    if "thinking" in message:
        row["reasoning_content"] = message["thinking"]
    if "tool_calls" in message:
        row["content"] = row["content"] or None
        row["tool_calls"] = [write_tool_call(call, arguments) for call in message["tool_calls"]]
    for key in ("tool_call_id", "name", "weight"):
        if key in message:
            row[key] = message[key]
    row.update(message.get("other", {}))
    return row


def write_part(part: dict[str, Any]) -> dict[str, Any]:
    """Lay out one content part; a media source that is an object (a url with its detail) is kept as it is."""
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    key = "input_audio" if part["type"] == "audio" and isinstance(part["source"], dict) else f"{part['type']}_url"
    source = part["source"]
    return {"type": key, key: source if isinstance(source, dict) else {"url": source}}


def write_tool_call(call: dict[str, Any], arguments: str = "text") -> dict[str, Any]:
    """Lay out one call in OpenAI's nested form."""
    value = call["arguments"]
    if arguments == "text" and not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    elif arguments == "object" and isinstance(value, str):
        raise RowError("DS210", f"tool_calls.{call['name']}", f"the arguments are no JSON object: {value[:60]!r}")
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": value}}
