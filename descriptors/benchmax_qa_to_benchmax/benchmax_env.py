"""The benchmax environment of benchmax_qa.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmax.envs import BaseEnv, Example, JsonlDataset, canonical_example_id

# The files below base_dir; eval holds rows of the same shape that were held back.
FILES = {"train": "train.jsonl", "eval": "eval.jsonl"}


class DatasetEnv(BaseEnv):
    """Reads the rows. Score the answers in compute_reward: all of a row but its prompt is in rollout.example_args."""

    max_turns = 1

    async def create_dataset(self, split: str, base_dir: Path, *, max_examples: int | None = None) -> JsonlDataset:
        """The rows of a split, "train" or "eval"."""
        return JsonlDataset(base_dir / FILES[split], row_to_example=self.row_to_example, max_examples=max_examples)

    def row_to_example(self, row: dict[str, Any]) -> Example:
        """The example of one row: its messages, and everything else for the reward."""
        payload = {key: value for key, value in row.items() if key != "prompt_messages"}
        payload["prompt_messages"] = row["prompt_messages"]
        return Example(id=canonical_example_id(payload), payload=payload)
