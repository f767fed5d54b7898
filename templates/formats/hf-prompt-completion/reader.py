"""Read prompt-completion rows of Hugging Face: two texts, or two lists of messages."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_tools_and_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.sides import one_style, read_prompt, read_side


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one prompt-completion row; raises RowError."""
    one_style(row, c, ["prompt", "completion"])
    messages = read_prompt(row, c)
    completion = read_side(row, c, "completion", "assistant", len(messages))
    if not any(message["role"] == "assistant" for message in completion):
        raise RowError("DS202", c.columns["completion"], "no message of the completion is the assistant's")
    return add_tools_and_extra({"task": c.task, "messages": messages + completion}, row, c)
