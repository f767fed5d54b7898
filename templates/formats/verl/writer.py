"""Write verl's reinforcement learning rows, laid out for Parquet with an explicit schema."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import lift_media
from dsreg.rowcode.plain import write_plain
from dsreg.rowcode.verl import media_texts, write_verl


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The verl row of one sample; raises RowError DS302 to DS310 for what verl has no place for."""
    messages = sample["messages"]
    if not messages:
        raise RowError("DS302", "prompt", "the prompt has no messages")
    flat, media = lift_media(messages, "prompt")
    row = write_verl(sample, write_plain(flat, "prompt", "verl"), c, flat=c.options["objects"] == "text")
    source = row.get("data_source")
    if not source:
        hint = "--option data_source=NAME, or --column data_source=COLUMN"
        raise RowError("DS310", "data_source", f"verl picks the scorer by data_source, and the row has none: {hint}")
    if source.startswith("searchR1_"):
        reason = "the scorer of searchR1 wants an object of targets as ground truth, and dsreg writes text"
        raise RowError("DS307", "reward_model.ground_truth", reason)
    return {**row, **media_texts(media)}
