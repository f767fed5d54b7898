"""The table that `datasets.map` writes aligned rows to: the first 1,000 rows set the types, later ones must fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from .arrowcast import cast_array

BATCH = 1_000


class Stretch(NamedTuple):
    """Consecutive aligned rows of which one stands for the types of all; `rows` gives them all."""

    size: int
    sample: dict[str, Any]
    rows: Callable[[], Iterable[dict[str, Any]]]


class WrittenTypes:
    """Aligned rows as `datasets` writes them, without writing: only whether they can be written."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any] | Stretch] = []
        self._count = 0
        self._types: dict[str, Any] = {}
        self._fits: set[tuple[int, ...]] = set()

    def add(self, aligned: dict[str, Any]) -> str | None:
        """Take a row; returns what goes wrong when a batch is full and cannot be written, else None."""
        self._parts.append(aligned)
        self._count += 1
        return self.flush() if self._count == BATCH else None

    def add_all(self, stretches: Iterable[Stretch]) -> str | None:
        """Take rows of one kind, stretch by stretch; returns the first thing that goes wrong, else None."""
        wrong: str | None = None
        for stretch in stretches:
            self._parts.append(stretch)
            self._count += stretch.size
            if self._count >= BATCH:
                wrong = wrong or self.flush()
        return wrong

    def flush(self) -> str | None:
        """Write what is there; returns what goes wrong, else None."""
        parts, self._parts, self._count = self._parts, [], 0
        mixed = any(isinstance(part, dict) for part in parts)
        kinds = () if mixed else tuple({id(part.sample): 0 for part in parts if not isinstance(part, dict)})
        if kinds and kinds in self._fits:
            return None
        rows: list[dict[str, Any]] = []
        for part in parts:
            rows += [part] if isinstance(part, dict) else part.rows() if mixed else [part.sample]
        if not rows:
            return None
        try:
            whole = pa.array(rows)
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            whole = None  # column by column, to say which it is
        for column in rows[0]:
            try:
                array = whole.field(column) if whole is not None else pa.array([row[column] for row in rows])
                target = self._types.setdefault(column, array.type)
                cast_array(array, target)
            except (TypeError, ValueError, OverflowError, pa.ArrowException) as err:
                return f"{type(err).__name__}: {column}: {err}"
        self._fits.add(kinds)
        return None
