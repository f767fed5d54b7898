"""Read ShareGPT rows: conversations of from and value, with LlamaFactory's columns and tags."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra, need, need_label, optional_text, read_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import MEDIA_COLUMNS, place_media, read_media, refuse_placeholders
from dsreg.rowcode.turns import read_turns


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one ShareGPT row; raises RowError."""
    column = c.columns.get("messages", "")
    messages = read_turns(need(row, c, "messages"), c.tags, column)
    system = optional_text(row, c, "system") if "system" in c.columns else ""
    if system:
        messages = sharegpt_system(system, messages, c)
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if c.task == "preference":
        sample["chosen"] = sharegpt_answer(row, c, "chosen")
        sample["rejected"] = sharegpt_answer(row, c, "rejected")
    elif c.task == "kto":
        if not messages or messages[-1]["role"] != "assistant":
            raise RowError("DS202", column, "the last turn must be the assistant's, which the label is about")
        sample["completion"] = [messages.pop()]
        sample["label"] = need_label(row, c, "kto_tag")
    if "tools" in c.columns:
        tools = read_tools(row, c)
        if tools:
            sample["tools"] = tools
    if not c.columns.keys().isdisjoint(MEDIA_COLUMNS):
        media = read_media(row, c)
        if media:
            refuse_placeholders([*sample.get("chosen", ()), *sample.get("rejected", ())], media, column)
            place_media([*messages, *sample.get("completion", ())], media, column)
    return add_extra(sample, row, c)


def sharegpt_system(system: str, messages: list[dict[str, Any]], c: Constants) -> list[dict[str, Any]]:
    """Put the system column first; beside a different system turn, which LlamaFactory prefers, it is a conflict."""
    if not messages or messages[0]["role"] != "system":
        return [{"role": "system", "content": system}, *messages]
    choice = c.options["two_systems"]
    if messages[0]["content"] == system or choice == "turn":
        return messages
    if choice == "join":
        return [{"role": "system", "content": f"{system}\n{messages[0]['content']}"}, *messages[1:]]
    raise RowError("DS211", c.columns["system"], "the row has a system column and a system turn, and they differ")


def sharegpt_answer(row: dict[str, Any], c: Constants, name: str) -> list[dict[str, Any]]:
    """The chosen or rejected turn of a preference row: an object of an assistant."""
    column = c.columns.get(name, name)
    value = need(row, c, name)
    if not isinstance(value, dict):
        raise RowError("DS204", column, "expected one turn as an object; LlamaFactory drops rows of text or lists here")
    answer = read_turns([value], c.tags, column)
    if answer[0]["role"] != "assistant":
        raise RowError("DS202", column, "the answer must be an assistant's turn")
    return answer
