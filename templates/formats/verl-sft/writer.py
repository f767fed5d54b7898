"""Write verl's supervised rows: messages, tools, media."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import write_chat, write_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import json_text, text_or_json
from dsreg.rowcode.media import lift_media
from dsreg.rowcode.verl import media_texts


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS302 to DS310 for what verl has no place for."""
    flat, media = lift_media(sample["messages"], "messages")
    if not any(message["role"] == "assistant" for message in flat):
        raise RowError("DS302", "messages", "no message is the assistant's, so there is nothing to train")
    arguments = c.options["arguments"]
    for i, message in enumerate(flat):
        verl_sft_check_message(message, f"messages[{i}]", arguments)
    messages = write_chat(flat, arguments)
    for message in messages:
        message["content"] = message["content"] or ""
        message.pop("name", None)  # only a tool's: its call is named by tool_call_id
    row: dict[str, Any] = {"messages": messages}
    if sample.get("tools"):
        row["tools"] = verl_sft_tools(sample["tools"], c.options["parameters"] == "object")
    thinking = sample.get("extra", {}).get("enable_thinking")
    if thinking is not None:
        if not isinstance(thinking, bool):
            raise RowError("DS308", "enable_thinking", f"verl wants true or false here, found {thinking!r:.40}")
        row["enable_thinking"] = thinking
    return {**row, **media_texts(media)}


def survey_needed(c: Constants) -> bool:
    """Whether the file has to be seen as a whole first: when that decides how parameters are written."""
    return bool(c.options["parameters"] == "auto")


def survey(sample: dict[str, Any], c: Constants, notes: Any) -> None:
    """Note which tools there are, up to two kinds, and whether they could be kept as objects."""
    if sample.get("tools"):
        try:
            kind = f"tools {json_text(verl_sft_tools(sample['tools'], True), 'tools')}"
        except RowError:
            kind = "tools as text"
        if sum(seen.startswith("tools ") for seen in notes.counts) < 2:
            notes.see(kind, 0)


def decide(notes: Any, c: Constants) -> None:
    """Keep parameters as objects where all rows have the same tools."""
    kinds = [seen for seen in notes.counts if seen.startswith("tools ")]
    c.options["parameters"] = "text" if len(kinds) > 1 or "tools as text" in kinds else "object"


def verl_sft_tools(tools: list[Any], objects: bool) -> list[Any]:
    """The function definitions, their parameters as objects or as JSON text; raises RowError DS306."""
    rows = write_tools(tools)
    if not objects:
        rows = [{**row, "function": verl_sft_flat(row["function"])} for row in rows]
    try:
        return [verl_sft_full(row, f"tools[{i}]") for i, row in enumerate(rows)]
    except RecursionError:
        raise RowError("DS306", "tools", "nested too deeply") from None


def verl_sft_flat(function: dict[str, Any]) -> dict[str, Any]:
    """A function definition with its parameters as JSON text."""
    if function.get("parameters") is None:
        return function
    return {**function, "parameters": text_or_json(function["parameters"], "tools")}


def verl_sft_check_message(message: dict[str, Any], path: str, arguments: str) -> None:
    """Raise RowError DS310 for a key without a place, DS306 for arguments that Parquet cannot hold."""
    for key in message:
        if key not in ("role", "content", "tool_calls", "tool_call_id") and (key, message["role"]) != ("name", "tool"):
            raise RowError("DS310", f"{path}.{key}", "verl has no place for this")
    if arguments == "object" and any(call["arguments"] == {} for call in message.get("tool_calls", ())):
        raise RowError("DS306", path, "Parquet holds no empty object as arguments: --option arguments=text")


def verl_sft_full(value: Any, path: str) -> Any:
    """A copy without empty `properties`; raises RowError DS306 for another empty object, which Parquet cannot hold."""
    if isinstance(value, list):
        return [verl_sft_full(inner, f"{path}[{i}]") for i, inner in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        if inner == {}:
            if key != "properties":
                raise RowError("DS306", f"{path}.{key}", "an empty object cannot be kept in Parquet")
        else:
            found[key] = verl_sft_full(inner, f"{path}.{key}")
    return found
