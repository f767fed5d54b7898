"""Write rows as Parquet; this module is only imported when somebody does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dsreg.errors import OutputError
from dsreg.rows.encode import refuse_unfit

_BATCH = 5000
_LARGEST_FLOAT32 = 3.4028235e38


MISFIT = (pa.ArrowException, OverflowError, TypeError, ValueError)
"""What Arrow raises for values that have no place in an array."""


def first_misfit(values: list[Any], kind: pa.DataType | None = None) -> int | None:
    """The position of the first value that cannot stand in one array with those before it; None if all can."""
    fits, ends = 0, len(values) + 1  # so many values fit; so many do not
    while fits + 1 < ends:
        middle = (fits + ends) // 2
        try:
            pa.array(values[:middle], type=kind)
            fits = middle
        except MISFIT:
            ends = middle
    return fits if fits < len(values) else None


class ParquetSink:
    """Collects rows into batches. Without a schema, the first batch decides on it."""

    separator = b""

    def __init__(self, file: BinaryIO, schema: pa.Schema | None, name: str) -> None:
        self._file, self._schema, self._name = file, schema, name
        self._rows: list[dict[str, Any]] = []
        self._done = 0
        self._writer: Any = None

    def write(self, row: dict[str, Any]) -> None:
        """Add one row."""
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._flush()

    def around(self, rows: int) -> tuple[bytes, bytes]:
        """Parquet takes no rows that are encoded as JSON."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write the last rows and the footer."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        for number, row in enumerate(self._rows, self._done + 1):
            refuse_unfit(row, self._name, number)
        if self._schema is None:
            self._schema = self._infer()
        for number, row in enumerate(self._rows, self._done + 1):
            self._refuse_misfits(number, row)
        table = pa.Table.from_arrays([self._column(field) for field in self._schema], schema=self._schema)
        try:
            if self._writer is None:
                self._writer = pq.ParquetWriter(self._file, self._schema)
            self._writer.write_table(table)
        except pa.ArrowException as e:
            raise self._error("", str(e)) from e
        self._done += len(self._rows)
        self._rows = []

    def _infer(self) -> pa.Schema:
        names = dict.fromkeys(key for row in self._rows for key in row)
        return pa.schema([pa.field(name, self._column(pa.field(name, pa.null()), infer=True).type) for name in names])

    def _column(self, field: pa.Field, *, infer: bool = False) -> pa.Array:
        values = [row.get(field.name) for row in self._rows]
        try:
            column = pa.array(values, type=None if infer else field.type)
        except MISFIT as e:
            at = first_misfit(values, None if infer else field.type)
            raise self._error(field.name, str(e).splitlines()[0], at) from e
        if not field.nullable and column.null_count:
            raise self._error(field.name, "a row has no value, and the schema demands one")
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def _refuse_misfits(self, number: int, row: dict[str, Any]) -> None:
        assert self._schema is not None
        types = {field.name: field.type for field in self._schema}
        for key, value in row.items():
            found = misfit(value, types[key], key) if key in types else (key, "has no place in the file's columns")
            if found:
                path, reason = found
                hint = "the columns are those of the first rows, or of the schema given; JSON Lines holds any"
                raise OutputError(f"column {path} of row {number} {reason}", where=self._name, hint=hint)

    def _error(self, column: str, reason: str, at: int | None = None) -> OutputError:
        last = self._done + len(self._rows)
        rows = f"rows {self._done + 1} to {last} do not fit into Parquet"
        if at is not None:
            rows = f"row {self._done + at + 1} does not fit into Parquet"
        hint = "all values of a column must be of one type; JSON Lines holds any"
        return OutputError(f"column {column}: {rows}: {reason}", where=self._name, hint=hint)


def misfit(value: Any, kind: pa.DataType, path: str) -> tuple[str, str] | None:
    """The path to the first value that Arrow would change or drop in silence, and why; None if there is none.

    (What does not fit at all is refused by Arrow itself.)
    """
    if isinstance(value, dict):
        if not pa.types.is_struct(kind):
            return None
        types = {field.name: field.type for field in kind}
        unknown = next((key for key in value if key not in types), None)
        if unknown is not None:
            return f"{path}.{unknown}", "has no place in the file's columns"
        return _first(misfit(inner, types[key], f"{path}.{key}") for key, inner in value.items())
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if isinstance(value, list | tuple):
        return _first(misfit(v, kind.value_type, f"{path}[{i}]") for i, v in enumerate(value)) if is_list else None
    if isinstance(value, str):
        return (path, "is text, where the file has lists") if is_list else None
    if isinstance(value, bool):
        return (path, f"is {value}, where the file has numbers") if pa.types.is_floating(kind) else None
    if isinstance(value, float) and pa.types.is_integer(kind) and not value.is_integer():
        return path, f"is {value}, where the file has integers"
    if isinstance(value, float) and pa.types.is_float32(kind) and abs(value) > _LARGEST_FLOAT32:
        return path, f"is {value}, too large for the file's numbers"
    return None


def _first(found: Iterable[tuple[str, str] | None]) -> tuple[str, str] | None:
    return next((each for each in found if each), None)
