"""What a consumer that loads through Arrow does not see as it stands: columns of several types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.rowcode.columns import json_name

LAID_OUT = frozenset(["prompt", "completion", "chosen", "rejected", "label", "tools"])
TYPE_OF = "type of "


def observe_columns(row: dict[str, Any], number: int, notes: Any) -> None:
    """Note the JSON type of each column that is carried as it came; null is of any type."""
    for key, value in row.items():
        if key not in LAID_OUT and value is not None:
            notes.see(f"{TYPE_OF}{key}: {json_name(value)}", number)


def mixed_columns(notes: Any) -> Iterator[str]:
    """A sentence for each column of several types, with the first row of each.

    The `datasets` library makes such a column JSON, and a text that reads as JSON a value: "007" becomes 7 (4.7 and
    later); earlier ones refuse the file.
    """
    types: dict[str, list[str]] = {}
    for kind in notes.counts:
        if kind.startswith(TYPE_OF):
            column, _, name = kind.removeprefix(TYPE_OF).rpartition(": ")
            types.setdefault(column, []).append(f"{name} (first row {notes.first[kind]:,})")
    for column, names in types.items():
        if len(names) > 1:
            yield f'column `{column}` is {" and ".join(names)}: `datasets` turns texts like "007" there into numbers'
