"""CSV files as pandas' C parser reads them for `datasets` 4.0: 10,000 rows at a time, each column typed by itself."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from .frames import refuse_many_keys
from .opened import open_text

ROWS = 10_000

NULLS = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
        *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
TRUE = frozenset(("True", "TRUE", "true"))
FALSE = frozenset(("False", "FALSE", "false"))
_INTEGER = re.compile(r"[ \t\n\r\v\f]*[+-]?[0-9]+[ \t\n\r\v\f]*")
_FLOAT = re.compile(
    r"\s*[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE
)


def read_tables(path: Path, separator: str = ",") -> Iterator[Any]:
    """The Arrow tables of one CSV file, one per 10,000 rows; the first line names the columns.

    Raises TooManyKeys, and ValueError where pandas raises: nothing in the file, too many fields, an open quote.
    """
    csv.field_size_limit(2**31 - 1)
    with open_text(path, "utf-8-sig", newline="") as file:
        rows = _records(file, separator)
        header = next(rows, None)
        if header is None:
            raise ValueError("EmptyDataError: No columns to parse from file")
        names = _names(header)
        first = next(rows, [])
        # more fields than names: the first columns are taken for an index; later rows must not have more than that
        extra, most = max(len(first) - len(names), 0), max(len(first), len(names))
        batch = [first] if first else []
        for number, row in enumerate(rows, 3):
            if len(row) > most:
                raise ValueError(
                    f"Error tokenizing data. C error: Expected {most} fields in line {number}, saw {len(row)}"
                )
            batch.append(row)
            refuse_many_keys(len(batch), most)
            if len(batch) == ROWS:
                yield _table(names, batch, extra)
                batch = []
        if batch or not first:
            yield _table(names, batch, extra)


def _records(file: TextIO, separator: str) -> Iterator[list[str]]:
    """Records without the blank lines; raises ValueError for a quote that is never closed."""
    last: list[str] = []
    read: list[str] = []  # the lines of the record at hand

    def lines() -> Iterator[str]:
        for line in file:
            read.append(line)
            yield line

    for row in csv.reader(lines(), delimiter=separator):
        if len(row) > 1 or (row and (row[0].strip(" \t") or '"' in read[-1])):
            yield row
        last = read[:]
        read.clear()
    try:
        list(csv.reader(last, delimiter=separator, strict=True))
    except csv.Error as err:
        if "unexpected end" in str(err):
            raise ValueError("Error tokenizing data. C error: EOF inside string") from err


def _names(header: list[str]) -> list[str]:
    """Column names: empty ones are `Unnamed: n`, repeated ones get a number."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for at, name in enumerate(header):
        name = name or f"Unnamed: {at}"
        fresh = name
        while fresh in seen:
            seen[name] += 1
            fresh = f"{name}.{seen[name]}"
        seen[fresh] = 0
        names.append(fresh)
    return names


def _table(names: list[str], rows: list[list[str]], extra: int) -> Any:
    columns = [_column([row[at] if at < len(row) else "" for row in rows]) for at in range(len(names) + extra)]
    labels = list(names)
    if extra:
        labels = [*names, *(f"__index_level_{at}__" for at in range(extra))]
        columns = [*columns[extra:], *columns[:extra]]
    return pa.Table.from_arrays(columns, names=labels)


def _column(texts: list[str]) -> Any:
    """One column: integers, floats, booleans or text, whichever all its values are."""
    if not texts:
        return pa.nulls(0)
    present = [text for text in texts if text not in NULLS]
    holes = len(present) < len(texts)
    if not present:
        return pa.nulls(len(texts), pa.float64())
    beyond = next((text for text in present if not _is_int64(text)), None)
    if beyond is None and not holes:
        return pa.array(list(map(int, present)), pa.int64())
    if beyond is not None and _INTEGER.fullmatch(beyond):  # an overflow before anything that is no integer
        return _big_integers(texts, holes)
    if all(map(_FLOAT.fullmatch, present)):
        return pa.array([None if text in NULLS else float(text) for text in texts], pa.float64())
    if all(text in TRUE or text in FALSE for text in present):
        return pa.array([None if text in NULLS else text in TRUE for text in texts])
    return pa.array([None if text in NULLS else text for text in texts])


def _is_int64(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def _big_integers(texts: list[str], holes: bool) -> Any:
    """Integers beyond 64 bits with sign: unsigned ones where all fit, else the text itself."""
    if not holes and all(_INTEGER.fullmatch(text) and 0 <= int(text) < 2**64 for text in texts):
        return pa.array(list(map(int, texts)), pa.uint64())
    return pa.array([None if text in NULLS else text for text in texts])
