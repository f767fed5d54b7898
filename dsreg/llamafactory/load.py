"""Loading: the files of an entry as the rows that LlamaFactory's converter sees (data/loader.py, `datasets` 4.0).

Loading is gone through twice: `load` reads everything once, to find out whether it loads and how many rows there
are; `Loaded.tables` then gives the rows. Small datasets are kept in between, large ones read again, so that memory
does not grow with the file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import csvfile, jsonfile
from .arrowcast import NewColumns, cast_table
from .frames import TooManyKeys
from .opened import open_text
from .outcome import Fatal, Note, Stop
from .resolve import Entry
from .runs import Run
from .sampling import draw
from .sources import Source, find_source, stop
from .splits import ranges_of

Prove = Callable[[Path, int, bytearray, int], Run | None]

KEEP_BYTES = 16 << 20
ROWS_AT_ONCE = 1_000
TEXT_CHUNK = 10 << 20


@dataclass
class Loaded:
    """A dataset that loads: its schema, the number of rows, and how to get them."""

    schema: Any
    num_rows: int
    tables: Callable[[], Iterator[Any]]
    notes: list[Note] = field(default_factory=list)

    def parts(self) -> Iterator[list[dict[str, Any]] | Run]:
        """All rows: lists of dicts of Python values, as `datasets` gives them, and runs; keys a row lacked are None."""
        for table in self.tables():
            if isinstance(table, Run):
                yield table
                continue
            for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
                if batch.num_rows:
                    yield _plain(pa.Table.from_batches([batch])).to_pylist()


def load(entry: Entry, dataset_dir: Path, prove: Prove | None = None) -> Loaded | list[Note]:
    """Load the rows of `entry`; raises Stop("load").

    `prove` is given each chunk of a JSON Lines file and may find that it is a run.
    Returns notes instead for data that is not looked at: on a hub, in the cloud, in a folder with its own configs.
    """
    if not isinstance(entry.dataset_name, str):
        message = f"TypeError: __str__ returned non-string (type {type(entry.dataset_name).__name__})"
        raise stop("source_not_text", message, "file_name")
    if entry.load_from == "cloud_file" and not entry.dataset_name.startswith(("s3://", "gs://", "gcs://")):
        message = f"Unsupported protocol in path: {entry.dataset_name}. Use 's3://' or 'gs://'."
        raise stop("cloud_protocol", message, "cloud_file_name")
    if entry.load_from not in ("file", "script"):
        return [Note("not_local", f"{entry.dataset_name} is not a local file")]
    if "\0" in entry.dataset_name:
        raise stop("file_not_found", "ValueError: embedded null byte", "file_name")
    source = find_source(entry, dataset_dir)
    if not source.splits:
        return source.notes
    loaded = _select(entry, _prepare(source, prove))
    loaded.notes = [*source.notes, *_date_notes(loaded.schema, source.kind), *loaded.notes]
    return loaded


@dataclass
class _Prepared:
    """All splits after the first reading."""

    schema: Any
    lengths: dict[str, int]
    tables: Callable[[str], Iterator[Any]]


def _prepare(source: Source, prove: Prove | None) -> _Prepared:
    """Read every file of every split once, with the types that the first table sets."""
    runs: dict[tuple[Path, int], Run | None] = {}
    rows = 0

    def first(path: Path, offset: int, chunk: bytearray) -> Run | None:
        known = (path, offset) in runs  # read twice, by a name that is a pattern
        run = prove(path, offset, chunk, rows) if prove is not None and not known else None
        if run is not None and not run.fits(run.schema if schema is None else schema):
            run = None
        if run is not None:
            run.others.clear()
        runs[path, offset] = run
        return run

    schema: Any = None
    lengths: dict[str, int] = {}
    kept: dict[str, list[Any]] | None = {}
    size = 0
    for split, files in source.splits.items():
        lengths[split] = 0
        for file, table in _tables(source.kind, files, first):
            if schema is None:
                schema = table.schema.remove_metadata()
                _check_types(schema, file)
            if isinstance(table, Run):
                lengths[split] += table.count
            else:
                table = _cast(table, schema, file)
                lengths[split] += len(table) if schema.names else 0
                size += table.nbytes
            rows = lengths[split]
            kept = None if kept is None or size > KEEP_BYTES else kept
            if kept is not None:
                kept.setdefault(split, []).append(table)
        if schema is None:
            raise stop("no_rows", "An error occurred while generating the dataset: there is nothing in it")

    def tables(split: str) -> Iterator[Any]:
        if kept is not None:
            yield from kept.get(split, [])
        else:
            again = source.splits[split]
            for file, table in _tables(source.kind, again, lambda path, offset, chunk: runs.get((path, offset))):
                yield table if isinstance(table, Run) else _cast(table, schema, file)

    return _Prepared(schema, lengths, tables)


def _tables(
    kind: str, files: list[Path], prove: Callable[[Path, int, bytearray], Run | None]
) -> Iterator[tuple[Path, Any]]:
    """The tables or runs of the files, each with its file; raises Stop("load") for what cannot be parsed."""
    for file in files:
        reader = jsonfile.read_tables(file, prove) if kind == "json" else _READERS[kind](file)
        while True:
            try:
                table = next(reader)
            except StopIteration:
                break
            except (ValueError, TypeError, OverflowError, OSError, pa.ArrowException, RecursionError) as err:
                message = f"An error occurred while generating the dataset: {err}"
                raise stop(_reason(err), message, "file_name", file) from err
            yield file, table


def _reason(err: Exception) -> str:
    """Whether the content is broken or its types change: Arrow says it in words only."""
    if isinstance(err, TooManyKeys):
        return "too_many_keys"
    words = ("changed from", "cannot mix", "Expected bytes", "Could not convert", "tried to convert")
    return "type_change" if any(word in str(err) for word in words) else "file_content"


def _cast(table: Any, schema: Any, file: Path) -> Any:
    try:
        return cast_table(table, schema)
    except NewColumns as err:
        raise stop("schema_lock", f"An error occurred while generating the dataset: {err}", "file_name", file) from err
    except (TypeError, ValueError, pa.ArrowException) as err:
        message = f"An error occurred while generating the dataset: {err}"
        raise stop("schema_lock" if "to null" in message else "type_change", message, "file_name", file) from err


def _check_types(schema: Any, file: Path) -> None:
    """Types that `datasets` has no name for stop the run, even in columns that nobody uses."""
    for column in schema:
        if (unknown := _unknown_type(column.type)) is not None:
            message = f"Arrow type {unknown} does not have a datasets dtype equivalent."
            raise stop("type_unknown", message, column.name, file)


def _unknown_type(kind: Any) -> Any:
    """The first type within `kind` that `datasets` does not know, else None."""
    if pa.types.is_struct(kind):
        inner = (_unknown_type(part.type) for part in kind)
        return next((found for found in inner if found is not None), None)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _unknown_type(kind.value_type)
    tests = (
        pa.types.is_map,
        pa.types.is_union,
        pa.types.is_string_view,
        pa.types.is_binary_view,
        pa.types.is_list_view,
    )
    return kind if any(test(kind) for test in (*tests, pa.types.is_run_end_encoded)) else None


def _text_tables(path: Path) -> Iterator[Any]:
    """Lines of a text file, the empty ones included; text ends are those of Python's universal newlines."""
    with open_text(path) as file:
        while chunk := file.read(TEXT_CHUNK):
            lines = io.StringIO(chunk + file.readline()).readlines()
            yield pa.table({"text": pa.array([line.rstrip("\n") for line in lines], pa.string())})


def _parquet_tables(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
            yield pa.Table.from_batches([batch])


def _arrow_tables(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        try:
            reader = pa.ipc.open_stream(file)
            yield reader.schema.empty_table()
            yield from (pa.Table.from_batches([batch]) for batch in reader)
        except pa.ArrowInvalid:
            reader = pa.ipc.open_file(file)
            yield reader.schema.empty_table()
            for at in range(reader.num_record_batches):
                yield pa.Table.from_batches([reader.get_batch(at)])


_READERS: dict[str, Callable[[Path], Iterator[Any]]] = {
    "csv": csvfile.read_tables,
    "tsv": lambda path: csvfile.read_tables(path, "\t"),
    "text": _text_tables,
    "parquet": _parquet_tables,
    "arrow": _arrow_tables,
}


def _select(entry: Entry, prepared: _Prepared) -> Loaded:
    """The rows that `split` and `num_samples` leave, in their order."""
    if not isinstance(entry.split, str | int | float):
        for part in entry.split.values() if isinstance(entry.split, dict) else entry.split or []:
            ranges_of(str(part), prepared.lengths)
        message = f"AttributeError: `split` is {entry.split!r}, so a dict or list of datasets comes back"
        raise Stop(Fatal("align", message, "split_not_text", "split"))
    ranges = ranges_of(str(entry.split), prepared.lengths)
    rows = sum(stop_at - start for _, start, stop_at in ranges)

    def tables() -> Iterator[Any]:
        for split, start, stop_at in ranges:
            yield from _slice(prepared.tables(split), start, stop_at)

    if entry.num_samples is None:
        return Loaded(prepared.schema, rows, tables)
    wanted = entry.num_samples
    if not isinstance(wanted, int):
        raise stop("num_samples_invalid", f"TypeError: `num_samples` is {wanted!r}, no whole number", "num_samples")
    if wanted < 0:
        raise stop("num_samples_invalid", "AssertionError: Sample num mismatched.", "num_samples")
    note = Note("random_sample", f"{wanted} of {rows} rows, drawn at random", "num_samples")
    return Loaded(prepared.schema, wanted, lambda: _sample(tables(), rows, wanted, prepared.schema), [note])


def _slice(tables: Iterator[Any], start: int, end: int) -> Iterator[Any]:
    at = 0
    for table in tables:
        low, high = max(start - at, 0), min(end - at, len(table))
        if isinstance(table, Run):
            yield table  # there are none but where all rows are wanted
        elif low < high:
            yield table.slice(low, high - low)
        at += len(table)
        if at >= end:
            return


def _sample(tables: Iterator[Any], rows: int, wanted: int, schema: Any) -> Iterator[Any]:
    """The drawn rows; a draw needs any row at any time, so the Arrow table is held whole."""
    whole = pa.concat_tables([schema.empty_table(), *tables])
    for index in draw(rows, wanted):
        yield whole.slice(index, 1)


def _plain(table: Any) -> Any:
    """Nanosecond timestamps as microseconds: Python has no finer ones, and only their kind matters."""
    if "[ns" not in str(table.schema):
        return table
    fields = [field.with_type(_micro(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields), safe=False)


def _micro(kind: Any) -> Any:
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_list(kind):
        return pa.list_(_micro(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_micro(field.type)) for field in kind])
    return kind


_READ_AS_DATES = "the text of column {!r} is read as timestamps"


def _date_notes(schema: Any, kind: str) -> list[Note]:
    said = "column {!r} holds timestamps, not text" if kind in ("parquet", "arrow") else _READ_AS_DATES
    return [
        Note("dates_read", said.format(field.name), field.name) for field in schema if "timestamp" in str(field.type)
    ]
