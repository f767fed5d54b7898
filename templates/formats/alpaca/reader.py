"""Read Alpaca rows: instruction, input, output, system, history, as LlamaFactory joins them into a dialogue."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra, as_list, as_text, need_label, need_text, optional_text, read_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import MEDIA_COLUMNS, place_media, read_media


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one Alpaca row; raises RowError."""
    messages = alpaca_messages(row, c)
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if c.task == "sft":
        messages.append({"role": "assistant", "content": need_text(row, c, "response")})
    elif c.task == "preference":
        sample["chosen"] = [{"role": "assistant", "content": need_text(row, c, "chosen")}]
        sample["rejected"] = [{"role": "assistant", "content": need_text(row, c, "rejected")}]
    elif c.task == "kto":
        sample["completion"] = [{"role": "assistant", "content": need_text(row, c, "response")}]
        sample["label"] = need_label(row, c, "kto_tag")
    elif "response" in c.columns and c.columns["response"] in row:
        sample["answer"] = row[c.columns["response"]]
    if "tools" in c.columns:
        tools = read_tools(row, c)
        if tools:
            sample["tools"] = tools
    if not c.columns.keys().isdisjoint(MEDIA_COLUMNS):
        place_media(messages, read_media(row, c), c.columns["prompt"])
    return add_extra(sample, row, c)


def alpaca_messages(row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """System, history and the user's turn: prompt and query joined by a newline, each only if it has text."""
    messages = []
    system = optional_text(row, c, "system")
    if system:
        messages.append({"role": "system", "content": system})
    column = c.columns.get("history")
    history = row.get(column) if column is not None else None
    if history and column is not None:
        alpaca_history(history, column, messages)
    prompt, query = need_text(row, c, "prompt"), optional_text(row, c, "query")
    text = f"{prompt}\n{query}" if prompt and query else prompt or query
    messages.append({"role": "user", "content": text})
    return messages


def alpaca_history(history: Any, column: str, messages: list[dict[str, Any]]) -> None:
    """Add the earlier turns, which stand as pairs of two texts."""
    for i, pair in enumerate(as_list(history, column)):
        path = f"{column}[{i}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise RowError("DS204", path, "expected a list of two texts: a question and its answer")
        messages.append({"role": "user", "content": as_text(pair[0], f"{path}[0]")})
        messages.append({"role": "assistant", "content": as_text(pair[1], f"{path}[1]")})
