"""Messages of role and content, as OpenAI's API has them: read into the sample's messages, and back."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.columns import as_list, as_object, as_text, json_name, load_json
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
# `index` is the place in a stream, which the order of the calls says as well.
CALL_KEYS = frozenset(["id", "type", "index", "function", "name", "arguments"])

# Made once: `json.dumps` makes an encoder a call.
JSON_TEXT = json.JSONEncoder(ensure_ascii=False)


def read_chat(value: Any, path: str, start: int = 0) -> list[dict[str, Any]]:
    """Read a list of chat messages; raises RowError with the path of the message that cannot be used.

    `start` is the place of the first message in the dialogue, for the ids of calls that have none.
    """
    messages = []
    linked = True
    for i, raw in enumerate(as_list(value, path)):
        if type(raw) is dict and len(raw) == 2:
            role, content = raw.get("role"), raw.get("content")
            if type(content) is str and (role == "user" or role == "assistant" or role == "system"):
                messages.append({"role": role, "content": content})
                continue
        message = read_chat_message(raw, f"{path}[{i}]", start + i)
        linked = linked and (message["role"] != "tool" or "tool_call_id" in message)
        messages.append(message)
    if not linked:
        link_results(messages)
    return messages


def link_results(messages: list[dict[str, Any]]) -> None:
    """Give each result without an id that of the first call before it that has no result yet, in place.

    Chat templates do without ids, and OpenAI's older `function` messages have none.
    """
    waiting: list[str] = []
    for message in messages:
        if message["role"] != "tool":
            waiting = [call["id"] for call in message.get("tool_calls", ())]
        elif message.get("tool_call_id") in waiting:
            waiting.remove(message["tool_call_id"])
        elif "tool_call_id" not in message and waiting:
            message["tool_call_id"] = waiting.pop(0)


def read_chat_message(raw: Any, path: str, turn: int) -> dict[str, Any]:
    """Read one chat message that is more than a role and text."""
    raw = as_object(raw, path)
    name = as_text(raw.get("role"), f"{path}.role")
    role = CHAT_ROLES.get(name)
    if role is None:
        raise RowError("DS206", f"{path}.role", f"the role {name!r:.40} is not known: system, user, assistant, tool")
    calls = read_tool_calls(raw, path, turn) if "tool_calls" in raw or "function_call" in raw else []
    content = raw.get("content")
    if type(content) is not str:
        content = read_content(content, f"{path}.content", bool(calls))
    message: dict[str, Any] = {"role": role, "content": content}
    if calls:
        if role != "assistant":
            raise RowError("DS206", f"{path}.tool_calls", f"only an assistant can call tools, not {name!r}")
        message["tool_calls"] = calls
    thinking = raw.get("reasoning_content") or raw.get("reasoning")
    if raw.get("reasoning") and raw["reasoning"] != thinking:
        raise RowError("DS217", f"{path}.reasoning", "`reasoning_content` and `reasoning` differ: which is meant?")
    if thinking is not None:
        if role != "assistant":
            raise RowError("DS206", f"{path}.reasoning_content", f"only an assistant can reason, not {name!r}")
        message["thinking"] = as_text(thinking, f"{path}.reasoning_content")
    for key in ("tool_call_id", "name"):  # empty text only fills a struct: it names nobody
        value = raw.get(key)
        if value is not None and value != "":
            message[key] = value if type(value) is str else as_text(value, f"{path}.{key}")
    if raw.get("weight") is not None:
        message["weight"] = read_weight(raw["weight"], f"{path}.weight")
    if not raw.keys() <= CHAT_KEYS:
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
    if called and (value is None or value == []):
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
    keys = [key for key in raw if key != "type"]
    if len(keys) > 1:
        raise RowError("DS216", path, f"a content part holds one thing; this one has {', '.join(keys)[:80]}")
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
    if calls and raw.get("function_call") is not None:
        raise RowError(
            "DS217", f"{path}.function_call", "the message has `tool_calls` and `function_call`: which is meant?"
        )
    if calls is None or calls == []:
        if raw.get("function_call") is None:
            return []
        return [read_tool_call(raw["function_call"], f"{path}.function_call", f"call_{turn}_0")]
    path = f"{path}.tool_calls"
    return [read_tool_call(call, f"{path}[{n}]", f"call_{turn}_{n}") for n, call in enumerate(as_list(calls, path))]


def read_tool_call(raw: Any, path: str, default_id: str) -> dict[str, Any]:
    """One call as {id, name, arguments}; arguments that are no JSON object stay the text they are."""
    raw = as_object(raw, path)
    function = as_object(raw.get("function", raw), f"{path}.function")
    if not raw.keys() <= CALL_KEYS:
        refuse_other_keys(raw, CALL_KEYS, path)
    if not function.keys() <= CALL_KEYS:
        refuse_other_keys(function, CALL_KEYS, f"{path}.function")
    return {
        "id": as_text(raw.get("id") or default_id, f"{path}.id"),
        "name": as_text(function.get("name"), f"{path}.function.name"),
        "arguments": read_arguments(function.get("arguments"), f"{path}.function.arguments"),
    }


def refuse_other_keys(raw: dict[str, Any], known: frozenset[str], path: str) -> None:
    """Raise RowError DS217 for a key that no layout has a place for and whose value would be lost."""
    for key, value in raw.items():
        if key not in known and value is not None:
            raise RowError("DS217", f"{path}.{key}", f"the key `{key}` of a call has no place in other layouts")


def read_arguments(value: Any, path: str) -> Any:
    """The decoded object of a call's arguments, or the text itself where it is not the JSON text of an object."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            decoded = load_json(value) if value and not value.isspace() else {}
        except ValueError:
            return value
        return decoded if isinstance(decoded, dict) else value
    return as_object(value, path)


def write_chat(messages: list[dict[str, Any]], arguments: str = "text") -> list[dict[str, Any]]:
    """Lay out messages as OpenAI's API has them; `arguments` of calls as JSON "text" or as an "object".

    Chat templates want an object, and text beside the call even where there is none: some print a null as "None",
    others break on it. Raises RowError DS306 for arguments that are no JSON object, where an object is wanted.
    """
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
        row["content"] = row["content"] or ("" if arguments == "object" else None)
        row["tool_calls"] = [write_tool_call(call, arguments) for call in message["tool_calls"]]
    for key in ("tool_call_id", "name", "weight"):
        if key in message:
            row[key] = message[key]
    for key, value in message.get("other", {}).items():
        if key in CHAT_KEYS:
            raise RowError(
                "DS310", f"messages.{key}", f"a further key is called `{key}`, which the layout has for itself"
            )
        row[key] = value
    return row


def write_part(part: dict[str, Any]) -> dict[str, Any]:
    """Lay out one content part; a media source that is an object (a url with its detail) is kept as it is."""
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    key = "input_audio" if part["type"] == "audio" and isinstance(part["source"], dict) else f"{part['type']}_url"
    source = part["source"]
    return {"type": key, key: source if isinstance(source, dict) else {"url": source}}


def write_tool_call(call: dict[str, Any], arguments: str = "text") -> dict[str, Any]:
    """Lay out one call in OpenAI's nested form; raises RowError DS306 for arguments that cannot be laid out."""
    value = call["arguments"]
    if arguments == "text" and not isinstance(value, str):
        try:
            value = JSON_TEXT.encode(value)
        except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
            raise RowError("DS306", "tool_calls", f"the arguments of {call['name']!r} cannot be JSON text") from None
    elif arguments == "object" and isinstance(value, str):
        reason = f"the arguments of {call['name']!r} are no JSON object: {value[:60]!r}"
        raise RowError("DS306", "tool_calls", reason)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": value}}


def write_tools(tools: list[Any]) -> list[dict[str, Any]]:
    """Lay out function definitions in OpenAI's nested form; raises RowError DS306 for one without a name."""
    rows = []
    for i, tool in enumerate(tools):
        row = tool if "function" in tool else {"type": "function", "function": tool}
        function = row["function"]
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise RowError("DS306", f"tools[{i}]", "a function definition needs a name")
        rows.append(row if "type" in row else {"type": "function", **row})
    return rows


def check_calls(messages: list[dict[str, Any]]) -> None:
    """Raise RowError DS306 where a call has no result before the next turn, or a result no call that waits for it.

    OpenAI refuses such files; only the end of a row may leave calls open (fine-tuning guide and API schema).
    """
    waiting: list[str] = []
    for i, message in enumerate(messages):
        if message["role"] == "tool":
            answered = message.get("tool_call_id")
            if answered not in waiting:
                reason = "names no call" if answered is None else f"names {answered!r}, no call that waits for a result"
                raise RowError("DS306", f"messages[{i}].tool_call_id", f"the result {reason}")
            waiting.remove(answered)
        elif waiting:
            reason = f"the call {waiting[0]!r} has no result before this turn of the {message['role']}"
            raise RowError("DS306", f"messages[{i}]", reason)
        elif "tool_calls" in message:
            waiting = [call["id"] for call in message["tool_calls"]]


def answer_part(messages: list[dict[str, Any]], path: str, where: str, start: int = 0) -> list[dict[str, Any]]:
    """The messages from `start` on, which are one answer; raises RowError DS202 unless they are the assistant's."""
    answer = messages[start:]
    if not answer:
        raise RowError("DS202", path, f"the {where} answer is empty")
    for i, message in enumerate(answer, start):
        if message["role"] not in ("assistant", "tool"):
            reason = f"the {where} answer must be the assistant's, not the {message['role']}'s"
            raise RowError("DS202", f"{path}[{i}].role", reason)
    return answer
