"""Read Amazon Nova evaluation rows: query, response, system, images."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra, as_list, as_object, as_text, need_text, optional, optional_text
from dsreg.rowcode.constants import Constants


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one evaluation row; the images stand before the query. Raises RowError."""
    messages: list[dict[str, Any]] = []
    system = optional_text(row, c, "system")
    if system:
        messages.append({"role": "system", "content": system})
    query = need_text(row, c, "query")
    images = nova_eval_images(row, c)
    messages.append({"role": "user", "content": [*images, {"type": "text", "text": query}] if images else query})
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if c.task == "sft":
        messages.append({"role": "assistant", "content": need_text(row, c, "response")})
    elif optional(row, c, "response") is not None:
        sample["answer"] = need_text(row, c, "response")
    return add_extra(sample, row, c)


def nova_eval_images(row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """The images of a row as content parts."""
    column = c.columns.get("images")
    if column is None or row.get(column) is None:
        return []
    images = enumerate(as_list(row[column], column))
    sources = [as_text(as_object(image, f"{column}[{i}]").get("data"), f"{column}[{i}].data") for i, image in images]
    return [{"type": "image", "source": source} for source in sources]
