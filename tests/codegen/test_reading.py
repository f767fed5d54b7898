"""The script's way of reading files finds the same rows as `dsreg.rows`, whatever the bytes are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dsreg.codegen.script_input import read_rows
from dsreg.codegen.script_json import Stop
from dsreg.errors import DataFileError
from dsreg.rows import open_rows

KEYS = ["a", "é-b", "列"]
PIECES = [
    *[b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\n", b"\r\n", b" ", b"\t", b"\xff", b"\x00", b"#", b"'"],
    *[b'"a"', b'"a":', b'"\\u0061":', '"é-b":'.encode(), b'"\\u00e9-b":', b'"\\u00E9-b":', '"列":'.encode(), b'"k":'],
    *[b"1", b"-0", b"1e999", b"1.5", b"12345678901234567890123", b"NaN", b"null", b"true", b'"x"', b'"\\ud800"'],
    *[
        b'"\\ud83d\\ude00"',
        b'{"a": 1}',
        b'{"a": 1, "a": 2}',
        b'{"k": 1, "k": 2}',
        b'[{"a": "]"}',
        b'{"a": [1, {"a": 2}]}',
    ],
    *[
        "\u2028".encode(),
        "好".encode(),
        "好".encode("gbk"),
        b"\xef\xbb\xbf",
        b'{\n "a": 1\n}',
        b'""',
        b"a,b",
        b'"a","b"',
    ],
]
FILES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map(b"".join)
ROWS = st.lists(st.sampled_from([*PIECES[-16:], b'{"a": NaN}', b"[]", b"1", b""]), min_size=1, max_size=6)


def seen(read: Callable[[], list[tuple[int, int | None, str]]]) -> Any:
    """What a reader finds, or that it refuses the file."""
    try:
        return read()
    except (DataFileError, Stop):
        return "refused"


def by_dsreg(path: Path) -> list[tuple[int, int | None, str]]:
    with open_rows(path, unique=KEYS) as stream:
        return [(stream.row, stream.line, repr(value)) for value in stream]


def by_script(path: Path) -> list[tuple[int, int | None, str]]:
    return [(row, line, repr(value)) for row, line, value in read_rows(str(path), KEYS)]


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "tsv", "txt", "data"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=FILES | ROWS.map(b"\n".join) | ROWS.map(lambda rows: b"[" + b",\n".join(rows) + b"]") | st.binary(max_size=30)
)
@example(data=b'{"a": 1,\n"a": 2}\n{"b": 1}')
@example(data=b'a,b\n"1","2"\n"x')
def test_the_same_rows(suffix: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"file.{suffix}"
    path.write_bytes(data)
    assert seen(lambda: by_script(path)) == seen(lambda: by_dsreg(path))
