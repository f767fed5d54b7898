"""From the number of a loaded row to its file, its line, and what it says."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dsreg.errors import DsregError
from dsreg.rows import BadRow, open_rows


class Spot(NamedTuple):
    """Where a row stands and what it says; `value` is None where it cannot be read."""

    file: Path
    line: int | None
    value: Any


def locate(files: Sequence[Path], wanted: Collection[int]) -> dict[int, Spot]:
    """The spots of rows by their number from 0, reading no further than the last; rows not found are left out."""
    spots: dict[int, Spot] = {}
    left, number = set(wanted), 0
    for path in files:
        if not left:
            break
        try:
            kind = "txt" if path.suffix == ".txt" else None  # LlamaFactory goes by the suffix
            with open_rows(path, kind=kind) as stream:
                for value in stream:
                    if number in left:
                        spots[number] = Spot(path, stream.line, None if isinstance(value, BadRow) else value)
                        left.discard(number)
                        if not left:
                            break
                    number += 1
        except DsregError:
            break
    return spots


def value_at(row: Any, path: str) -> Any:
    """What a path such as `conversations[3].from` leads to; None where it leads nowhere."""
    value = row
    for key in path.replace("]", "").replace("[", ".").split("."):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
