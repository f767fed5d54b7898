"""What to know about a file of Nova RLVR rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.nova_text import observe_text, text_advice

FEWEST_ROWS, MOST_ROWS = 100, 20_000
# What amzn-nova-forge wants in all rows or in none, and what to do about it.
ALL_OR_NONE = {
    "id": "give every row an id, or none",
    "tools": "--skip tools leaves out the rows that have them, --strip tools takes them out",
}


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note optional fields, and reserved words in another letter case."""
    for name in ALL_OR_NONE:
        if name in row:
            notes.see(f"rlvr {name}", number)
    for i, message in enumerate(row["messages"]):
        observe_text(message["content"], f"messages[{i}]", number, notes)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    if not FEWEST_ROWS <= rows <= MOST_ROWS:
        message = f"{rows:,} rows; Nova takes {FEWEST_ROWS:,} to {MOST_ROWS:,} for reinforcement on Bedrock"
        yield Advice("DS401", message, "add rows" if rows < FEWEST_ROWS else "split the file")
    for name, hint in ALL_OR_NONE.items():
        count = notes.counts[f"rlvr {name}"]
        if 0 < count < rows:
            message = f"{count:,} of {rows:,} rows have `{name}`; amzn-nova-forge wants it in all rows or in none"
            yield Advice("DS402", message, hint)
    for said in text_advice(notes):
        yield Advice(*said)
