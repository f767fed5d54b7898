"""Read OpenAI preference rows: input, and a preferred and a non-preferred output under either of their names."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import answer_part, read_chat
from dsreg.rowcode.columns import as_object, list_tools, need, read_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one preference row; raises RowError."""
    given, column = as_object(need(row, c, "input"), c.columns["input"]), c.columns["input"]
    messages = read_chat(given.get("messages"), f"{column}.messages")
    sample: dict[str, Any] = {
        "task": c.task,
        "messages": messages,
        "chosen": openai_dpo_output(row, c, "preferred", len(messages)),
        "rejected": openai_dpo_output(row, c, "non_preferred", len(messages)),
    }
    tools = list_tools(given["tools"], f"{column}.tools") if given.get("tools") is not None else []
    if tools:
        sample["tools"] = tools
    rest = {key: value for key, value in given.items() if key not in ("messages", "tools") and value is not None}
    extra = read_extra(row, c)
    for key, value in rest.items():
        if extra.setdefault(key, value) != value:
            raise RowError("DS310", f"{column}.{key}", f"the row and its `{column}` have different values of `{key}`")
    if extra:
        sample["extra"] = extra
    return sample


def openai_dpo_output(row: dict[str, Any], c: Constants, kind: str, start: int) -> list[dict[str, Any]]:
    """The messages of one output; raises RowError DS203 for a row that has it under both names or neither."""
    columns = [c.columns.get(f"{kind}_{word}") for word in ("output", "completion")]
    found = [column for column in columns if column is not None and row.get(column) is not None]
    if len(found) != 1:
        where = " and ".join(f"`{column}`" for column in found)
        reason = f"the row has {where}" if found else f"the row has no `{columns[0] or f'{kind}_output'}`"
        raise RowError("DS203", found[0] if found else "", reason)
    return answer_part(read_chat(row[found[0]], found[0], start), found[0], kind)
