"""Write SageMaker's RLVR rows for open-weights models."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.plain import write_plain
from dsreg.rowcode.verl import write_verl


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS302 to DS310 for what the layout has no place for."""
    prompt = write_plain(sample["messages"], "prompt", "SageMaker RLVR")
    if not any(message["role"] == "user" for message in prompt):
        raise RowError("DS302", "prompt", "SageMaker wants a turn of the user in the prompt")
    row = write_verl(sample, prompt, c, flat=False)
    info = row.pop("extra_info")
    first = {"data_source": row.pop("data_source", ""), "prompt": row.pop("prompt"), "ability": row.pop("ability", "")}
    row = {**first, **row}
    if info.keys() != {"answer"}:
        row["extra_info"] = info
    return row
