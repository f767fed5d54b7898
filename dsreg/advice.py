"""What a person should know about a converted file as a whole, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes

LENGTH_ROWS = 1000
"""How many rows of a file the advice on lengths is drawn from: to decode all texts for it would cost too much."""
LENGTH_BIAS = 1.5
"""From this ratio of mean lengths on, chosen answers that are longer (or shorter) are worth a word."""


def observe_sample(sample: dict[str, Any], row: int, notes: Notes) -> None:
    """Note what `advise_samples` speaks of, save lengths: pairs of equal answers, and labels."""
    if "chosen" in sample:
        if sample["chosen"] == sample["rejected"]:
            notes.see("chosen equals rejected", row)
    elif "label" in sample:
        notes.see("desirable" if sample["label"] else "undesirable", row)


def observe_lengths(sample: dict[str, Any], row: int, notes: Notes) -> None:
    """Note how long the two answers of a preference sample are."""
    if "chosen" in sample:
        notes.see("chosen characters", row, answer_length(sample["chosen"]))
        notes.see("rejected characters", row, answer_length(sample["rejected"]))


def answer_length(messages: list[dict[str, Any]]) -> int:
    """The characters of an answer's text."""
    return sum(len(message["content"]) for message in messages if isinstance(message["content"], str))


def advise_samples(notes: Notes, rows: int) -> Iterator[Advice]:
    """Advisories on preference pairs and labels of a file of so many rows; lengths are those of the first."""
    counts = notes.counts
    equal = counts["chosen equals rejected"]
    if equal:
        row = notes.first["chosen equals rejected"]
        yield Advice("DS405", f"{equal:,} pairs have the same answer twice, first row {row:,}", "remove those rows")
    chosen, rejected = counts["chosen characters"], counts["rejected characters"]
    if chosen and rejected and not 1 / LENGTH_BIAS < chosen / rejected < LENGTH_BIAS:
        among = f" of the first {LENGTH_ROWS:,} rows" if rows > LENGTH_ROWS else ""
        message = f"chosen answers{among} are {chosen / rejected:.2f} times as long as rejected ones"
        message += "; a model may learn the length"
        yield Advice("DS406", message, "balance the lengths of the answers")
    if bool(counts["desirable"]) != bool(counts["undesirable"]):
        only = "desirable" if counts["desirable"] else "undesirable"
        yield Advice("DS407", f"all labels are {only}: KTO learns from the difference", "add rows of the other kind")
