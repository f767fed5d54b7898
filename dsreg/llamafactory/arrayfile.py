"""Large JSON arrays of objects, read a few thousand rows at a time instead of all at once.

The result is the table that `frames.table_of` gives for the whole document, at the cost of the Arrow columns instead
of Python objects. Whatever is out of the ordinary gives None: then the document is read whole, which also tells what
is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from .arrowcast import cast_array
from .dates import is_date_name
from .frames import TooManyKeys, column_array, is_missing, labels_of, refuse_many_keys
from .opened import open_text

ROWS = 5_000
READ = 1 << 20
_SPACE = re.compile(r"[ \t\n\r]*")


def table_of_array(path: Path, integer: Callable[[str], int]) -> Any | None:
    """The table of a file that holds one JSON array of objects; None where it is not that simple.

    `integer` decodes the digits of integers and may refuse them with ValueError. Raises TooManyKeys.
    """
    columns: dict[str, _Column] = {}
    rows = 0
    try:
        with open_text(path) as file:
            elements = _elements(file, json.JSONDecoder(strict=False, parse_int=integer))
            while batch := list(islice(elements, ROWS)):
                names = dict.fromkeys(name for row in batch for name in row)
                refuse_many_keys(len(batch), len(names))
                for name in (*names, *(name for name in columns if name not in names)):
                    column = columns.setdefault(name, _Column(name, rows))
                    column.add([row.get(name, _ABSENT) for row in batch])
                rows += len(batch)
                refuse_many_keys(rows, len(columns))
        arrays = [column.array() for column in columns.values()]
        return pa.Table.from_arrays(arrays, names=labels_of(list(columns)))
    except TooManyKeys:
        raise
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, pa.ArrowException):
        return None


_ABSENT = float("nan")  # what pandas has for a key that a row lacks


class _Column:
    """One column in chunks of the types their own values have; `absent` when a row before or within lacks the key."""

    def __init__(self, name: str, rows_before: int) -> None:
        self.name = name
        self.chunks: list[Any] = [pa.nulls(rows_before)] if rows_before else []
        self.absent = rows_before > 0

    def add(self, values: list[Any]) -> None:
        self.absent = self.absent or any(value is not None and is_missing(value) for value in values)
        self.chunks.append(pa.array(values, from_pandas=True))

    def array(self) -> Any:
        """The column by the rules for whole columns; those that look at more than types are given the values."""
        merged = self.chunks[0].type
        for chunk in self.chunks[1:]:
            merged = merge(merged, chunk.type)
        if is_date_name(self.name) or pa.types.is_null(merged) or _is_number(merged):
            hole = _ABSENT if self.absent else None
            return column_array(
                self.name, [hole if value is None else value for chunk in self.chunks for value in chunk.to_pylist()]
            )
        return pa.chunked_array([cast_array(chunk, merged) for chunk in self.chunks], merged)


def merge(one: Any, other: Any) -> Any:
    """The type that Arrow infers for values of both types together; raises TypeError where it infers none."""
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if _is_number(one) and _is_number(other):
        return pa.float64()
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(merge(one.value_type, other.value_type))
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {field.name: field.type for field in one}
        for field in other:
            fields[field.name] = merge(fields[field.name], field.type) if field.name in fields else field.type
        return pa.struct(list(fields.items()))
    raise TypeError(f"{one} and {other} in one column")


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_float64(kind))


def _elements(file: TextIO, decoder: json.JSONDecoder) -> Iterator[dict[str, Any]]:
    """The elements of the array; raises ValueError for anything but an array of objects that ends with the file."""
    text, at = file.read(READ), 0
    at = _skip(text, at)
    if text[at : at + 1] != "[":
        raise ValueError("not an array")
    at += 1
    while True:
        value, text, at = _next(file, text, at, decoder)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        yield value
        text, at = _after(file, text, at)
        if text[at] == "]":
            if text[at + 1 :].strip() or file.read().strip():
                raise ValueError("Trailing data")
            return
        if text[at] != ",":
            raise ValueError("neither a comma nor the end")
        at += 1


def _next(file: TextIO, text: str, at: int, decoder: json.JSONDecoder) -> tuple[Any, str, int]:
    """The value at `at`, with more text where it is not all there yet."""
    while True:
        try:
            value, end = decoder.raw_decode(text, _skip(text, at))
            return value, text, end
        except ValueError:
            more = file.read(max(READ, len(text) - at))
            if not more:
                raise
            text, at = text[at:] + more, 0


def _after(file: TextIO, text: str, at: int) -> tuple[str, int]:
    at = _skip(text, at)
    while at >= len(text):
        more = file.read(READ)
        if not more:
            raise ValueError("the array does not end")
        text, at = more, _skip(more, 0)
    return text, at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
