"""CSV and TSV: every cell is text, exactly as it stands."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dsreg.errors import DataFileError
from dsreg.rows.bad import NOT_JSON, BadRow
from dsreg.rows.lines import text_lines, whole_lines
from dsreg.rows.place import Place
from dsreg.rows.source import BLOCK, MAX_ROW, Source

_BATCH = 256


def csv_rows(source: Source, place: Place, delimiter: str, size: int = BLOCK) -> Iterator[Any]:
    """A dict of texts per record, keyed by the header; a BadRow where the number of cells is another.

    Blank lines are skipped. Raises DataFileError for a header with a name twice, and a quote that is never closed.
    """
    csv.field_size_limit(MAX_ROW)
    records = csv.reader(_text(source, size), delimiter=delimiter, strict=True)
    header = _header(source, records, delimiter)
    batch: list[Any] = []
    lines: list[int] = []
    for line, record in _records(source, records):
        batch.append(_row(header, record, delimiter))
        lines.append(line)
        if len(batch) == _BATCH:
            yield from place.over(batch, lines.__getitem__)
            batch, lines = [], []
    yield from place.over(batch, lines.__getitem__)


def _text(source: Source, size: int) -> Iterator[str]:
    line = 1
    for block in whole_lines(source, size):
        lines = text_lines(block, line, source.name)
        line += len(lines)
        for text in lines:
            yield text + "\n"


def _header(source: Source, records: Any, delimiter: str) -> list[str]:
    for _, header in _records(source, records):
        if isinstance(header, str):
            raise DataFileError(f"the header cannot be read: {header}", where=f"{source.name}:1")
        twice = [name for name, count in Counter(header).items() if count > 1]
        if twice:
            message = (
                f"the header names `{twice[0]}` twice" if twice[0] else "the header has two columns without a name"
            )
            raise DataFileError(message, where=f"{source.name}:1", hint="give every column its own name")
        return header
    raise DataFileError("has no header", where=source.name)


def _records(source: Source, records: Any) -> Iterator[tuple[int, list[str] | str]]:
    """Each record with its first line; in place of a broken one, what is wrong with it."""
    while True:
        line = records.line_num + 1
        try:
            record = next(records, None)
        except csv.Error as e:
            yield line, _reason(source, line, records.line_num, e)
            continue
        if record is None:
            return
        if record:
            yield line, record


def _reason(source: Source, line: int, last: int, e: csv.Error) -> str:
    where = f"{source.name}:{line}"
    if "end of data" in str(e) or "field limit" in str(e):
        raise DataFileError("a quote is opened here and never closed", where=where, hint='write `"` as `""`') from e
    if "new-line character" in str(e):
        message = "a lone carriage return stands outside quotes"
        raise DataFileError(message, where=where, hint="convert the line ends: tr '\\r' '\\n' < old > new") from e
    return f"{e}" if line == last else f"{e}, in line {last}"


def _row(header: list[str], record: list[str] | str, delimiter: str) -> Any:
    if isinstance(record, str):
        return BadRow(NOT_JSON, "", f"not a row: {record}", "")
    if len(record) == len(header):
        return dict(zip(header, record, strict=True))
    cells = "1 cell" if len(record) == 1 else f"{len(record)} cells"
    return BadRow(NOT_JSON, "", f"{cells} where the header has {len(header)}", delimiter.join(record))
