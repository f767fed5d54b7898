"""Read Amazon Nova RLVR rows: messages, reference_answer, tools, and fields for the reward function."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import add_tools_and_extra, need
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.plain import write_plain


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one RLVR row; raises RowError."""
    column = c.columns.get("messages", "messages")
    messages = write_plain(read_chat(need(row, c, "messages"), column), column, "Nova RLVR")
    if not messages:
        raise RowError("DS202", column, "there are no messages")
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    answer = nova_rlvr_answer(row.get(c.columns["answer"])) if "answer" in c.columns else None
    if answer is not None:
        sample["answer"] = answer
    return add_tools_and_extra(sample, row, c)


def nova_rlvr_answer(value: Any) -> Any:
    """The ground truth: what {"answer": x} holds, where x is plain, and any other value as it is."""
    if isinstance(value, dict) and value.keys() == {"answer"}:
        plain = value["answer"]
        if plain not in (None, "") and not isinstance(plain, dict):
            return plain
    return value
