"""What a training stage does with an aligned row (data/loader.py:177-181, data/processor/*, formatter.py).

Tokenising is that of the `default` template, without a tokenizer: only what makes it stop is followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .outcome import Fatal, RowAbort, Stop
from .resolve import Entry

STAGES = ("pt", "sft", "rm", "dpo", "kto", "ppo")
_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_THOUGHT = re.compile(r"<think>\n(.*?)\n</think>\n\n", re.DOTALL)


_AS_TEXT = ("user", "assistant", "observation")


def guard(entry: Entry, stage: str) -> None:
    """Raise Stop("stage") where the entry's `ranking` does not fit; the test is one of identity, not of truth."""
    ranked_stage = stage in ("rm", "dpo")
    if ranked_stage and entry.ranking is False:
        raise Stop(Fatal("stage", _NOT_APPLICABLE, "stage_needs_ranking", "ranking"))
    if not ranked_stage and entry.ranking is True:
        raise Stop(Fatal("stage", _NOT_APPLICABLE, "stage_forbids_ranking", "ranking"))


_NOT_APPLICABLE = "The dataset is not applicable in the current training stage."


def takes(prompt: list[Any], response: list[Any], stage: str) -> bool:
    """Whether the stage's processor keeps the row; every other row is dropped with `Dropped invalid example`."""
    if stage == "pt":
        return True
    if len(prompt) % 2 != 1:
        return False
    if stage == "sft":
        return len(response) == 1
    return stage == "ppo" or len(response) >= 2


def tokenise(aligned: dict[str, Any], stage: str) -> None:
    """Go through the texts of a row that is kept; raises RowAbort where tokenising would stop the run."""
    prompt, response = aligned["_prompt"], aligned["_response"]
    system, tools = aligned["_system"], aligned["_tools"]
    if stage == "pt":
        if not prompt:
            raise RowAbort("empty_prompt_pt", "_prompt", "IndexError: list index out of range")
        _text(prompt[0]["content"], "_prompt[0].content")
    elif stage == "kto":
        answer = response[0] if response[0]["content"] else response[1]
        _encode([*prompt, answer], len(prompt), system, tools)
    elif stage in ("rm", "dpo"):
        for answer in response[:2]:
            _encode([*prompt, answer], len(prompt), system, tools)
    else:
        _encode([*prompt, *response[:1]] if len(response) == 1 else prompt, len(prompt), system, tools)


def _encode(messages: list[dict[str, Any]], prompts: int, system: Any, tools: Any) -> None:
    if system or tools:
        text = _tool_text(tools) if tools else ""
        if not isinstance(system or "", str):
            raise RowAbort("system_not_text", "_system", f"TypeError: the system prompt is {_type(system)}, not text")
        _text((system or "") + text, "_system")
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role in _AS_TEXT and isinstance(content, str):
            continue
        path = f"_prompt[{at}]" if at < prompts else "_response"
        if role in _AS_TEXT:
            _text(content, f"{path}.content")
        elif role == "function":
            _function_text(content, f"{path}.content")
        else:
            raise RowAbort("role_not_allowed", f"{path}.role", f"NotImplementedError: Unexpected role: {role}")


def _text(content: Any, path: str) -> None:
    if not isinstance(content, str):
        raise RowAbort("content_not_text", path, f"RuntimeError: Expected a string, got {content}")


def _tool_text(tools: Any) -> str:
    """The tools as the default formatter writes them (formatter.py ToolFormatter, tool_utils.py)."""
    if not isinstance(tools, str | bytes):
        message = f"TypeError: the JSON object must be str, bytes or bytearray, not {_type(tools)}"
        raise RowAbort("tools_not_json", "_tools", message)
    return _described(tools)


@lru_cache(maxsize=64)
def _described(tools: Any) -> str:
    try:
        decoded = json.loads(tools)
        return "".join(map(_tool, decoded)) if len(decoded) else ""
    except ValueError:
        raise RowAbort("tools_not_json", "_tools", f"Invalid JSON format in tool description: {[tools]}.") from None
    except (TypeError, KeyError, AttributeError, RecursionError) as err:
        raise RowAbort("tools_shape", "_tools", f"{type(err).__name__}: {err}") from None


def _tool(tool: Any) -> str:
    """One tool as text; fails exactly where the original fails."""
    tool = tool.get("function", "") if tool.get("type") == "function" else tool
    text = ""
    for name, parameter in tool["parameters"]["properties"].items():
        required = ", required" if name in tool["parameters"].get("required", []) else ""
        enum = items = ""
        if parameter.get("enum", None):
            enum = ", should be one of [{}]".format(", ".join(parameter["enum"]))
        if parameter.get("items", None):
            items = ", where each item should be {}".format(parameter["items"].get("type", ""))
        kind, about = parameter.get("type", ""), parameter.get("description", "")
        text += f"  - {name} ({kind}{required}): {about}{enum}{items}\n"
    # the names are joined to one text, so they must be text
    return "".join([tool["name"]]) + str(tool.get("description", "")) + text


def _function_text(content: Any, path: str) -> None:
    """The text of a function call (formatter.py FunctionFormatter)."""
    if not isinstance(content, str):
        raise RowAbort("content_not_text", path, f"TypeError: expected string, got {_type(content)}")
    call = _CALL.search(content)
    thought = None if call else _THOUGHT.search(content)
    part = call.group(1) if call else content.replace(thought.group(0), "") if thought else content
    try:
        decoded = json.loads(part)
    except (ValueError, RecursionError):
        raise RowAbort("call_not_json", path, f"Invalid JSON format in function message: {[content]}.") from None
    for one in decoded if isinstance(decoded, list) else [decoded]:
        if not isinstance(one, dict):
            raise RowAbort("call_shape", path, f"TypeError: a call is {_type(one)}, not an object")
        for key in ("name", "arguments"):
            if key not in one:
                raise RowAbort("call_shape", path, f"KeyError: {key!r}")


def surely_taken(tools: Iterable[str] = (), calls: Iterable[str] = ()) -> bool:
    """Whether these texts of tools and of function calls stop no stage; says no where it would take long to tell."""
    try:
        for text in tools:
            if text:
                _tool_text(text)
        return all(map(_is_call, calls))
    except (RowAbort, ValueError):
        return False


def _is_call(text: str) -> bool:
    if "<t" in text or len(text) > _LONG or text.count("[") + text.count("{") > _DEEP:
        _function_text(text, "")
        return True
    import orjson

    found = orjson.loads(text)
    calls = found if isinstance(found, list) else [found]
    return all(isinstance(call, dict) and "name" in call and "arguments" in call for call in calls)


_LONG, _DEEP = 4_000, 100  # what Python's parser refuses, and orjson takes, is longer or deeper


def _type(value: Any) -> str:
    return type(value).__name__
