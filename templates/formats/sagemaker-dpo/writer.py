"""Write SageMaker preference rows: prompt, chosen, rejected, and a system prompt if there is one."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.single import single_answer, single_prompt


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS302 or DS305 for more than one question and its answers in text."""
    system, prompt = single_prompt(sample["messages"])
    row = {
        "prompt": prompt,
        "chosen": single_answer(sample["chosen"], "chosen"),
        "rejected": single_answer(sample["rejected"], "rejected"),
    }
    return {"system": system, **row} if system else row
