"""ShareGPT's turns of from and value: read into the sample's messages, and back under LlamaFactory's order rule."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.columns import as_list, as_object, as_text, decode_json, load_json
from dsreg.rowcode.errors import RowError

TURN_TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}


def turn_roles(tags: dict[str, str]) -> dict[str, str]:
    """The role of each role name in the data. On equal names the later of LlamaFactory's order wins."""
    order = {
        "user_tag": "user",
        "assistant_tag": "assistant",
        "observation_tag": "tool",
        "function_tag": "function",
        "system_tag": "system",
    }
    return {tags[tag]: role for tag, role in order.items() if tags.get(tag)}


def read_turns(value: Any, tags: dict[str, str], path: str) -> list[dict[str, Any]]:
    """Read a list of turns; `tags` are complete. Raises RowError with the path of the turn that cannot be used."""
    role_tag, content_tag = tags["role_tag"], tags["content_tag"]
    roles = turn_roles(tags)
    messages: list[dict[str, Any]] = []
    for i, raw in enumerate(as_list(value, path)):
        turn = as_object(raw, f"{path}[{i}]")
        name, text = turn.get(role_tag), turn.get(content_tag)
        role = roles.get(name) if type(name) is str else None
        if role is None:
            known = ", ".join(roles)
            raise RowError("DS206", f"{path}[{i}].{role_tag}", f"the role {name!r:.40} is not one of the tags: {known}")
        if not isinstance(text, str):
            text = as_text(text, f"{path}[{i}].{content_tag}")
        if role == "function":
            messages.append(read_function_turn(text, f"{path}[{i}].{content_tag}", i))
        elif role == "tool":
            messages.extend(read_observation(text, messages))
        else:
            messages.append({"role": role, "content": text})
        if len(turn) > 2:
            keep_other_keys(turn, tags, messages[-1])
    return messages


def keep_other_keys(turn: dict[str, Any], tags: dict[str, str], message: dict[str, Any]) -> None:
    """Carry what a turn has beside its role and text: the weight by its name, the rest as it is."""
    rest = {k: v for k, v in turn.items() if k not in (tags["role_tag"], tags["content_tag"]) and v is not None}
    weight = rest.get("weight")
    if weight in (0, 1) and not isinstance(weight, bool):
        message["weight"] = rest.pop("weight")
    if rest:
        message["other"] = rest


def read_function_turn(text: str, path: str, turn: int) -> dict[str, Any]:
    """An assistant message from the JSON text of one call or a list of calls; raises RowError DS210."""
    calls = decode_json(text, path, "DS210", "the function call")
    calls = calls if isinstance(calls, list) else [calls]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        raise RowError("DS210", path, f"a function call needs a name: {text[:60]!r}")
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": f"call_{turn}_{n}", "name": call["name"], "arguments": turn_arguments(call, path)}
            for n, call in enumerate(calls)
        ],
    }


def turn_arguments(call: dict[str, Any], path: str) -> Any:
    """The arguments of a call: the object, decoded where it stands as JSON text, or other text as it is."""
    value = call.get("arguments", {})
    if isinstance(value, str):
        try:
            decoded = load_json(value)
        except ValueError:
            return value
        return decoded if isinstance(decoded, dict) else value
    return as_object({} if value is None else value, f"{path}.arguments")


def read_observation(text: str, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tool messages of an observation: one, or one a call where a list of as many texts answers parallel calls."""
    calls = before[-1].get("tool_calls", []) if before else []
    if len(calls) > 1 and text.startswith("["):
        try:
            texts = load_json(text)
        except ValueError:
            texts = None
        if isinstance(texts, list) and len(texts) == len(calls) and all(isinstance(t, str) for t in texts):
            return [
                {"role": "tool", "content": t, "tool_call_id": call["id"], "name": call["name"]}
                for t, call in zip(texts, calls, strict=True)
            ]
    message: dict[str, Any] = {"role": "tool", "content": text}
    if calls:
        message.update(tool_call_id=calls[0]["id"], name=calls[0]["name"])
    return [message]


def write_turns(messages: list[dict[str, Any]], path: str) -> tuple[str, list[dict[str, Any]]]:
    """The leading system text and the turns, in LlamaFactory's own names.

    Raises RowError DS302 where its rule is broken: human or observation at even places, gpt or function_call at odd
    ones, the system message only first (LlamaFactory 0.9.5, data/converter.py, SharegptDatasetConverter).
    """
    system = ""
    start = 0
    if messages and messages[0]["role"] == "system":
        system, start = messages[0]["content"], 1
    turns: list[dict[str, Any]] = []
    i = start
    while i < len(messages):
        message = messages[i]
        role = message["role"]
        i += 1
        if role == "tool":
            results = [message["content"]]
            while i < len(messages) and messages[i]["role"] == "tool":
                results.append(messages[i]["content"])
                i += 1
            text = results[0] if len(results) == 1 else json.dumps(results, ensure_ascii=False)
            turn = {"from": "observation", "value": text}
        elif role == "system":
            raise RowError("DS302", f"{path}[{i - 1}]", "a system message can only stand first in LlamaFactory")
        elif "tool_calls" in message:
            turn = {"from": "function_call", "value": write_function_turn(message["tool_calls"])}
        else:
            turn = {"from": "human" if role == "user" else "gpt", "value": message["content"]}
        even = turn["from"] in ("human", "observation")
        if even == bool(len(turns) % 2):
            previous = turns[-1]["from"] if turns else "the start"
            raise RowError(
                "DS302", f"{path}[{i - 1}]", f"`{turn['from']}` follows `{previous}`; LlamaFactory drops such rows"
            )
        turns.append(turn)
    return system, turns


def write_function_turn(calls: list[dict[str, Any]]) -> str:
    """The JSON text of a function_call turn: an object for one call, a list for several."""
    entries = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return json.dumps(entries[0] if len(entries) == 1 else entries, ensure_ascii=False)
