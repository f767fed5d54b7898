"""What to know about a file of OpenAI chat rows as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants

MINIMUM = 10
"""OpenAI refuses training files with fewer rows (fine-tuning guide)."""


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note results that nothing follows, and calls whose arguments cannot be decoded."""
    messages = row["messages"]
    if messages and messages[-1]["role"] == "tool":
        notes.see("ends with a result", number)
    for message in messages:
        for call in message.get("tool_calls", ()) if len(message) > 2 else ():
            if not is_object(call["function"]["arguments"]):
                notes.see("arguments no object", number)


def is_object(text: str) -> bool:
    """Whether the text is the JSON text of an object."""
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        pass  # not JSON, or more than orjson takes
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """Advisories on the number of rows, rows that end with a result, and arguments that are not JSON."""
    if rows < MINIMUM and c.task == "sft":
        yield Advice("DS401", f"{rows:,} rows; OpenAI trains on {MINIMUM} or more", "add rows")
    for kind, code, message in (
        ("ends with a result", "DS408", "{} rows end with a tool's result, which no answer follows"),
        ("arguments no object", "DS409", "the arguments of {} calls are not the JSON text of an object"),
    ):
        if notes.counts[kind]:
            said = message.format(f"{notes.counts[kind]:,}")
            yield Advice(code, f"{said}, first row {notes.first[kind]:,}", "complete those rows")
