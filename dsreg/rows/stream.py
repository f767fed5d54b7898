"""Open any data file as a stream of rows that know their place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from dsreg.errors import UsageError
from dsreg.rows.columnar import columnar_rows
from dsreg.rows.decode import Decoder
from dsreg.rows.lines import jsonl_rows, txt_rows
from dsreg.rows.place import Place
from dsreg.rows.sniff import CONTAINERS, container_of
from dsreg.rows.source import Source
from dsreg.rows.tables import csv_rows
from dsreg.rows.values import json_rows

_READERS: dict[str, Callable[[Source, Decoder, Place], Iterator[Any]]] = {
    "jsonl": jsonl_rows,
    "json": json_rows,
    "csv": lambda source, decoder, place: csv_rows(source, place, ","),
    "tsv": lambda source, decoder, place: csv_rows(source, place, "\t"),
    "txt": lambda source, decoder, place: txt_rows(source, place),
    "parquet": lambda source, decoder, place: columnar_rows(source, place, "parquet"),
    "arrow": lambda source, decoder, place: columnar_rows(source, place, "arrow"),
}


class RowStream:
    """The rows of one file, in order, once: an iterator and a context manager that closes the file.

    Yields the decoded row, any JSON value, or a BadRow. Raises DataFileError where the file cannot be read on.
    """

    def __init__(self, source: Source, container: str, decoder: Decoder) -> None:
        self.path = source.path
        self.container = container
        self._source = source
        self._place = Place()
        self._rows = _READERS[container](source, decoder, self._place)

    @property
    def row(self) -> int:
        """1-based number of the row just yielded; 0 before the first."""
        return self._place.row

    @property
    def line(self) -> int | None:
        """1-based line where the row just yielded begins; None before the first, and in Parquet and Arrow files."""
        return self._place.line

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def __next__(self) -> Any:
        return next(self._rows)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def open_rows(path: Path, *, kind: str | None = None, unique: Collection[str] = (), name: str = "") -> RowStream:
    """Open a data file; its container is found by content unless `kind` names one.

    `unique` are the top-level keys that no row may hold twice; `name` is what errors call the file. Raises
    DataFileError at once if this is no regular file with something in it, UsageError for an unknown kind.
    """
    if kind is not None and kind not in CONTAINERS:
        raise UsageError(f"unknown kind of file `{kind}`", hint=f"one of {', '.join(CONTAINERS)}")
    source = Source(Path(path), name)
    try:
        return RowStream(source, kind or container_of(source), Decoder(unique))
    except BaseException:
        source.close()
        raise
