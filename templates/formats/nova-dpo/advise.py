"""What to know about a file of Nova DPO rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.nova_text import observe_text, text_advice

FEWEST_ROWS, MOST_ROWS = 1_000, 20_000


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note blank texts, reserved words in another letter case, and tools."""
    if "toolConfig" in row:
        notes.see("tools in DPO", number)
    if "system" in row:
        observe_text(row["system"][0]["text"], "system", number, notes)
    for i, turn in enumerate(row["messages"]):
        for holder in turn.get("candidates", (turn,)):
            for block in holder["content"]:
                if "text" in block:
                    observe_text(block["text"], f"messages[{i}]", number, notes)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    if rows < FEWEST_ROWS:
        yield Advice("DS401", f"{rows:,} pairs; the Nova guide recommends {FEWEST_ROWS:,} or more", "add pairs")
    elif rows > MOST_ROWS:
        yield Advice("DS401", f"{rows:,} pairs; Nova takes {MOST_ROWS:,} at most", "split the file")
    for said in text_advice(notes):
        yield Advice(*said)
    if notes.counts["tools in DPO"]:
        count, row = notes.counts["tools in DPO"], notes.first["tools in DPO"]
        message = f"{count:,} rows have toolConfig, first row {row:,}; sagemaker-train refuses it in preference rows"
        yield Advice("DS415", message, "--skip tools leaves those rows out, --strip tools takes unused tools out")
