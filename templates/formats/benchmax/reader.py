"""Read benchmax rows: prompt_messages, messages or prompt, a ground truth, and keys for the environment."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import optional, read_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

BENCHMAX_PROMPTS = ("prompt_messages", "messages", "prompt")


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one benchmax row; raises RowError.

    Of several prompts the first counts, as in benchmax 0.1.2; the others are the environment's.
    """
    columns = [c.columns[name] for name in BENCHMAX_PROMPTS if name in c.columns]
    present = [column for column in columns if row.get(column) is not None]
    if not present:
        raise RowError("DS203", "", f"the row has none of {', '.join(columns or BENCHMAX_PROMPTS)}")
    column = present[0]
    value = row[column]
    messages = [{"role": "user", "content": value}] if isinstance(value, str) else read_chat(value, column)
    if not messages:
        raise RowError("DS202", column, "there are no messages")
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if optional(row, c, "answer") is not None:
        sample["answer"] = row[c.columns["answer"]]
    extra = {key: value for key, value in read_extra(row, c).items() if value is not None}
    extra.update({other: row[other] for other in present[1:]})
    if extra:
        sample["extra"] = extra
    return sample
