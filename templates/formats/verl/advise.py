"""What to know about a file of verl rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants

# verl 0.9.1, utils/reward_score/__init__.py: the data sources that it scores itself.
SCORED = frozenset(
    [
        *("openai/gsm8k", "lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500"),
        *("math_dapo", "math", "math_dapo_reasoning", "codecontests", "apps", "codeforces", "taco"),
        "hiyouga/geometry3k",
    ]
)
SCORED_BEGINNINGS = ("aime", "numina_")
KWARGS = ("tools_kwargs", "interaction_kwargs")


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note rows without a ground truth, and data sources that verl cannot score."""
    source = row["data_source"]
    if source not in SCORED and not source.startswith(SCORED_BEGINNINGS):
        notes.see(f"unscored {source}", number)
    if any(isinstance(row["extra_info"].get(key), str) for key in KWARGS):
        notes.see("kwargs as text", number)
    if not row["reward_model"]["ground_truth"]:
        notes.see("no ground truth", number)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    unscored = [kind.removeprefix("unscored ") for kind in notes.counts if kind.startswith("unscored ")]
    if unscored:
        named = ", ".join(f"`{source:.60}`" for source in unscored[:3]) + (", …" if len(unscored) > 3 else "")
        message = f"verl has no scorer for the data_source {named}: training stops without a reward function"
        yield Advice("DS416", message, "reward.custom_reward_function.path=reward.py in verl's settings")
    if notes.counts["kwargs as text"]:
        message = "tools_kwargs or interaction_kwargs are JSON text, which verl's agents do not decode"
        yield Advice("DS412", message, "--option objects=kept --option container=jsonl, for verl 0.7.1 or later")
    if notes.counts["no ground truth"]:
        count, row = notes.counts["no ground truth"], notes.first["no ground truth"]
        yield Advice("DS417", f"{count:,} rows have an empty ground truth, first row {row:,}", "fill it in")
