"""Small broken and unusual files: read rightly, a bad row, or one clear error with the place."""

from __future__ import annotations

import codecs
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dsreg.errors import DataFileError, UsageError
from dsreg.rows import BadRow, open_rows

DEEP = b"[" * 5000 + b"]" * 5000


def read(path: Path, **options: Any) -> list[tuple[int, int | None, Any]]:
    """(row, line, value) of every row; a BadRow as (code, path, message)."""
    with open_rows(path, **options) as stream:
        return [
            (stream.row, stream.line, (row.code, row.path, row.message) if isinstance(row, BadRow) else row)
            for row in stream
        ]


# name, bytes, the rows' lines, the rows
READ_RIGHTLY: dict[str, tuple[str, bytes, list[int | None], list[Any]]] = {
    "lines": ("a.jsonl", b'{"a":1}\n{"a":2}\n', [1, 2], [{"a": 1}, {"a": 2}]),
    "no newline at the end": ("a.jsonl", b'{"a":1}\n{"a":2}', [1, 2], [{"a": 1}, {"a": 2}]),
    "blank lines": ("a.jsonl", b'\n{"a":1}\n\n  \n{"a":2}\n\n', [2, 5], [{"a": 1}, {"a": 2}]),
    "CRLF": ("a.jsonl", b'{"a":1}\r\n\r\n{"a":2}\r\n', [1, 3], [{"a": 1}, {"a": 2}]),
    "byte order mark": ("a.jsonl", codecs.BOM_UTF8 + b'{"a":1}\n', [1], [{"a": 1}]),
    "UTF-16 LE": ("a.jsonl", '\ufeff{"a":"中😀"}\n{"a":2}\n'.encode("utf-16-le"), [1, 2], [{"a": "中😀"}, {"a": 2}]),
    "UTF-16 BE array": ("a.json", '\ufeff[{"a":"中"}]'.encode("utf-16-be"), [1], [{"a": "中"}]),
    "UTF-16 CSV": ("a.csv", "\ufeffa,b\n1,中\n".encode("utf-16-le"), [2], [{"a": "1", "b": "中"}]),
    "UTF-16 txt": ("a.txt", "\ufeff中\n".encode("utf-16-le"), [1], [{"text": "中"}]),
    "Unicode line breaks": (
        "a.jsonl",
        '{"a":"x\u2028y\u0085z\u000b"}\n'.replace("\u000b", "").encode(),
        [1],
        [{"a": "x\u2028y\u0085z"}],
    ),
    "inner mark": ("a.jsonl", '{"a":"\ufeff"}\n'.encode(), [1], [{"a": "\ufeff"}]),
    "surrogate pair": ("a.jsonl", rb'{"a":"\ud83d\ude00"}', [1], [{"a": "😀"}]),
    "escaped backslash": ("a.jsonl", rb'{"a":"\\ud83d"}', [1], [{"a": r"\ud83d"}]),
    "long integers": (
        "a.jsonl",
        b'{"a":123456789012345678901234567890}\n{"a":-9223372036854775809}\n{"a":18446744073709551616}\n{"a":1.5}',
        [1, 2, 3, 4],
        [{"a": 123456789012345678901234567890}, {"a": -9223372036854775809}, {"a": 18446744073709551616}, {"a": 1.5}],
    ),
    "long integers in an array": (
        "a.json",
        b'[{"a":123456789012345678901234567890},\n{"a":[-9223372036854775809]}]',
        [1, 2],
        [{"a": 123456789012345678901234567890}, {"a": [-9223372036854775809]}],
    ),
    "values that are no objects": ("a.jsonl", b'1\n"x"\nnull\n[1]\n', [1, 2, 3, 4], [1, "x", None, [1]]),
    "array of other values": (
        "a.json",
        b'[1,\n"x,]",null,\n[1,[2]],{}]',
        [1, 2, 2, 3, 3],
        [1, "x,]", None, [1, [2]], {}],
    ),
    "empty array": ("a.json", b" [ \n ] \n", [], []),
    "array in .jsonl": ("a.jsonl", b'[{"a":1},{"a":2}]', [1, 1], [{"a": 1}, {"a": 2}]),
    "array in .txt": ("a.txt", b'[\n{"a":1}\n]', [2], [{"a": 1}]),
    "lines in .json": ("a.json", b'{"a":1}\n{"a":2}\n', [1, 2], [{"a": 1}, {"a": 2}]),
    "lines in .csv": ("a.csv", b'{"a":1}\n{"a":2}\n', [1, 2], [{"a": 1}, {"a": 2}]),
    "one pretty object": ("a.json", b'{\n "a": {\n  "b": 1}\n}\n', [1], [{"a": {"b": 1}}]),
    "pretty objects in a row": (
        "a.json",
        b'{\n "a": 1\n}\n\n{\n "a": "}{"\n}{\n"a":3}',
        [1, 5, 7],
        [{"a": 1}, {"a": "}{"}, {"a": 3}],
    ),
    "first keys differ": (
        "a.json",
        b'[{"a":1},{"b":{"a":2}},\n{"a":[{"a":3}]}]',
        [1, 1, 2],
        [{"a": 1}, {"b": {"a": 2}}, {"a": [{"a": 3}]}],
    ),
    "csv": (
        "a.csv",
        b'a,b\n007,NA\n"x\ny",\n"q""q",2\n',
        [2, 3, 5],
        [{"a": "007", "b": "NA"}, {"a": "x\ny", "b": ""}, {"a": 'q"q', "b": "2"}],
    ),
    "csv CRLF": (
        "a.csv",
        b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n\r\n3,4\r\n',
        [2, 5],
        [{"a": "1", "b": "x\r\ny"}, {"a": "3", "b": "4"}],
    ),
    "csv header only": ("a.csv", b"a,b\n", [], []),
    "csv index column": ("a.csv", b",a\n0,x\n", [2], [{"": "0", "a": "x"}]),
    "tsv": ("a.tsv", b"a\tb\n1,5\t2\n", [2], [{"a": "1,5", "b": "2"}]),
    "txt": ("a.txt", "a \r\n\n中\u2028b\n".encode(), [1, 2, 3], [{"text": "a "}, {"text": ""}, {"text": "中\u2028b"}]),
    "txt with a bracket": ("a.txt", b"[1] is a note\n{x}\n", [1, 2], [{"text": "[1] is a note"}, {"text": "{x}"}]),
    "suffix in capitals": ("a.CSV", b"a\n1\n", [2], [{"a": "1"}]),
}


@pytest.mark.parametrize("case", READ_RIGHTLY)
def test_read_rightly(tmp_path: Path, case: str) -> None:
    name, data, lines, rows = READ_RIGHTLY[case]
    path = tmp_path / name
    path.write_bytes(data)
    assert read(path) == [(i, line, row) for i, (line, row) in enumerate(zip(lines, rows, strict=True), 1)]


# name, bytes, line, code, path, a part of the message; the first and the last row of the file are {"a":1} and {"a":9}
BAD_ROWS: dict[str, tuple[str, bytes, str, str, str]] = {
    "truncated": ("a.jsonl", b'{"a":', "DS201", "", "the value ends too early (column 6)"),
    "prose": ("a.jsonl", b"hello there", "DS201", "", "expecting value"),
    "trailing comma": ("a.jsonl", b'{"a":1,}', "DS201", "", "a comma before `}`"),
    "comma after the row": ("a.jsonl", b'{"a":1},', "DS201", "", "a comma follows the value"),
    "two objects": ("a.jsonl", b'{"a":1}{"a":2}', "DS201", "", 'a second value begins with `{"a":2}` (column 8)'),
    "comment": ("a.jsonl", b"# a comment", "DS201", "", "a comment"),
    "slash comment": ("a.jsonl", b"// a comment", "DS201", "", "a comment"),
    "merge conflict": ("a.jsonl", b"<<<<<<< HEAD", "DS201", "", "merge conflict"),
    "python": ("a.jsonl", b"{'a': 1}", "DS201", "", "double quotes"),
    "None": ("a.jsonl", b'{"a": None}', "DS201", "", "Python's notation"),
    "tab in a text": ("a.jsonl", b'{"a":"\t"}', "DS201", "", "control character"),
    "open text": ("a.jsonl", b'{"a":"x', "DS201", "", "a text is not closed"),
    "NaN": ("a.jsonl", b'{"a":NaN}', "DS201", "", "NaN is not JSON"),
    "Infinity": ("a.jsonl", b'{"a":[-Infinity]}', "DS201", "", "-Infinity is not JSON"),
    "beyond a double": ("a.jsonl", b'{"a":1e999}', "DS201", "", "too large"),
    "integer without end": ("a.jsonl", b'{"a":' + b"1" * 5000 + b"}", "DS201", "", "5,000 digits"),
    "lone high surrogate": ("a.jsonl", rb'{"m":[{"v":"\ud83d"}]}', "DS201", "m[0].v", r"\ud83d"),
    "lone low surrogate": ("a.jsonl", rb'{"a":"\udcb2"}', "DS201", "a", r"\udcb2"),
    "surrogate in a key": ("a.jsonl", rb'{"\udcb2":1}', "DS201", "", r"\udcb2"),
    "surrogate as bytes": ("a.jsonl", b'{"a":"\xed\xa0\x80"}', "DS201", "", "not UTF-8: byte 0xed at byte 7"),
    "one line in another encoding": ("a.jsonl", '{"a":"é"}'.encode("latin-1"), "DS201", "", "not UTF-8"),
    "deep": ("a.jsonl", b'{"a":' + DEEP + b"}", "DS201", "", "too deeply"),
    "deep objects": ("a.jsonl", b'{"a":' * 3000 + b"1" + b"}" * 3000, "DS201", "", "too deeply"),
    "key twice": ("a.jsonl", b'{"a":1,"a":"x"}', "DS205", "a", 'the key `a` stands twice, with 1 and "x"'),
    "key twice, with space": ("a.jsonl", b'{"a" : 1, "a"\t: 2}', "DS205", "a", "stands twice"),
    "key twice, once escaped": ("a.jsonl", rb'{"a":1,"\u0061":2}', "DS205", "a", "stands twice"),
    "key twice in an array": ("a.json", b'{"a":1,"a":[]}', "DS205", "a", "with 1 and []"),
    "NaN in an array": ("a.json", b'{"a":NaN}', "DS201", "", "NaN is not JSON"),
    "surrogate in an array": ("a.json", rb'{"b":["\ud800"]}', "DS201", "b[0]", "half a character"),
    "deep in an array": ("a.json", DEEP, "DS201", "", "too deeply"),
    "too few cells": ("a.csv", b"1,2", "DS201", "", "2 cells where the header has 1"),
    "text behind a quote": ("a.csv", b'"x"y', "DS201", "", "not a row"),
}
FRAME = {
    "a.jsonl": (b'{"a":1}\n\n', b'\n{"a":9}\n'),
    "a.json": (b'[{"a":1},\n\n', b',\n{"a":9}]\n'),
    "a.csv": (b"a\n1\n", b"\n9\n"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_row(tmp_path: Path, case: str) -> None:
    name, data, code, place, message = BAD_ROWS[case]
    before, after = FRAME[name]
    path = tmp_path / name
    path.write_bytes(before + data + after)
    first, bad, last = read(path, unique=["a"])
    one, nine = ("1", "9") if name == "a.csv" else (1, 9)
    assert (first[2], last) == ({"a": one}, (3, 4, {"a": nine}))
    assert bad[:2] == (2, 3)
    assert bad[2][:2] == (code, place)
    assert message in bad[2][2]


def test_bad_row_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":"\xff"\r\n{"b":}\n' + b'{"a":2}\n' * 9)
    with open_rows(path) as stream:
        assert [row.raw for row in stream if isinstance(row, BadRow)] == ['{"a":"\\xff"', '{"b":}']


def test_a_row_over_two_lines_is_not_made_up_for_by_two_rows_on_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":[{}\n{}]}\n{"x":1},0,{"y":2}\n')
    assert [code for _, _, (code, _, _) in read(path, kind="jsonl")] == ["DS201"] * 3


def test_key_inside_or_as_text_is_not_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rb'{"a":"a","b":{"a":1},"c":["a","\"a\":"]}' + b"\n" + rb'{"b":"\u0061"}')
    assert [row for _, _, row in read(path, unique=["a"])] == [
        {"a": "a", "b": {"a": 1}, "c": ["a", '"a":']},
        {"b": "a"},
    ]


def test_a_missing_key_does_not_hide_a_repeated_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"b":1}\n{"问":1,"\\u95EE":2}\n'.encode())
    good, bad = read(path, unique=["问"])
    assert (good[2], bad[2][0]) == ({"b": 1}, "DS205")


# name, bytes, where it is (":line" or ""), parts of the message or hint
ERRORS: dict[str, tuple[str, bytes, str, list[str]]] = {
    "empty": ("a.jsonl", b"", "", ["is empty"]),
    "only a mark": ("a.jsonl", codecs.BOM_UTF8, "", ["is empty"]),
    "only space": ("a.json", b" \n ", "", ["is empty but for white space"]),
    "comma before the end": ("a.json", b'[{"a":1},\n{"a":2},\n]', ":2", ["column 8", "a comma too many"]),
    "comma before the end of a row": (
        "a.json",
        b'[{"a":1},\n{"a":2,\n}]',
        ":3",
        ["a comma before `}`", "remove the comma"],
    ),
    "comma first": ("a.json", b'[\n,{"a":1}]', ":2", ["a comma too many"]),
    "two commas": ("a.json", b'[{"a":1},\n,{"a":1}]', ":1", ["a comma too many"]),
    "missing comma": (
        "a.json",
        b'[{"a":1},\n {"a":2}\n {"a":3}]',
        ":3",
        ["column 2", "a comma is missing between two rows"],
    ),
    "missing comma in a row": ("a.json", b'[{"a":1\n"b":2}]', ":2", ["column 1", "expecting ',' delimiter"]),
    "truncated": ("a.json", b'[{"a":1},\n{"a":"xy', ":2", ["the file ends inside the array"]),
    "truncated between rows": ("a.json", b'[{"a":1},\n{"a":2}\n', ":2", ["the file ends inside the array"]),
    "truncated after a comma": ("a.json", b'[{"a":1},\n', ":1", ["the file ends inside the array, after a comma"]),
    "open bracket only": ("a.json", b"[", ":1", ["the file ends inside the array"]),
    "merge conflict": ("a.json", b'[{"a":1},\n<<<<<<< HEAD\n{"a":2}\n]', ":2", ["merge conflict"]),
    "comment": ("a.json", b'[{"a":1},\n// two\n{"a":2}]', ":2", ["a comment"]),
    "comment on top": ("a.json", b'// data\n[\n{"a":2}]', ":1", ["`// data` is not JSON", "line 2"]),
    "two arrays": ("a.json", b'[{"a":1}]\n[{"a":2}]', ":2", ['`[{"a":2}]` follows at byte 10', "several JSON values"]),
    "two arrays on a line": ("a.json", b'[{"a":1}][{"a":2}]', ":1", ["follows at byte 9"]),
    "junk at the end": ("a.json", b'[{"a":1}]\n;', ":2", ["`;` follows"]),
    "wrong bracket": ("a.json", b'[{"a":1}}]', ":1", ["`}` closes nothing"]),
    "objects with commas": ("a.json", b'{\n"a":1},\n{"a":2}', ":2", ["a comma after row 1", "put `[`"]),
    "object not closed": ("a.json", b'{\n"a":1}\n{\n"a":2', ":3", ["ends inside this object"]),
    "object and junk": ("a.json", b'{\n"a":1}\nx', ":3", ["found `x`"]),
    "object with an error": ("a.json", b'{\n"a":1,\n"b":tru}', ":3", ["not JSON at column 5"]),
    "GBK lines": (
        "a.jsonl",
        '{"a":"你好世界"}\n{"a":"再见"}\n'.encode("gbk"),
        ":1",
        ["not UTF-8", "byte 7", "iconv -f gb18030"],
    ),
    "GBK array": (
        "a.json",
        '[{"a":1},\n{"a":"你好"}]'.encode("gbk"),
        ":2",
        ["not UTF-8", "byte 7", "iconv -f gb18030"],
    ),
    "GBK csv": ("a.csv", "a\n你好\n".encode("gbk"), ":2", ["byte 1 of", "iconv -f gb18030"]),
    "Latin-1 csv": ("a.csv", "a\ncafé\n".encode("latin-1"), ":2", ["byte 4 of", "iconv -f windows-1252"]),
    "GBK text": ("a.txt", "你好\n".encode("gbk"), ":1", ["gb18030"]),
    "UTF-16 without a mark": ("a.jsonl", '{"a":1}\n'.encode("utf-16-le"), ":1", ["iconv -f utf-16le"]),
    "UTF-16 cut off": ("a.jsonl", '\ufeff{"a":1}'.encode("utf-16-le")[:-1], "", ["utf-16"]),
    "header name twice": ("a.csv", b"a,b,a\n1,2,3\n", ":1", ["`a` twice"]),
    "quote never closed": ("a.csv", b'a\n1\n"x\ny\n', ":3", ["never closed"]),
    "old Mac line ends": ("a.csv", b"a,b\r1,2\r", ":1", ["carriage return"]),
    "Git LFS": (
        "a.json",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n",
        "",
        ["Git LFS pointer", "git lfs pull"],
    ),
    "zip": ("a.json", b"PK\x03\x04abcd", "", ["zip archive"]),
    "not Parquet": ("a.parquet", b'{"a":1}\n', "", ["is not parquet"]),
    "broken Parquet": ("a.parquet", b"PAR1abcdefghPAR1", "", ["parquet file is broken"]),
    "broken Arrow": ("a.arrow", b"ARROW1\x00\x00abcdefghARROW1", "", ["arrow file is broken"]),
    "broken Arrow stream": ("a.arrow", b"\xff\xff\xff\xff\x10\x00\x00\x00abc", "", ["arrow file is broken"]),
    "unknown": ("a.dat", b"hello\n", "", ["cannot be told"]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_file_error(tmp_path: Path, case: str) -> None:
    name, data, line, parts = ERRORS[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataFileError) as caught:
        read(path)
    assert caught.value.where == f"{path}{line}"
    for part in parts:
        assert part in f"{caught.value.message}\n{caught.value.hint}"


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_folder, "is a folder"),
        (os.mkfifo, "is not a regular file"),
        (_socket, "cannot be opened"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda path: path.symlink_to(path), "cannot be opened"),
        (lambda path: None, "No such file"),
    ],
)
def test_no_regular_file(tmp_path: Path, make: Any, message: str) -> None:
    path = tmp_path / "a.jsonl"
    make(path)
    with pytest.raises(DataFileError, match=message):
        open_rows(path)


def test_name_with_a_zero_byte() -> None:
    with pytest.raises(DataFileError, match="cannot be opened"):
        open_rows(Path("a\0b.jsonl"))


def test_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="xml"):
        open_rows(tmp_path, kind="xml")


def test_kind_and_name_are_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "spooled"
    path.write_bytes(b'{"a":1}\n{')
    assert [row for _, _, row in read(path, kind="txt")] == [{"text": '{"a":1}'}, {"text": "{"}]
    path.write_bytes(b"[1")
    with pytest.raises(DataFileError) as caught:
        read(path, name="-")
    assert caught.value.where == "-:1"


def test_a_row_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = b'{"a":"' + b"x" * 900_000 + b'"}'
    for module in ("lines", "arrays", "values"):
        monkeypatch.setattr(f"dsreg.rows.{module}.MAX_ROW", 1 << 17)
    for data in (b'{"a":1}\n' + long, b'[{"a":1},' + long + b"," + long + b"]", b'{\n"a":1}' + long):
        path = tmp_path / "a.json"
        path.write_bytes(data)
        with pytest.raises(DataFileError, match="is longer than 0 MiB"):
            read(path)


def test_position_before_the_first_row_and_after_the_last(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\n{"a":1}\n\n')
    with open_rows(path) as stream:
        assert (stream.row, stream.line, stream.container, stream.path) == (0, None, "jsonl", path)
        rows: Iterator[Any] = iter(stream)
        assert next(rows) == {"a": 1}
        assert (stream.row, stream.line) == (1, 2)
        assert list(rows) == []
        assert stream.row == 1
