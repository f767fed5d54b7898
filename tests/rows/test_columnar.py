"""Parquet and Arrow: read as JSON values, written without losing anything."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dsreg.errors import DataFileError, OutputError
from dsreg.rows import BadRow, open_rows, open_writer

ROWS = [{"a": "x", "m": [{"role": "user", "content": "中"}], "n": None}, {"a": "y", "m": [], "n": 5}]


def save(path: Path, table: pa.Table, how: str) -> Path:
    if how == "parquet":
        pq.write_table(table, path)
    else:
        make = pa.ipc.new_file if how == "arrow file" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema) as writer:
            writer.write_table(table)
    return path


def read(path: Path) -> list[Any]:
    with open_rows(path) as stream:
        return list(stream)


@pytest.mark.parametrize("how", ["parquet", "arrow file", "arrow stream"])
def test_rows_and_their_numbers(tmp_path: Path, how: str) -> None:
    path = save(tmp_path / "a.json", pa.Table.from_pylist(ROWS * 700), how)  # more than one batch, whatever the name
    with open_rows(path) as stream:
        assert stream.container == how.split()[0]
        found = [(stream.row, stream.line, row) for row in stream]
    assert found == [(i, None, row) for i, row in enumerate(ROWS * 700, 1)]


UTC = dt.UTC
COLUMNS: list[tuple[pa.DataType, Any, Any]] = [
    (pa.timestamp("us"), dt.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02T03:04:05"),
    (pa.timestamp("us", "UTC"), dt.datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02T00:00:00+00:00"),
    (pa.date32(), dt.date(2024, 1, 2), "2024-01-02"),
    (pa.time64("us"), dt.time(3, 4), "03:04:00"),
    (pa.duration("s"), dt.timedelta(seconds=90), 90.0),
    (pa.decimal128(30, 0), Decimal(12345678901234567890123), 12345678901234567890123),
    (pa.decimal128(10, 2), Decimal("1.50"), "1.50"),
    (pa.binary(), "中".encode(), "中"),
    (pa.large_binary(), b"x", "x"),
    (pa.float64(), 1.5, 1.5),
    (pa.int64(), 2**63 - 1, 2**63 - 1),
    (pa.uint64(), 2**64 - 1, 2**64 - 1),
    (pa.dictionary(pa.int32(), pa.string()), "x", "x"),
    (pa.list_(pa.date32()), [dt.date(2024, 1, 2), None], ["2024-01-02", None]),
    (pa.struct({"d": pa.date32(), "s": pa.string()}), {"d": None, "s": "x"}, {"d": None, "s": "x"}),
    (pa.map_(pa.string(), pa.int64()), [("k", 1)], {"k": 1}),
    (pa.large_string(), "x", "x"),
]


@pytest.mark.parametrize(
    ("kind", "value", "expected"), COLUMNS, ids=lambda x: str(x) if isinstance(x, pa.DataType) else ""
)
def test_types_become_json(tmp_path: Path, kind: pa.DataType, value: Any, expected: Any) -> None:
    table = pa.table({"c": pa.array([value, None], type=kind)})
    assert read(save(tmp_path / "a", table, "arrow file")) == [{"c": expected}, {"c": None}]


BAD: list[tuple[pa.DataType, Any, str, str]] = [
    (pa.float64(), float("nan"), "c", "nan is not JSON"),
    (pa.list_(pa.float32()), [1.0, float("inf")], "c[1]", "inf is not JSON"),
    (pa.struct({"bytes": pa.binary()}), {"bytes": b"\xff\xd8\xff"}, "c.bytes", "3 bytes that are no text"),
]


@pytest.mark.parametrize(("kind", "value", "path", "message"), BAD)
def test_values_that_are_no_json(tmp_path: Path, kind: pa.DataType, value: Any, path: str, message: str) -> None:
    table = pa.table({"c": pa.array([None, value, None], type=kind)})
    good, bad, last = read(save(tmp_path / "a", table, "parquet"))
    assert good == last == {"c": None}
    assert isinstance(bad, BadRow)
    assert (bad.code, bad.path) == ("DS201", path)
    assert message in bad.message


def test_text_that_is_not_utf8_and_times_beyond_python(tmp_path: Path) -> None:
    text = pa.Array.from_buffers(pa.string(), 2, pa.array([b"x", b"\xff"]).buffers())
    times = pa.array([0, 2**60], pa.timestamp("s"))
    for column, good in [(text, "x"), (times, "1970-01-01T00:00:00")]:
        first, bad = read(save(tmp_path / "a", pa.table({"c": column}), "arrow file"))
        assert (first, type(bad)) == ({"c": good}, BadRow)
        assert "cannot be read" in bad.message


@pytest.mark.skipif(not hasattr(pa, "json_"), reason="this pyarrow has no JSON type")
def test_json_columns_are_decoded(tmp_path: Path) -> None:
    storage = pa.array(['{"a": 12345678901234567890123}', None, "{"], type=pa.string())
    table = pa.table({"c": pa.ExtensionArray.from_storage(pa.json_(), storage)})
    first, none, bad = read(save(tmp_path / "a", table, "arrow stream"))
    assert (first, none) == ({"c": {"a": 12345678901234567890123}}, {"c": None})
    assert isinstance(bad, BadRow)


def test_a_column_name_twice(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DataFileError, match="two columns are called `a`"):
        read(save(tmp_path / "a", table, "arrow file"))


def test_packed_parquet_is_refused(tmp_path: Path) -> None:
    import gzip

    plain = save(tmp_path / "a.parquet", pa.Table.from_pylist(ROWS), "parquet")
    packed = tmp_path / "b.parquet.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    with pytest.raises(DataFileError, match="parquet inside gzip"):
        read(packed)


def test_truncated_parquet(tmp_path: Path) -> None:
    path = save(tmp_path / "a.parquet", pa.Table.from_pylist(ROWS * 99), "parquet")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataFileError, match="is broken"):
        read(path)


def test_written_parquet_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"a": "x", "b": [{"k": i}]} for i in range(6000)] + [{"b": [], "a": "y"}]
    with open_writer(path, "parquet") as writer:
        for row in rows:
            writer.write(row)
    assert read(path) == [{"a": row["a"], "b": row["b"]} for row in rows]


def test_a_key_of_a_later_row_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with open_writer(path, "parquet") as writer:
        for row in [{"a": 1}, {"b": 2}]:
            writer.write(row)
    assert read(path) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_the_schema_given_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    schema = pa.schema([("a", pa.int64()), ("b", pa.struct({"x": pa.string()}))])
    with open_writer(path, "parquet", schema=schema) as writer:
        writer.write({"a": 1})
    assert pq.read_schema(path).equals(schema)
    with open_writer(path, "parquet", schema=schema):
        pass
    assert (pq.read_schema(path).equals(schema), read(path)) == (True, [])


WIDE = pa.schema([("a", pa.list_(pa.struct({"x": pa.int64()})))])
UNFIT: list[tuple[pa.Schema | None, list[dict[str, Any]], str]] = [
    (None, [{"a": 1}, {"a": "x"}], "column a"),
    (None, [{"a": 2**70}], "column a"),
    (None, [{"a": {}}], "struct type"),
    (None, [{"a": float("nan")}], "a is nan"),
    (None, [{"a": "\ud800"}], "half a character"),
    (None, [{"a": b"x"}], "type bytes"),
    (WIDE, [{"b": 1}], "column b of row 1 has no place"),
    (WIDE, [{}, {"a": [{"x": 1}, {"x": 1, "y": 2}]}], r"column a\[1\]\.y of row 2 has no place"),
    (WIDE, [{"a": [{"x": 1.5}]}], r"column a\[0\]\.x of row 1 is 1\.5"),
    (pa.schema([("a", pa.float64())]), [{"a": True}], "column a of row 1 is True"),
    (pa.schema([("a", pa.float32())]), [{"a": 1e300}], "too large"),
    (pa.schema([("a", pa.list_(pa.string()))]), [{"a": "xy"}], "is text"),
    (pa.schema([pa.field("a", pa.int64(), nullable=False)]), [{}], "column a"),
]


@pytest.mark.parametrize(("schema", "rows", "message"), UNFIT)
def test_what_parquet_cannot_hold(
    tmp_path: Path, schema: pa.Schema | None, rows: list[dict[str, Any]], message: str
) -> None:
    path = tmp_path / "a.parquet"
    with pytest.raises(OutputError, match=message), open_writer(path, "parquet", schema=schema) as writer:
        for row in rows:
            writer.write(row)
    assert list(tmp_path.iterdir()) == []
