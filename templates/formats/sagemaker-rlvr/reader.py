"""Read SageMaker's RLVR rows for open-weights models: verl's layout."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import need
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.plain import write_plain
from dsreg.rowcode.verl import read_verl


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one row; raises RowError."""
    column = c.columns.get("prompt", "prompt")
    messages = write_plain(read_chat(need(row, c, "prompt"), column), column, "SageMaker RLVR")
    if not messages:
        raise RowError("DS202", column, "the prompt has no messages")
    return read_verl(row, messages, c)
