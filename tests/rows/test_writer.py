"""Files are written whole or not at all, in one exact layout."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from dsreg.errors import OutputError, UsageError
from dsreg.rows import open_rows, open_writer, spool

ROWS: list[dict[str, Any]] = [{"a": "中\u2028/\n", "b": [1.5, None, True]}, {"n": 2**80}]
LINES = '{"a":"中\u2028/\\n","b":[1.5,null,true]}', '{"n":1208925819614629174706176}'


@pytest.mark.parametrize(
    ("container", "rows", "text"),
    [
        ("jsonl", ROWS, "\n".join(LINES) + "\n"),
        ("jsonl", [], ""),
        ("json", ROWS, "[\n" + ",\n".join(LINES) + "\n]\n"),
        ("json", [], "[]\n"),
    ],
)
def test_layout(tmp_path: Path, container: str, rows: list[dict[str, Any]], text: str) -> None:
    path = tmp_path / "new" / "folder" / "a"
    with open_writer(path, container) as writer:
        for row in rows:
            writer.write(row)
    assert path.read_bytes() == text.encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["a"]


def test_equal_rows_make_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        with open_writer(tmp_path / name, "jsonl") as writer:
            for row in ROWS:
                writer.write(row)
    data = (tmp_path / "a.jsonl.gz").read_bytes()
    assert data == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress(data).decode() == "\n".join(LINES) + "\n"


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.json.zst"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_the_old_file(tmp_path: Path, name: str, error: type[BaseException]) -> None:
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(error), open_writer(path, "json") as writer:
        writer.write({"a": "x" * 1_000_000})
        raise error
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [(name, "old")]


UNFIT: list[tuple[Any, str]] = [
    ({"a": [float("nan")]}, r"row 2 cannot be written: a\[0\] is nan"),
    ({"a": {"b": float("-inf"), "c": 2**80}}, r"a\.b is -inf"),
    ({"a": -float("nan"), "b": None}, "a is nan"),
    ({"a": float("-inf")}, "a is -inf"),
    ({"a": [float("inf")]}, r"a\[0\] is inf"),
    ({"a": "\udcb2"}, "a holds half a character"),
    ({"\udcb2": 1}, "a key that is no text"),
    ({1: 2}, "a key that is no text: 1"),
    ({"a": {1, 2}}, "a is of type set"),
    ({"a": Path("x")}, "a is of type"),
]


@pytest.mark.parametrize(("row", "message"), UNFIT)
@pytest.mark.parametrize("container", ["json", "jsonl"])
def test_what_json_cannot_hold(tmp_path: Path, container: str, row: Any, message: str) -> None:
    with pytest.raises(OutputError, match=message), open_writer(tmp_path / "a", container) as writer:
        writer.write({"null": None})
        writer.write(row)
    assert list(tmp_path.iterdir()) == []


def test_deep_rows_are_written_or_refused(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    path = tmp_path / "a.jsonl"
    with open_writer(path, "jsonl") as writer:
        writer.write({"a": deep})
    assert path.read_text() == '{"a":' + "[" * 400 + "1" + "]" * 400 + "}\n"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(OutputError, match="nested too deeply"), open_writer(path, "jsonl") as writer:
        writer.write({"a": deep})


def test_a_link_is_written_through(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with open_writer(link, "jsonl") as writer:
        writer.write({"a": 1})
    assert (link.is_symlink(), real.read_text()) == (True, '{"a":1}\n')
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with open_writer(tmp_path / "a.jsonl", "jsonl"):
            pass
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o640


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "file" / "a.jsonl", "cannot write"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / ("x" * 300), "cannot write"),
    ]:
        with pytest.raises(OutputError, match=message), open_writer(path, "jsonl") as writer:
            writer.write({"a": 1})
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "pipe"]


def test_the_disk_is_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    from dsreg.rows.writer import LinesSink

    with pytest.raises(OSError), Path("/dev/full").open("wb", buffering=0) as file:
        LinesSink(file, "a").write({"a": 1})


def test_an_error_of_the_disk_is_an_output_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="the disk is full"), open_writer(tmp_path / "a", "jsonl") as writer:
        writer.write({"a": 1})
    assert list(tmp_path.iterdir()) == []


def test_unknown_container(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="csv"):
        open_writer(tmp_path / "a", "csv")


def test_standard_input_can_be_read_twice() -> None:
    with spool(io.BytesIO(b'{"a":1}\n')) as path:
        for _ in range(2):
            with open_rows(path) as stream:
                assert list(stream) == [{"a": 1}]
    assert not path.exists()


def test_a_null_beside_the_largest_numbers(tmp_path: Path) -> None:
    row = {"a": None, "b": [sys.float_info.max, -sys.float_info.max, 2**63], "c": "null \u02ff"}
    with open_writer(tmp_path / "a", "jsonl") as writer:
        writer.write(row)
    assert json.loads((tmp_path / "a").read_text("utf-8")) == row
