"""Read Amazon Nova DPO rows: Converse turns, the last of which has candidates with a preferenceLabel."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import add_extra, as_list, as_text
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_read import (
    as_closed_object,
    read_blocks,
    read_converse,
    read_converse_turn,
    read_tool_config,
)
from dsreg.rowcode.errors import RowError

NOVA_DPO_LABELS = {"preferred": "chosen", "non-preferred": "rejected"}


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one Nova DPO row; raises RowError."""
    messages, turns = read_converse(row, c)
    column = c.columns["messages"]
    if not turns:
        raise RowError("DS202", column, "there are no messages")
    for i, turn in enumerate(turns[:-1]):
        messages.extend(read_converse_turn(turn, f"{column}[{i}]"))
    answers = nova_dpo_answers(turns[-1], f"{column}[{len(turns) - 1}]")
    sample: dict[str, Any] = {"task": c.task, "messages": messages, **answers}
    tools = read_tool_config(row, c)
    if tools:
        sample["tools"] = tools
    return add_extra(sample, row, c)


def nova_dpo_answers(raw: Any, path: str) -> dict[str, list[dict[str, Any]]]:
    """The chosen and the rejected answer of the last turn; raises RowError when it does not hold one of each.

    The samples script takes labels in any letter case, and all checkers take more than two candidates: a sample is one
    pair, so such rows are refused rather than cut.
    """
    if isinstance(raw, dict) and raw.get("candidates") is None:
        raise RowError("DS202", path, "the last turn has no candidates: --format nova-sft reads rows of one answer")
    turn = as_closed_object(raw, ("role", "candidates"), path)
    if turn.get("role") != "assistant":
        raise RowError("DS206", f"{path}.role", "the candidates must be the assistant's")
    candidates = as_list(turn.get("candidates"), f"{path}.candidates")
    if len(candidates) != 2:
        raise RowError("DS202", f"{path}.candidates", f"{len(candidates)} candidates; a preference pair has two")
    answers = {}
    for i, candidate in enumerate(candidates):
        at = f"{path}.candidates[{i}]"
        candidate = as_closed_object(candidate, ("content", "preferenceLabel"), at)
        label = as_text(candidate.get("preferenceLabel"), f"{at}.preferenceLabel")
        side = NOVA_DPO_LABELS.get(label.lower())
        if side is None or side in answers:
            reason = "given twice" if side else "not one of preferred, non-preferred"
            raise RowError("DS212", f"{at}.preferenceLabel", f"the label {label!r:.40} is {reason}")
        blocks = as_list(candidate.get("content"), f"{at}.content")
        answers[side] = read_blocks(blocks, "assistant", f"{at}.content")
    return answers
