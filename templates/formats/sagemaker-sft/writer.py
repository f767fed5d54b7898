"""Write SageMaker rows for supervised fine-tuning: prompt, completion, and a system prompt if there is one."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.single import single_answer, single_prompt


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS302 or DS305 for more than one question and its answer in text."""
    messages = sample["messages"]
    completion = single_answer(messages[-1:], "messages")
    system, prompt = single_prompt(messages[:-1])
    row = {"prompt": prompt, "completion": completion}
    return {"system": system, **row} if system else row
