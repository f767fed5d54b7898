"""ShareGPT's turns of from and value: read into the sample's messages, and back under LlamaFactory's order rule."""

from __future__ import annotations

from typing import Any, NoReturn

from dsreg.rowcode.columns import as_list, as_object, as_text, decode_json, load_json
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import json_text
from dsreg.rowcode.thinking import THINK_BLOCK

TURN_TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}
ROLE_TAGS = {
    "user_tag": "user",
    "assistant_tag": "assistant",
    "observation_tag": "tool",
    "function_tag": "function",
    "system_tag": "system",
}


def turn_roles(tags: dict[str, str]) -> dict[str, str]:
    """The role of each role name in the data. On equal names the later of LlamaFactory's order wins."""
    return {tags[tag]: role for tag, role in ROLE_TAGS.items() if tags.get(tag)}


def read_turns(value: Any, tags: dict[str, str], path: str) -> list[dict[str, Any]]:
    """Read a list of turns; `tags` are complete. Raises RowError with the path of the turn that cannot be used."""
    role_tag, content_tag = tags["role_tag"], tags["content_tag"]
    roles = turn_roles(tags)
    messages: list[dict[str, Any]] = []
    for i, turn in enumerate(as_list(value, path)):
        try:
            role, text = roles[turn[role_tag]], turn[content_tag]
        except (KeyError, TypeError):
            refuse_turn(turn, tags, f"{path}[{i}]")
        if type(text) is not str:
            as_text(text, f"{path}[{i}].{content_tag}")
        if role == "function":
            messages.append(read_function_turn(text, f"{path}[{i}].{content_tag}", i))
        elif role == "tool":
            read_observation(text, messages)
        else:
            messages.append({"role": role, "content": text})
        if len(turn) > 2:
            keep_other_keys(turn, tags, messages[-1])
    return messages


def refuse_turn(turn: Any, tags: dict[str, str], path: str) -> NoReturn:
    """Raise the RowError that says why a turn has no role that is known, or no text."""
    role_tag, content_tag, roles = tags["role_tag"], tags["content_tag"], turn_roles(tags)
    name = as_object(turn, path).get(role_tag)
    if not isinstance(name, str) or name not in roles:
        known = ", ".join(roles)
        raise RowError("DS206", f"{path}.{role_tag}", f"the role {name!r:.40} is not one of the tags: {known}")
    raise RowError("DS204", f"{path}.{content_tag}", "expected text, found null")


def keep_other_keys(turn: dict[str, Any], tags: dict[str, str], message: dict[str, Any]) -> None:
    """Carry what a turn has beside its role and text: the weight by its name, the rest as it is."""
    rest = {k: v for k, v in turn.items() if k not in (tags["role_tag"], tags["content_tag"]) and v is not None}
    weight = rest.get("weight")
    if weight in (0, 1) and not isinstance(weight, bool):
        message["weight"] = rest.pop("weight")
    if rest:
        message["other"] = rest


def read_function_turn(text: str, path: str, turn: int) -> dict[str, Any]:
    """An assistant message from the JSON text of one call or a list of calls, with a thought before it or not.

    Raises RowError DS210 for other text: LlamaFactory stops at it (data/formatter.py, FunctionFormatter).
    """
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    block = THINK_BLOCK.match(text) if text.startswith("<") else None
    if block is not None:
        text = text[block.end() :]
        if block[1]:
            message["thinking"] = block[1]
    calls = decode_json(text, path, "DS210", "the function call")
    calls = calls if isinstance(calls, list) else [calls]
    if not calls or not all(map(has_name, calls)):
        raise RowError("DS210", path, f"a function call needs a name: {text[:60]!r}")
    found: list[dict[str, Any]] = []
    for call in calls:
        if "arguments" not in call or len(call) != 2:
            raise RowError("DS210", path, f"a function call has a name and arguments, no more: {text[:60]!r}")
        arguments = call["arguments"]
        if type(arguments) is not dict:
            arguments = turn_arguments(arguments, path)
        found.append({"id": f"call_{turn}_{len(found)}", "name": call["name"], "arguments": arguments})
    message["tool_calls"] = found
    return message


def has_name(call: Any) -> bool:
    """Whether the value is an object with a name."""
    return isinstance(call, dict) and isinstance(call.get("name"), str)


def turn_arguments(value: Any, path: str) -> Any:
    """The arguments of a call: the object, decoded where it stands as JSON text, or other text as it is."""
    if isinstance(value, str):
        try:
            decoded = load_json(value)
        except ValueError:
            return value
        return decoded if isinstance(decoded, dict) else value
    return as_object({} if value is None else value, f"{path}.arguments")


def read_observation(text: str, messages: list[dict[str, Any]]) -> None:
    """Add an observation: one message, or one a call where a list of as many texts answers parallel calls."""
    calls = messages[-1].get("tool_calls", ()) if messages else ()
    if len(calls) > 1 and text.startswith("["):
        try:
            texts = load_json(text)
        except ValueError:
            texts = None
        if isinstance(texts, list) and len(texts) == len(calls) and all(isinstance(t, str) for t in texts):
            for t, call in zip(texts, calls, strict=True):
                messages.append({"role": "tool", "content": t, "tool_call_id": call["id"], "name": call["name"]})
            return
    if calls:
        call = calls[0]
        messages.append({"role": "tool", "content": text, "tool_call_id": call["id"], "name": call["name"]})
    else:
        messages.append({"role": "tool", "content": text})


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
            results = [message]
            while i < len(messages) and messages[i]["role"] == "tool":
                results.append(messages[i])
                i += 1
            calls = calls_before(messages, i - len(results))
            turn = {"from": "observation", "value": write_observation(results, calls, f"{path}[{i - 1}]")}
        elif role == "system":
            raise RowError("DS302", f"{path}[{i - 1}]", "a system message can only stand first in LlamaFactory")
        elif "tool_calls" in message:
            turn = {"from": "function_call", "value": write_function_turn(message, f"{path}[{i - 1}]")}
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


def calls_before(messages: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """The calls of the message before a place."""
    return messages[place - 1].get("tool_calls", []) if place else []


def write_observation(results: list[dict[str, Any]], calls: list[dict[str, Any]], path: str) -> str:
    """The text of an observation: of one result, or a list of texts in the order of the calls.

    Raises RowError DS306 where it could not be told again which result answers which call.
    """
    if len(calls) > 1:
        order = [call["id"] for call in calls]
        asked = [result.get("tool_call_id") for result in results]
        if any(call_id not in order for call_id in asked) or len(set(asked)) != len(asked):
            raise RowError("DS306", path, "the results do not say which of the parallel calls they answer")
        results = sorted(results, key=lambda result: order.index(result["tool_call_id"]))
        if len(results) != len(calls) and (len(results) > 1 or asked != order[:1]):
            raise RowError("DS306", path, f"{len(results)} results for {len(calls)} parallel calls")
    texts = [result["content"] for result in results]
    return texts[0] if len(texts) == 1 else json_text(texts, path)


def write_function_turn(message: dict[str, Any], path: str) -> str:
    """The text of a function_call turn: JSON of an object for one call, of a list for several, after the thought."""
    entries = [{"name": call["name"], "arguments": call["arguments"]} for call in message["tool_calls"]]
    text = json_text(entries[0] if len(entries) == 1 else entries, path)
    return f"<think>\n{message['thinking']}\n</think>\n\n{text}" if "thinking" in message else text
