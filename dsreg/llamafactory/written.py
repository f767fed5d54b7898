"""The table that `datasets.map` writes aligned rows to: the first 1,000 rows set the types, later ones must fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from .arrowcast import cast_array

BATCH = 1_000


class WrittenTypes:
    """Aligned rows as `datasets` writes them, without writing: only whether they can be written."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._types: dict[str, Any] = {}

    def add(self, aligned: dict[str, Any]) -> str | None:
        """Take a row; returns what goes wrong when a batch is full and cannot be written, else None."""
        self._rows.append(aligned)
        return self.flush() if len(self._rows) == BATCH else None

    def flush(self) -> str | None:
        """Write what is there; returns what goes wrong, else None."""
        rows, self._rows = self._rows, []
        if not rows:
            return None
        for column in rows[0]:
            try:
                array = pa.array([row[column] for row in rows])
                target = self._types.setdefault(column, array.type)
                cast_array(array, target)
            except (TypeError, ValueError, OverflowError, pa.ArrowException) as err:
                return f"{type(err).__name__}: {column}: {err}"
        return None
