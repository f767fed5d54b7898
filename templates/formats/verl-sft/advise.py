"""What to know about a file of verl's supervised rows as a whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note whether all rows with tools have the same ones."""
    if "tools" in row:
        digest = hashlib.sha256(json.dumps(row["tools"], sort_keys=True).encode()).hexdigest()[:16]
        kind = f"tools {digest}"
        if kind in notes.counts or sum(kind.startswith("tools ") for kind in notes.counts) < 2:
            notes.see(kind, number)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    if sum(kind.startswith("tools ") for kind in notes.counts) > 1:
        objects = "Parquet gives each the keys of the others as nulls" if c.options["parameters"] == "object" else ""
        message = f"rows have different tools: {objects or 'their parameters are JSON text'}, which templates print so"
        yield Advice("DS418", message, "a file for each set of tools keeps them as they are")
