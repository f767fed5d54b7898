"""What to know about a file of prompt-completion rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.arrow import mixed_columns, observe_columns
from dsreg.rowcode.constants import Constants


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note answers that stand in the prompt, prompts that are texts, and the types of the further columns."""
    observe_columns(row, number, notes)
    prompt = row["prompt"]
    if isinstance(prompt, str):
        notes.see("prompt is a text", number)
    else:
        answers = sum(message["role"] == "assistant" for message in prompt)
        if answers:
            notes.see("rows with earlier answers", number)
            notes.see("earlier answers", number, answers)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """Advisories on answers that are no longer trained, texts that get no chat template, columns of several types."""
    counts = notes.counts
    if counts["earlier answers"]:
        where = f"{counts['rows with earlier answers']:,} rows, first row {notes.first['earlier answers']:,}"
        message = f"{counts['earlier answers']:,} earlier answers stand in the prompt, where none is trained: {where}"
        yield Advice("DS404", message, "--target openai keeps every answer a turn that can be trained")
    if counts["prompt is a text"]:
        message = "prompts and completions are texts: TRL joins them with nothing between and applies no chat template"
        yield Advice("DS410", message, "--option style=conversational for a chat model")
    for message in mixed_columns(notes):
        yield Advice("DS411", message, "give the column one type")
