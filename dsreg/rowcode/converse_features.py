"""What rows in the Converse layout use, and whether all rows of a file use the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# The optional parts of a row that amzn-nova-forge wants in all rows or in none, and the guides (documents), with
# the feature by which rows are chosen or freed, and whether it can be stripped.
CONVERSE_FEATURES = {
    "system": ("system", True),
    "image": ("images", True),
    "video": ("videos", True),
    "document": ("documents", True),
    "reasoningContent": ("thinking", True),
    "toolUse": ("tool_calls", False),
    "toolResult": ("tool_calls", False),
}


def observe_features(row: dict[str, Any], number: int, notes: Any) -> None:
    """Note the optional parts that a row uses."""
    note_features(
        {
            kind
            for turn in row["messages"]
            for block in turn.get("content", ())
            if "text" not in block
            for kind in block
        },
        row,
        number,
        notes,
    )


def note_features(kinds: set[str], row: dict[str, Any], number: int, notes: Any) -> None:
    """Note the optional parts of a row, whose blocks are of these kinds beside text."""
    notes.see("nova row", number)
    if "system" in row:
        notes.see("nova system", number)
    for kind in kinds:
        notes.see(f"nova {kind}", number)


def mixed_features(notes: Any) -> Iterator[tuple[str, str]]:
    """A sentence and a hint for each optional part that some rows have and some have not."""
    rows = notes.counts["nova row"]
    for kind, (feature, strippable) in CONVERSE_FEATURES.items():
        count = notes.counts[f"nova {kind}"]
        if 0 < count < rows:
            message = f"{count:,} of {rows:,} rows have `{kind}`; amzn-nova-forge wants it in all rows or in none"
            hint = f"--skip {feature} leaves out the rows that have it"
            yield message, f"{hint}, --strip {feature} takes it out of them" if strippable else hint
