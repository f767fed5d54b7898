"""What rows are for, and which task can become which other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dsreg.rowcode import adapt

TASKS = ("sft", "preference", "kto", "prompt", "pretrain")
FEATURES = {
    "system": "system prompts",
    "multi_turn": "more than one turn of the user",
    "tools": "function definitions",
    "tool_calls": "calls of functions and their results",
    "parallel_tools": "several calls in one turn",
    "text_beside_call": "text in the turn that calls",
    "images": "images",
    "videos": "videos",
    "audios": "audio",
    "documents": "documents",
    "thinking": "reasoning apart from the answer",
    "content_parts": "content of several texts",
    "weight": "training weight of a turn",
    "name": "names of participants",
    "other_keys": "further keys of a message",
}
STRIPPABLE = frozenset(FEATURES) - {"multi_turn", "tool_calls", "parallel_tools", "content_parts"}
EXTRA_COLUMNS = ("id", "data_source", "ability", "category", "difficulty", "extra_info", "attributes", "answer")
"""Columns of a sample that any data can bring, under these names; LlamaFactory never sees them."""


class Step(NamedTuple):
    """One way from a task to another: the function, the choice it stands for, and what to tell about it."""

    adapt: Callable[[dict[str, Any]], list[dict[str, Any]]]
    take: str
    effect: str


STEPS: dict[tuple[str, str], list[Step]] = {
    ("preference", "kto"): [
        Step(adapt.adapt_preference_to_kto, "", "each pair became a desirable and an undesirable row")
    ],
    ("preference", "sft"): [
        Step(adapt.adapt_preference_to_sft_chosen, "chosen", "the chosen answer became the last turn"),
        Step(adapt.adapt_preference_to_sft_rejected, "rejected", "the rejected answer became the last turn"),
    ],
    ("preference", "prompt"): [
        Step(adapt.adapt_preference_to_prompt_chosen, "chosen", "the chosen answer became the ground truth")
    ],
    ("kto", "sft"): [
        Step(adapt.adapt_kto_to_sft_desirable, "desirable", "desirable answers became the last turn"),
        Step(adapt.adapt_kto_to_sft_undesirable, "undesirable", "undesirable answers became the last turn"),
    ],
    ("sft", "prompt"): [Step(adapt.adapt_sft_to_prompt, "", "the last answer became the ground truth")],
    ("prompt", "sft"): [Step(adapt.adapt_prompt_to_sft_answer, "answer", "the ground truth became the last turn")],
    **{
        (task, "pretrain"): [Step(adapt.adapt_to_pretrain, "", "the dialogue became plain text")]
        for task in TASKS
        if task != "pretrain"
    },
}
TAKES = tuple(dict.fromkeys(step.take for steps in STEPS.values() for step in steps if step.take))
