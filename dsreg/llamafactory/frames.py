"""JSON values to Arrow columns by way of pandas' rules, without pandas.

`datasets` reads whatever Arrow's JSON Lines reader refuses, arrays above all, with `pandas.read_json` and
`dtype_backend="pyarrow"`: a column is typed as a whole, whole floats become integers, columns with date-like names
become timestamps where they can, nested values are typed by `pyarrow.array`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .dates import is_date_name, parse_dates

MISSING = float("nan")  # what pandas puts where a row lacks the key


MOST_CELLS = 10_000_000
"""How many values a table may have, rows times columns, those that rows lack included."""


class TooManyKeys(ValueError):
    """Rows have so many different keys that the table of them would be mostly empty, and huge."""


def refuse_many_keys(rows: int, keys: int) -> None:
    """Raise TooManyKeys where a table would have more than MOST_CELLS."""
    if rows * keys > MOST_CELLS:
        message = f"{rows:,} rows have {keys:,} different keys or more; a table of more than {MOST_CELLS:,} values"
        raise TooManyKeys(f"{message} is not looked at")


def table_of(data: Any) -> Any:
    """A decoded JSON document as the Arrow table that `datasets` makes of it.

    Raises ValueError, TypeError, OverflowError or a pyarrow error where pandas or Arrow would refuse the values.
    """
    names, columns = _frame(data)
    arrays = [column_array(name, values) for name, values in zip(names, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=labels_of(names))


def _frame(data: Any) -> tuple[list[Any], list[list[Any]]]:
    """Column names and values, as `pandas.DataFrame(data)` lays them out."""
    if data is None or data == [] or data == {}:
        return [], []
    if isinstance(data, dict):
        return _frame_of_columns(data)
    if not isinstance(data, list):
        raise ValueError("DataFrame constructor not properly called!")
    if isinstance(data[0], dict):
        return _frame_of_rows(data)
    if isinstance(data[0], list):
        if not all(isinstance(row, list) for row in data):
            raise TypeError("rows are lists, but not all of them")
        width = max(map(len, data))
        return list(range(width)), [[row[at] if at < len(row) else None for row in data] for at in range(width)]
    return [0], [data]


def _frame_of_rows(rows: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
    names: dict[str, None] = {}
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError(f"{type(row).__name__!r} object has no attribute 'keys'")
        names.update(dict.fromkeys(row))
        refuse_many_keys(len(rows), len(names))
    return list(names), [[row.get(name, MISSING) for row in rows] for name in names]


def _frame_of_columns(data: dict[str, Any]) -> tuple[list[Any], list[list[Any]]]:
    """An object of columns: lists of one length, or objects with a common index; single values are repeated."""
    index: list[str] = list(dict.fromkeys(key for value in data.values() if isinstance(value, dict) for key in value))
    lengths = {len(value) for value in data.values() if isinstance(value, list)}
    has_objects = any(isinstance(value, dict) for value in data.values())
    if has_objects and lengths:
        raise ValueError("Mixing dicts with non-Series may lead to ambiguous ordering.")
    if not has_objects and not lengths:
        raise ValueError("If using all scalar values, you must pass an index")
    if len(lengths) > 1:
        raise ValueError("All arrays must be of the same length")
    rows = len(index) if has_objects else lengths.pop()
    columns = [
        value
        if isinstance(value, list)
        else [value.get(key, MISSING) for key in index]
        if isinstance(value, dict)
        else [value] * rows
        for value in data.values()
    ]
    return list(data), columns


def labels_of(names: list[Any]) -> list[str]:
    """Column names as pandas converts them: all numbers, or all dates, are read as such."""
    labels = _number_labels(names) or _date_labels(names) or [str(name) for name in names]
    return ["text"] if labels == ["0"] and _number_labels(names) else labels


def _number_labels(names: list[Any]) -> list[str] | None:
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return None
    if any(isinstance(name, str) and "_" in name for name in names) or not all(map(math.isfinite, numbers)):
        return None
    return [str(int(number)) if number == int(number) else str(number) for number in numbers]


def _date_labels(names: list[Any]) -> list[str] | None:
    dates = parse_dates(names) if names else None
    return None if dates is None else ["NaT" if date is None else str(date) for date in dates]


def is_missing(value: Any) -> bool:
    """Whether pandas takes the value for missing."""
    return value is None or (isinstance(value, float) and value != value)


def column_array(name: Any, values: list[Any]) -> Any:
    """One column as an Arrow array, typed as pandas' `convert_dtypes(dtype_backend="pyarrow")` types it."""
    if is_date_name(name) and (dates := parse_dates(values)) is not None:
        return pa.array(dates, pa.timestamp("ns"))
    kinds = {type(value) for value in values if not is_missing(value)}
    if not kinds:
        # nothing but nulls stays null; a missing key makes it a column of floats, which become integers
        return pa.nulls(len(values), pa.int64() if any(value is not None for value in values) else pa.null())
    if kinds <= {int, float}:
        return _numbers(values, float in kinds)
    return pa.array(values, from_pandas=True)


def _numbers(values: list[Any], floats: bool) -> Any:
    """Integers, also where all floats are whole; beside missing values integers have been floats for a moment."""
    holes = any(map(is_missing, values))
    if not floats and not holes:
        return pa.array(values)
    if floats or holes:
        values = [None if is_missing(value) else float(value) for value in values]
    if all(value is None or (math.isfinite(value) and abs(value) < 2**63 and value == int(value)) for value in values):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    return pa.array(values, pa.float64())
