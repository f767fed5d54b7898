"""Write SageMaker evaluation rows: query, response, system, category."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import json_name
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.single import single_answer, single_prompt


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The evaluation row of one sample; raises RowError DS302, DS305, DS307 or DS310."""
    messages = sample["messages"]
    answer = sample.get("answer")
    if c.task == "sft":
        answer = single_answer(messages[-1:], "messages")
        messages = messages[:-1]
    elif answer is not None and not isinstance(answer, str):
        raise RowError("DS307", "answer", f"the response must be text, found {json_name(answer)}")
    system, query = single_prompt(messages)
    row = {"system": system} if system else {}
    row["query"] = query
    if answer is not None:
        row["response"] = answer
    category = sample.get("extra", {}).get("category")
    if category is not None:
        if not isinstance(category, str):
            raise RowError("DS310", "category", f"the category must be text, found {json_name(category)}")
        row["category"] = category
    return row
