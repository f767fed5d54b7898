"""Write verl's supervised rows: messages, tools, media."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import write_chat, write_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
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
        try:
            row["tools"] = [verl_sft_full(tool, f"tools[{i}]") for i, tool in enumerate(write_tools(sample["tools"]))]
        except RecursionError:
            raise RowError("DS306", "tools", "nested too deeply") from None
    thinking = sample.get("extra", {}).get("enable_thinking")
    if thinking is not None:
        if not isinstance(thinking, bool):
            raise RowError("DS308", "enable_thinking", f"verl wants true or false here, found {thinking!r:.40}")
        row["enable_thinking"] = thinking
    return {**row, **media_texts(media)}


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
