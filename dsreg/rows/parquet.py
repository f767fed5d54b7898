"""Write rows as Parquet; this module is only imported when somebody does."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dsreg.errors import OutputError
from dsreg.rows.encode import refuse_unfit

_BATCH = 5000


class ParquetSink:
    """Collects rows into batches. Without a schema, the first batch decides on it."""

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
            self._refuse_unknown(number, row)
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
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as e:
            raise self._error(field.name, str(e).splitlines()[0]) from e
        if not field.nullable and column.null_count:
            raise self._error(field.name, "a row has no value, and the schema demands one")
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def _refuse_unknown(self, number: int, row: dict[str, Any]) -> None:
        assert self._schema is not None
        types = {field.name: field.type for field in self._schema}
        for key, value in row.items():
            path = unknown_key(value, types[key], key) if key in types else key
            if path:
                hint = "the columns are those of the first rows, or of the schema given"
                raise OutputError(f"column {path}: row {number} has it, the file has not", where=self._name, hint=hint)

    def _error(self, column: str, reason: str) -> OutputError:
        last = self._done + len(self._rows)
        rows = f"rows {self._done + 1} to {last} do not fit into Parquet"
        hint = "all values of a column must be of one type; JSON Lines holds any"
        return OutputError(f"column {column}: {rows}: {reason}", where=self._name, hint=hint)


def unknown_key(value: Any, kind: pa.DataType, path: str) -> str:
    """The path to a key in a value that its Arrow type has no place for, "" if there is none; Arrow would drop it."""
    if isinstance(value, dict) and pa.types.is_struct(kind):
        types = {field.name: field.type for field in kind}
        for key, inner in value.items():
            found = unknown_key(inner, types[key], f"{path}.{key}") if key in types else f"{path}.{key}"
            if found:
                return found
    elif isinstance(value, list | tuple) and (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        for i, inner in enumerate(value):
            found = unknown_key(inner, kind.value_type, f"{path}[{i}]")
            if found:
                return found
    return ""
