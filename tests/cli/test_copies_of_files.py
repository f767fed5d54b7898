"""Files that LlamaFactory cannot read get a copy when they are added."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Dsreg = Callable[..., Any]
ROWS = [{"instruction": "a", "output": "b"}, {"instruction": "c", "output": "d"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
ARRAY = json.dumps(ROWS).encode()
TABLE = b"instruction,output\na,b\nc,d\n"
UNREAD = [
    ("x.jsonl.gz", gzip.compress(LINES)),
    ("x.JSON", ARRAY),
    ("x", LINES),
    ("x.ndjson", LINES),
    ("x.tsv", TABLE.replace(b",", b"\t")),
    ("x.txt", ARRAY),
    ("x.txt", LINES),
    ("x.csv", LINES),
]
READ = [("x.json", ARRAY), ("x.json", LINES), ("x.jsonl", LINES), ("x.csv", TABLE)]


@pytest.mark.parametrize(("name", "content"), UNREAD, ids=lambda value: value if isinstance(value, str) else "")
def test_files_that_llamafactory_cannot_read(dsreg: Dsreg, project: Path, name: str, content: bytes) -> None:
    (project / "data" / name).write_bytes(content)
    added = dsreg("add", "mine", f"data/{name}", "--format", "alpaca")
    assert added.code == 0 and "it needs a copy" in added.err
    checked = dsreg("check", "mine")
    assert checked.code == 0 and "mine: 2 rows: 2 kept" in checked.out


@pytest.mark.parametrize(("name", "content"), READ, ids=lambda value: value if isinstance(value, str) else "")
def test_files_that_llamafactory_reads(dsreg: Dsreg, project: Path, name: str, content: bytes) -> None:
    (project / "data" / name).write_bytes(content)
    assert "copy" not in dsreg("add", "mine", f"data/{name}", "--format", "alpaca").err
    assert not (project / "data" / "converted").exists()


def test_another_file_of_a_dataset(dsreg: Dsreg, project: Path) -> None:
    for name, content in (("x.json", ARRAY), ("x.jsonl.gz", gzip.compress(LINES))):
        (project / "data" / name).write_bytes(content)
    dsreg("add", "mine", "data/x.json")
    assert "it needs a copy" in dsreg("set", "mine", "data/x.jsonl.gz").err
    assert (project / "data" / "converted" / "mine.json").exists()


def test_no_copy_where_none_is_wanted(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "x.tsv").write_bytes(TABLE.replace(b",", b"\t"))
    dsreg("add", "mine", "data/x.tsv", "--no-copy")
    assert not (project / "data" / "converted").exists()
