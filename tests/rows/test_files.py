"""Packed files, folders, and real files from real repositories."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dsreg.errors import DataFileError
from dsreg.rows import BadRow, data_files, open_rows, sniff

TEXT = b"".join(b'{"a":%d}\n' % i for i in range(30_000))
PACK = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}


def read(path: Path) -> list[Any]:
    with open_rows(path) as stream:
        return list(stream)


@pytest.mark.parametrize("how", PACK)
def test_packed_by_content_not_by_name(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PACK[how](TEXT[:9000]) + PACK[how](TEXT[9000:]))  # packed files may be glued together
    assert read(path) == [{"a": i} for i in range(30_000)]
    named = tmp_path / f"a.csv.{how}"
    named.write_bytes(PACK[how]("a\n中\n".encode("utf-8-sig")))
    assert (sniff(named), read(named)) == ("csv", [{"a": "中"}])


@pytest.mark.parametrize("how", PACK)
@pytest.mark.parametrize("damage", ["short", "flipped", "junk behind"])
def test_broken_packing(tmp_path: Path, how: str, damage: str) -> None:
    packer = zstandard.ZstdCompressor(write_checksum=True)
    data = bytearray(gzip.compress(TEXT) if how == "gz" else packer.compress(TEXT))
    if damage == "short":
        del data[-20:]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0xFF
    else:
        data += b"junk junk junk"
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    with pytest.raises(DataFileError, match="compression is broken"):
        read(path)


@pytest.mark.parametrize("how", PACK)
def test_packed_nothing_is_empty(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PACK[how](b""))
    with pytest.raises(DataFileError, match="is empty"):
        read(path)


READ_ALL = """
import sys
from pathlib import Path
from dsreg.rows import open_rows
with open_rows(Path(sys.argv[1])) as stream:
    print(sum(1 for row in stream))
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")])
"""


def rows_and_peak(path: Path) -> tuple[int, int]:
    """How many rows a fresh process reads, and the kilobytes of memory it took."""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell a process's memory")
    command = [sys.executable, "-c", READ_ALL, str(path)]
    run = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, check=True, text=True)
    rows, peak = map(int, run.stdout.split())
    return rows, peak


def test_a_bomb_is_only_streamed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    packer = zstandard.ZstdCompressor(level=19).compressobj()
    line = b'{"a":"' + b"x" * (1 << 20) + b'"}\n'
    with path.open("wb") as file:
        for _ in range(400):
            file.write(packer.compress(line))
        file.write(packer.flush())
    assert path.stat().st_size < 1_000_000
    rows, peak = rows_and_peak(path)
    assert rows == 400
    assert peak < 150_000


@pytest.mark.parametrize("row", [{"a": "x" * 900, "b": [{"a": 1}, {"a": 2}]}, ["x" * 900]])
def test_memory_does_not_grow_with_an_array(tmp_path: Path, row: Any) -> None:
    path = tmp_path / "a.json"
    text = json.dumps(row)
    path.write_text("[" + (text + ",\n") * 60_000 + text + "]")
    rows, peak = rows_and_peak(path)
    assert rows == 60_001
    assert peak < 40_000


FOLDERS: list[tuple[list[str], list[str], str]] = [
    (["b.jsonl", "a.json"], ["a.json", "b.jsonl"], ""),
    (["b.parquet", "a.parquet"], ["a.parquet", "b.parquet"], ""),
    ([], [], "is an empty folder"),
    (["a.json", "README.md"], [], "README.md"),
    (["a.json", ".DS_Store"], [], ".DS_Store"),
    (["a.json", ".b.json"], [], ".b.json"),
    (["a.json", "sub/b.json"], [], "sub/"),
    (["a.json", "b.csv"], [], "several kinds: b.csv, a.json"),
    (["data-0.arrow", "dataset_info.json", "state.json"], [], "several kinds"),
]


@pytest.mark.parametrize(("names", "expected", "error"), FOLDERS)
def test_folder(tmp_path: Path, names: list[str], expected: list[str], error: str) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    if error:
        with pytest.raises(DataFileError, match=error):
            data_files(tmp_path)
    else:
        assert [path.name for path in data_files(tmp_path)] == expected


def test_a_file_is_itself(tmp_path: Path) -> None:
    assert data_files(tmp_path / "a.json") == [tmp_path / "a.json"]


# Real files that are not what they claim: the rows that are bad, or the line and the words of the error.
WILD_BAD = {"jsonl_hash_comments.jsonl": 15, "sharegpt_prose_header_line.jsonl": 1}
WILD_ERRORS = {
    "alpaca_missing_comma_rows_crlf.json": (142, "a comma is missing between two rows"),
    "json_request_trailing_comma.json": (6, "a comma before `}`"),
    "csv_latin1.csv": (3, "is not UTF-8"),
}


def test_real_files(shared: Path) -> None:
    paths = sorted(path for path in (shared / "data" / "wild").iterdir() if path.name != "MANIFEST.tsv")
    assert len(paths) > 40
    for path in paths:
        if path.name in WILD_ERRORS:
            line, words = WILD_ERRORS[path.name]
            with pytest.raises(DataFileError, match=words) as caught:
                read(path)
            assert caught.value.where == f"{path}:{line}"
            continue
        rows = read(path)
        bad = [row for row in rows if isinstance(row, BadRow)]
        assert (path.name, len(bad)) == (path.name, WILD_BAD.get(path.name, 0))
        assert all(isinstance(row, dict) for row in rows if not isinstance(row, BadRow))


def test_real_json_is_read_as_the_standard_parser_reads_it(shared: Path) -> None:
    for path in sorted((shared / "data" / "llamafactory").glob("*.json*")):
        text = path.read_text("utf-8")
        lines = text.split("\n")
        with open_rows(path) as stream:
            found = [(stream.line, row) for row in stream]
        if path.suffix == ".jsonl":
            assert [row for _, row in found] == [json.loads(line) for line in lines if line]
            assert all(json.loads(lines[(line or 0) - 1]) == row for line, row in found)
        elif path.name != "dataset_info.json":
            assert [row for _, row in found] == json.loads(text)
            assert all(lines[(line or 0) - 1].lstrip().startswith("{") for line, _ in found)
