"""Read SageMaker evaluation rows: query, response, system, category."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import as_text, need_text, optional_text, read_extra
from dsreg.rowcode.constants import Constants


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one evaluation row; raises RowError. A row without a response has no ground truth."""
    messages = []
    system = optional_text(row, c, "system")
    if system:
        messages.append({"role": "system", "content": system})
    messages.append({"role": "user", "content": need_text(row, c, "query")})
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if c.task == "sft":
        messages.append({"role": "assistant", "content": need_text(row, c, "response")})
    else:
        column = c.columns.get("response")
        if column is not None and row.get(column) is not None:
            sample["answer"] = as_text(row[column], column)
    extra = read_extra(row, c)
    column = c.columns.get("category")
    if column is not None and row.get(column) is not None:
        extra = {**extra, "category": as_text(row[column], column)}
    if extra:
        sample["extra"] = extra
    return sample
