"""Look at sample rows: which columns there are and what kind of values each holds."""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dsreg.detection.turns import Turns, read_shape

EMPTY = frozenset({"null", "empty list"})
SHOWN = 20


def kind_of(value: Any) -> str:
    """The kind of a JSON value: its type, and for a list what its items are."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, (list, tuple)):
        return list_kind(value)
    return type(value).__name__


def list_kind(items: Sequence[Any]) -> str:
    """The kind of a list, by its items."""
    if not items:
        return "empty list"
    if all(isinstance(item, Mapping) for item in items):
        return "list of objects"
    if all(isinstance(item, str) for item in items):
        return "list of texts"
    if all(isinstance(item, (list, tuple)) and len(item) == 2 for item in items):
        return "list of pairs"
    return "list"


def quoted(name: str) -> str:
    """A name from the data as it can be shown in a sentence: in backticks, escaped where it cannot be printed."""
    shown = name if len(name) <= 40 else f"{name[:39]}…"
    return f"`{printable(shown)}`"


def printable(text: str) -> str:
    """Text with every character that a terminal would not show replaced by its escape."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def flag(option: str, name: str, value: str) -> str:
    """`--option name=value` as it can be typed into a shell, whatever the value from the data is."""
    return f"--{option} " + (shlex.quote(f"{name}={value}") if value.isprintable() else f"{name}=…")


class Look:
    """What was seen in sample rows; rows that are no objects are left out, and keep their numbers free.

    `file` is the name of the file they are from, as a shell takes it, and `container` what it holds them in.
    """

    def __init__(self, rows: Sequence[Any], file: str = "FILE", container: str = "") -> None:
        self.file, self.container = file, container
        self.total = len(rows)
        self.rows = [(number, row) for number, row in enumerate(rows, 1) if isinstance(row, Mapping)]
        self.with_columns = sum(bool(row) for _, row in self.rows)
        self.kinds: dict[str, Counter[str]] = {}
        for _, row in self.rows:
            for column, value in row.items():
                if isinstance(column, str):
                    self.kinds.setdefault(column, Counter())[kind_of(value)] += 1

    def values(self, column: str) -> Iterator[tuple[int, Any]]:
        """The values of a column that are not null, each with the number of its row."""
        return ((number, row[column]) for number, row in self.rows if row.get(column) is not None)

    def filled(self, column: str) -> bool:
        """Whether any row holds more than null or an empty list there."""
        return any(kind not in EMPTY for kind in self.kinds.get(column, ()))

    @functools.cache  # noqa: B019 - a look lives as long as one detection
    def kind(self, column: str) -> str:
        """The most common kind of the column's values, nulls and empty lists apart; turns are told from objects."""
        kinds = Counter({kind: n for kind, n in self.kinds.get(column, {}).items() if kind not in EMPTY})
        if not kinds:
            return next(iter(self.kinds.get(column, ())), "null")
        kind = kinds.most_common(1)[0][0]
        if kind in ("list of objects", "object") and self.turns(column):
            return "turns" if kind == "list of objects" else "turn"
        return kind

    @functools.cache  # noqa: B019
    def turns(self, column: str) -> Turns | None:
        """What the lists of turns in a column are like, or None where they are something else."""
        dialogues: list[tuple[int, list[Mapping[str, Any]]]] = []
        for number, value in self.values(column):
            items = [value] if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else []
            turns = [item for item in items if isinstance(item, Mapping)]
            if turns:
                dialogues.append((number, turns))
        return read_shape(dialogues)

    def complete(self, columns: Sequence[str]) -> int:
        """How many rows have a value in each of these columns."""
        return sum(all(row.get(column) is not None for column in columns) for _, row in self.rows)

    def describe(self) -> str:
        """The columns with the kinds of their values, for an error message."""
        shown = []
        for column in list(self.kinds)[:SHOWN]:
            kinds = [kind for kind, _ in self.kinds[column].most_common()]
            main = self.kind(column)
            if main in ("turns", "turn"):
                kinds = ["list of turns" if main == "turns" else "turn", *kinds[1:]]
            shown.append(f"{quoted(column)} ({', '.join(kinds[:4])})")
        more = len(self.kinds) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
