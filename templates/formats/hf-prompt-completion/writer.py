"""Write prompt-completion rows of Hugging Face: two texts, or two lists of messages, alike in the whole file."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.sides import decide_sides, split_dialogue, survey_sides, write_sides
from dsreg.rowcode.thinking import split_thinking


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The prompt-completion row of one sample; raises RowError DS302, DS306 or DS308."""
    if c.options["thinking"] == "split":
        sample = split_thinking(sample)
    messages = sample["messages"]
    start = split_dialogue(messages)
    return write_sides(sample, {"prompt": messages[:start], "completion": messages[start:]}, c)


def survey_needed(c: Constants) -> bool:
    """Whether the whole file must be seen first: always, for all rows have the same keys."""
    return True


def survey(sample: dict[str, Any], c: Constants, notes: Any) -> None:
    """Note what decides the style of the file."""
    survey_sides(split_thinking(sample) if c.options["thinking"] == "split" else sample, notes)


def decide(notes: Any, c: Constants) -> None:
    """Settle one style for all rows."""
    decide_sides(notes, c)
