"""Read OpenAI chat rows: messages of role and content, with tool calls, content parts and reasoning."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import answer_part, read_chat
from dsreg.rowcode.columns import list_tools, need, need_label, read_extra, read_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import MEDIA_COLUMNS, place_media, read_media, refuse_placeholders


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one OpenAI row; raises RowError."""
    column = c.columns.get("messages", "")
    messages = read_chat(need(row, c, "messages"), column)
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if c.task == "preference":
        sample["chosen"] = openai_answer(row, c, "chosen", len(messages))
        sample["rejected"] = openai_answer(row, c, "rejected", len(messages))
    elif c.task == "kto":
        if not messages or messages[-1]["role"] != "assistant":
            raise RowError("DS202", column, "the last message must be the assistant's, which the label is about")
        sample["completion"] = [messages.pop()]
        sample["label"] = need_label(row, c, "kto_tag")
    elif c.task == "prompt" and c.columns.get("answer") in row:
        sample["answer"] = row[c.columns["answer"]]
    tools = read_tools(row, c) if "tools" in c.columns else []
    extra = read_extra(row, c)
    if not tools and openai_defines(extra.get("functions")):
        tools = list_tools(extra.pop("functions"), "functions")
    if tools:
        sample["tools"] = tools
    if not c.columns.keys().isdisjoint(MEDIA_COLUMNS):
        media = read_media(row, c)
        if media:
            refuse_placeholders([*sample.get("chosen", ()), *sample.get("rejected", ())], media, column)
            place_media([*messages, *sample.get("completion", ())], media, column)
    if extra:
        sample["extra"] = extra
    return sample


def openai_defines(value: Any) -> bool:
    """Whether the value of a `functions` key is what `tools` were before: a list of named definitions."""
    return isinstance(value, list) and all(isinstance(f, dict) and isinstance(f.get("name"), str) for f in value)


def openai_answer(row: dict[str, Any], c: Constants, name: str, start: int) -> list[dict[str, Any]]:
    """A chosen or rejected answer: one message, or a list of them, all by the assistant or its tools."""
    column = c.columns.get(name, name)
    value = need(row, c, name)
    answer = read_chat([value] if isinstance(value, dict) else value, column, start)
    return answer_part(answer, column, name)
