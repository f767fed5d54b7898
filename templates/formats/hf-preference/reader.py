"""Read preference rows of Hugging Face: texts or lists of messages, the prompt apart or as a shared beginning."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_tools_and_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.sides import read_pair


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one preference row; raises RowError."""
    return add_tools_and_extra({"task": c.task, **read_pair(row, c)}, row, c)
