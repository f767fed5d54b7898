"""What is written is read back equal, whatever the container, the packing and the size of a block."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.rows import array_blocks, jsonl_blocks, open_rows, open_writer
from dsreg.rows.decode import Decoder, has_long_integer
from dsreg.rows.lines import jsonl_rows
from dsreg.rows.place import Place
from dsreg.rows.source import Source
from dsreg.rows.values import json_rows

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

HOSTILE = [
    '},{"a"',
    '"a":',
    '{"a":1}',
    "},\n{",
    "]",
    "[",
    "\\",
    '\\"',
    '"',
    ",",
    "\u2028",
    "\n",
    "\r",
    "😀",
    "\0",
    "中",
    "a",
    "#",
]
texts = st.one_of(
    st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join), st.text(st.characters(codec="utf-8"), max_size=8)
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
keys = st.one_of(st.sampled_from(["a", "b", "from", "", ",", "问"]), texts)
values = st.recursive(
    scalars, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(keys, v, max_size=3)), max_leaves=6
)
rows = st.lists(st.dictionaries(keys, values, max_size=3), max_size=12)


def read_all(path: Path, **options: Any) -> list[Any]:
    with open_rows(path, **options) as stream:
        return list(stream)


@settings(quick, max_examples=60)
@given(rows=rows)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.zst"])
def test_written_rows_are_read_back(tmp_path: Path, name: str, rows: list[dict[str, Any]]) -> None:
    path = tmp_path / name
    container = "json" if ".json." in f"{name}." else "jsonl"
    with open_writer(path, container) as writer:
        for row in rows:
            writer.write(row)
    assert writer.rows == len(rows)
    if rows or container == "json":
        assert repr(read_all(path, unique=["a", "问"])) == repr(rows)


def dump(rows: list[Any], indent: int | None, ascii_only: bool) -> bytes:
    separators = (",", ":") if indent is None and ascii_only else None
    return json.dumps(rows, indent=indent, ensure_ascii=ascii_only, separators=separators).encode()


@quick
@given(
    rows=st.lists(st.one_of(st.dictionaries(keys, values, max_size=3), values), max_size=12),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    ascii_only=st.booleans(),
    size=st.integers(1, 200),
)
def test_array_in_blocks_of_any_size(tmp_path: Path, rows: list[Any], indent: Any, ascii_only: bool, size: int) -> None:
    path = tmp_path / "a.json"
    data = dump(rows, indent, ascii_only)
    path.write_bytes(data)
    place, found, lines = Place(), [], []
    with Source(path) as source:
        source.peek(1)
        for row in json_rows(Chopped(source, size), Decoder(["a"]), place, size):  # type: ignore[arg-type]
            found.append(row)
            lines.append((place.row, place.line))
    assert repr(found) == repr(rows)
    assert lines == [(i, line) for i, line in enumerate(lines_of_array(data, rows, indent), 1)]


class Chopped:
    """A source that gives no more than it is asked for, however little that is."""

    line = 1

    def __init__(self, source: Source, size: int) -> None:
        self.name, self.given, self._size = source.name, 0, size
        self._data = b""
        while more := source.read():
            self._data += more

    def peek(self, size: int) -> bytes:
        return self._data

    def read(self, size: int = 1) -> bytes:
        data, self._data = self._data[: min(size, self._size)], self._data[min(size, self._size) :]
        self.given += len(data)
        return data


def lines_of_array(data: bytes, rows: list[Any], indent: Any) -> list[int]:
    """The line of each row, from the lengths of the rows' own texts."""
    if indent is None:
        return [1] * len(rows)
    heights = [json.dumps(row, indent=indent).count("\n") for row in rows]
    return [2 + i + sum(heights[:i]) for i in range(len(rows))]


@quick
@given(
    rows=st.lists(values, max_size=12),
    size=st.integers(1, 200),
    blank=st.sampled_from(["\n", "\r\n", "\n\n", "\n \r\n"]),
)
def test_lines_in_blocks_of_any_size(tmp_path: Path, rows: list[Any], size: int, blank: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + blank for row in rows) + " ", "utf-8", newline="")
    place, found, step = Place(), [], blank.count("\n")
    with Source(path) as source:
        for row in jsonl_rows(Chopped(source, size), Decoder(["a"]), place, size):  # type: ignore[arg-type]
            found.append(row)
            assert (place.row, place.line) == (len(found), 1 + (len(found) - 1) * step)
    assert repr(found) == repr(rows)


@pytest.mark.parametrize("first_key", ["role", ",", " x", "]"])
def test_rows_whose_parts_begin_like_rows(tmp_path: Path, first_key: str) -> None:
    rows = [{first_key: i, "turns": [{first_key: j, "v": "x" * (i % 50)} for j in range(i % 20)]} for i in range(3000)]
    for indent in (None, 2):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(rows, indent=indent))
        assert read_all(path) == rows


@pytest.mark.parametrize(("blocks", "wrap"), [(jsonl_blocks, b"%b"), (array_blocks, b"[%b]")])
def test_raw_blocks_are_whole_rows(tmp_path: Path, blocks: Callable[..., Any], wrap: bytes) -> None:
    rows = [{"n": i, "t": "中\u2028" * (i % 30)} for i in range(2000)]
    path = tmp_path / "a"
    with open_writer(path, "json" if blocks is array_blocks else "jsonl") as writer:
        for row in rows:
            writer.write(row)
    found: list[Any] = []
    for block, line in blocks(path, 5000):
        space = len(block) - len(block.lstrip())
        assert line + block.count(b"\n", 0, space) == len(found) + (2 if blocks is array_blocks else 1)
        text = wrap % block
        found += json.loads(text) if blocks is array_blocks else [json.loads(x) for x in text.splitlines()]
    assert found == rows


@given(st.integers(-(10**24), 10**24), st.integers(0, 40), st.sampled_from(["", "1", '"2023": ', "中"]))
def test_no_long_integer_is_overlooked(number: int, shift: int, before: str) -> None:
    block = b"x" * shift + before.encode() + b"," + str(number).encode() + b"}"
    if not -(2**63) <= number < 2**64:
        assert has_long_integer(block)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from(['{"a":', "[", "]", "}", ",", '"', "1", "\n", " ", "x"])).map(
            lambda x: "".join(x).encode()
        ),
    )
)
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "txt", "parquet", "arrow", None])
def test_any_bytes_are_rows_or_an_error(tmp_path: Path, kind: str | None, data: bytes) -> None:
    from dsreg.errors import DataFileError

    path = tmp_path / "a.json"
    path.write_bytes(data)
    try:
        found = read_all(path, kind=kind, unique=["a"])
    except DataFileError as e:
        assert e.where.startswith(str(path))
    else:
        assert isinstance(found, list)
