"""Read prompt-completion rows of Hugging Face: two texts, or two lists of messages."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.sides import one_style, read_prompt, read_side, side_sample


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one prompt-completion row; raises RowError."""
    one_style(row, c, ["prompt", "completion"])
    messages = read_prompt(row, c)
    completion = read_side(row, c, "completion", "assistant", len(messages))
    if not any(message["role"] == "assistant" for message in completion):
        raise RowError("DS202", c.columns["completion"], "no message of the completion is the assistant's")
    return side_sample(row, c, {"messages": messages + completion})
