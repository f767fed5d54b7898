"""Parquet and Arrow: batches of columns, turned into rows of JSON values."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from dsreg.errors import DataFileError
from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import NOT_JSON, BadRow
from dsreg.rows.place import Place
from dsreg.rows.source import Source
from dsreg.rows.strict import strict

_BATCH = 512
PART = 1 << 12
"""How many rows a part has at most."""
PART_BYTES = 8 << 20
"""How many bytes a part takes at most, where a row takes less."""

Convert = Callable[[str, Any], Any]
"""Takes the path inside the row and a value as pyarrow gives it; returns a JSON value or raises RowError."""


class Part(Source):
    """Rows of a Parquet or Arrow file, in batches, as a source of its own."""

    def __init__(self, path: Path, batches: Iterable[list[Any]]) -> None:
        self.path, self.name, self.batches = path, str(path), batches

    def close(self) -> None:
        """Nothing is open."""


def columnar_rows(source: Source, place: Place, container: str) -> Iterator[Any]:
    """The rows of a Parquet or Arrow file (an IPC file or stream); BadRow where a value has no JSON form."""
    batches = source.batches if isinstance(source, Part) else _rest(source, container, 0)
    for rows in batches:
        yield from place.over(rows, _no_line)


def columnar_parts(source: Source, container: str, first: int, step: int) -> Iterator[Part]:
    """Every `step`-th part of a Parquet or Arrow file from the `first` on; each is to be used before the next.

    A part is so many rows of a row group, or of an Arrow batch, as make some megabytes.
    """
    found = _batches(source, container, lambda part: part >= first and (part - first) % step == 0)
    for _, batches in groupby(found, itemgetter(0)):
        yield Part(source.path, map(itemgetter(1), batches))


def columnar_rest(source: Source, container: str, first: int) -> Part:
    """All rows from the part of that number on."""
    return Part(source.path, _rest(source, container, first))


def _rest(source: Source, container: str, first: int) -> Iterator[list[Any]]:
    return map(itemgetter(1), _batches(source, container, lambda part: part >= first))


def _batches(source: Source, container: str, wanted: Callable[[int], bool]) -> Iterator[tuple[int, list[Any]]]:
    """The rows of the parts that are wanted, in batches, each with the number of its part."""
    import pyarrow as pa

    with ExitStack() as stack:
        try:
            schema, groups = (_parquet if container == "parquet" else _arrow)(source, stack)
            _check_names(source, schema.names)
            converts = {field.name: convert for field in schema if (convert := converter(field.type))}
            before = 0
            for group in groups:
                size = max(1, min(PART, PART_BYTES * group.rows // max(1, group.size)))
                parts = range(before, before - (-group.rows // size))
                before = parts.stop
                if any(map(wanted, parts)):
                    for part, batch in _slices(group, parts, size):
                        if wanted(part):
                            yield part, _rows(batch, converts)
        except (pa.ArrowException, OSError, ValueError) as e:
            message = f"the {container} file is broken: {str(e).splitlines()[0]}"
            raise DataFileError(message, where=source.name, hint="fetch or write the file again") from e


def _slices(group: _Group, parts: range, size: int) -> Iterator[tuple[int, Any]]:
    """The batches of a group, cut where its parts of `size` rows end, and to what is decoded at once."""
    row = 0
    for batch in group.batches():
        start = 0
        while start < batch.num_rows:
            part = row // size
            rows = min(_BATCH, size * (part + 1) - row, batch.num_rows - start)
            yield parts[part], batch.slice(start, rows)
            row, start = row + rows, start + rows


def _no_line(index: int) -> None:
    return None


class _Group(NamedTuple):
    """A row group, or an Arrow batch: its rows, its bytes, and what reads it."""

    rows: int
    size: int
    batches: Callable[[], Iterable[Any]]


def _parquet(source: Source, stack: ExitStack) -> tuple[Any, Iterator[_Group]]:
    import pyarrow.parquet as pq

    file = stack.enter_context(pq.ParquetFile(source.path))

    def group(i: int) -> _Group:
        about = file.metadata.row_group(i)
        read = partial(file.iter_batches, batch_size=_BATCH, row_groups=[i])
        return _Group(about.num_rows, about.total_byte_size, read)

    return file.schema_arrow, map(group, range(file.metadata.num_row_groups))


def _arrow(source: Source, stack: ExitStack) -> tuple[Any, Iterator[_Group]]:
    import pyarrow as pa

    data = stack.enter_context(pa.memory_map(str(source.path)))
    if source.raw_head.startswith(b"ARROW1"):
        file = stack.enter_context(pa.ipc.open_file(data))
        schema, batches = file.schema, map(file.get_batch, range(file.num_record_batches))
    else:
        stream = stack.enter_context(pa.ipc.open_stream(data))
        schema, batches = stream.schema, iter(stream)
    return schema, (_Group(batch.num_rows, batch.nbytes, partial(iter, [batch])) for batch in batches)


def _check_names(source: Source, names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataFileError(f"two columns are called `{twice[0]}`", where=source.name)


def _rows(batch: Any, converts: dict[str, Convert]) -> list[Any]:
    try:
        rows = batch.to_pylist()
    except (ValueError, OverflowError) as e:  # text that is not UTF-8, a time beyond Python's
        if batch.num_rows == 1:
            return [BadRow(NOT_JSON, "", f"a value cannot be read: {e}", "")]
        return [row for i in range(batch.num_rows) for row in _rows(batch.slice(i, 1), converts)]
    return [_row(row, converts) for row in rows] if converts else rows


def _row(row: dict[str, Any], converts: dict[str, Convert]) -> Any:
    try:
        return {name: convert(name, v) if (convert := converts.get(name)) else v for name, v in row.items()}
    except RowError as e:
        return BadRow(e.code, e.path, e.message, json.dumps(row, ensure_ascii=False, default=str))


def converter(kind: Any) -> Convert | None:
    """What to do with the values of an Arrow type; None where pyarrow's Python value is a JSON value already."""
    import pyarrow.types as t

    if getattr(kind, "extension_name", None) == "arrow.json":
        return _json
    if getattr(kind, "extension_name", None) is not None:
        return converter(kind.storage_type)
    if t.is_dictionary(kind):
        return converter(kind.value_type)
    for check, convert in _leaves(t):
        if check(kind):
            return convert
    if t.is_struct(kind):
        return _struct({field.name: c for field in kind if (c := converter(field.type))})
    if t.is_map(kind):
        return _map(converter(kind.item_type))
    return _list(converter(kind.value_type)) if hasattr(kind, "value_type") else None


def _leaves(t: Any) -> list[tuple[Callable[[Any], bool], Convert]]:
    return [
        (t.is_floating, _float),
        (t.is_temporal, _time),
        (t.is_decimal, _decimal),
        (lambda kind: t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind), _bytes),
        (lambda kind: getattr(t, "is_binary_view", lambda _: False)(kind), _bytes),
    ]


def _float(path: str, value: Any) -> Any:
    if value is not None and not math.isfinite(value):
        raise RowError(NOT_JSON, path, f"{value} is not JSON")
    return value


def _time(path: str, value: Any) -> Any:
    """ISO text; a duration in seconds."""
    if value is None:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value.total_seconds()


def _decimal(path: str, value: Any) -> Any:
    """A whole number as an integer, another as its exact text: a double could not hold it."""
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else str(value)


def _bytes(path: str, value: Any) -> Any:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        shown = base64.b64encode(value[:12]).decode()
        raise RowError(NOT_JSON, path, f"{len(value):,} bytes that are no text (base64 {shown}…)") from None


def _json(path: str, value: Any) -> Any:
    if value is None:
        return None
    try:
        return strict(value.encode())
    except ValueError as e:
        if isinstance(e, RowError):
            raise
        raise RowError(NOT_JSON, path, f"the JSON in this column is broken: {e}") from None


def _struct(inner: dict[str, Convert]) -> Convert | None:
    def convert(path: str, value: Any) -> Any:
        if value is None:
            return None
        return {k: inner[k](f"{path}.{k}", v) if k in inner else v for k, v in value.items()}

    return convert if inner else None


def _list(inner: Convert | None) -> Convert | None:
    if inner is None:
        return None
    return lambda path, value: None if value is None else [inner(f"{path}[{i}]", v) for i, v in enumerate(value)]


def _map(inner: Convert | None) -> Convert:
    def convert(path: str, value: Any) -> Any:
        if value is None:
            return None
        pairs = [(k if isinstance(k, str) else str(k), v) for k, v in value]
        return {k: inner(f"{path}.{k}", v) if inner else v for k, v in pairs}

    return convert
