"""Bytes of any kind as data, registry, lock, settings and dataset_info.json: read, or refused with a reason."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.errors import DsregError, RegistryError
from dsreg.jsonedit import Document, same_json
from dsreg.lock import read_lock
from dsreg.project import open_project
from dsreg.registry import load_all
from dsreg.rows import BadRow, open_rows
from dsreg.rows.encode import encode
from dsreg.tomledit import edited
from tests.safety.conftest import make_project, run_here

INPUTS = Path(__file__).parent / "inputs"
"""Bytes that once did harm, one file each; `make fuzz` adds what it finds."""

ROWS = b'{"instruction": "a", "input": "", "output": "b"}\n{"instruction": "\\u00e9", "output": "\xc3\xa9"}\n'
SEEDS: dict[str, list[bytes]] = {
    "data": [
        ROWS,
        b"[" + ROWS.strip().replace(b"\n", b",\n") + b"]\n",
        b'instruction,output\n"a, b","c ""d"""\ne,f\n',
        b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n',
        b"plain text\n\nmore\n",
        ROWS.decode().encode("utf-16"),
    ],
    "info": [
        b'{\n  "a": {\n    "file_name": "a.json",\n    "columns": {"prompt": "q"}\n  },\n  "b": {}\n}\n',
        b'\xef\xbb\xbf{"a":{"file_name":"a"},\r\n"\\u00e9":{"x":[1,2.0,null]}}',
    ],
    "toml": [
        b'# c\nformat = "alpaca"\nfile_name = "a.json"\n[columns]\nprompt = "q"\n',
        b'format = "sharegpt"\ntags = {role_tag = "r"}\ntargets = ["openai"]\n[target.openai]\nx = 1\n',
    ],
    "lock": [
        b'{\n  "version": 1,\n  "datasets": {\n    "a": {"entry": {"file_name": "a"}, "files": {"c/a.py": "0"}}\n  },\n'
        b'  "exports": {\n    "exports/x": {"dataset": "a", "sha256": "00", "target": "t"}\n  }\n}\n',
    ],
}
TOKENS = [
    *[
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1f\x8b",
        b"(\xb5/\xfd",
        b"PAR1",
        b"ARROW1",
        b"\r",
        b"\n",
        b"\n\n",
    ],
    *[
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"'",
        b",",
        b":",
        b"\\",
        b"\\u",
        b"\\ud800",
        b"=",
        b"#",
        b".",
        b"[[",
        b"]]",
        b'"""',
    ],
    *[b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 25, b"9" * 5000, b"-0", b"true", b"<<<<<<< ours\n", b"=======\n"],
    *[b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\x1b[2J", b"inf", b"2020-13-40", b"{a=1}", b"[" * 600, b'{"a":' * 600],
]


@st.composite
def mutated(draw: st.DrawFn, kind: str) -> bytes:
    """A file that was right once, cut, doubled, and with things put in; or any bytes."""
    data = draw(st.sampled_from(SEEDS[kind]))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 30)))
        what = draw(st.sampled_from(["cut", "double", "put", "put", "move"]))
        piece = draw(st.sampled_from(TOKENS) | st.binary(max_size=3)) if what == "put" else data[start:stop]
        if what == "move":
            rest = data[:start] + data[stop:]
            at = draw(st.integers(0, len(rest)))
            data = rest[:at] + piece + rest[at:]
        else:
            data = (
                data[: stop if what != "put" else start]
                + piece * (what != "cut")
                + data[start if what == "double" else stop :]
            )
    return data


def check_data(data: bytes, folder: Path) -> None:
    """Every row is JSON that can be written again, or says why not; the converter's account is true."""
    for suffix in (".jsonl", ".json", ".csv", ".txt", ".dat", ".parquet"):
        path = folder / f"x{suffix}"
        path.write_bytes(data)
        with suppress(DsregError), open_rows(path, unique=["instruction"]) as stream:
            for number, row in enumerate(stream, 1):
                assert stream.row == number and (stream.line is None or stream.line <= data.count(b"\n") + 1)
                if not isinstance(row, BadRow):
                    assert same_json(json.loads(encode({"row": row}, "x", 1)), {"row": row})
                assert not isinstance(row, BadRow) or (row.code and row.message)
    for command in (["convert", str(folder / "x.jsonl"), "--target", "openai"], ["check", str(folder / "x.jsonl")]):
        done = run_here(*command)
        assert done.code in (0, 1, 2), done
    assert all(json.loads(line) for line in done.out.split("\n") if line.startswith('{"messages'))


def check_info(data: bytes, folder: Path) -> None:
    """What can be read can be edited, without losing a byte of the rest."""
    try:
        document = Document.parse(data, "x")
    except RegistryError:
        return
    assert document.encode() == data, "nothing changed yet"
    if "new" in document.value:
        return
    with suppress(RegistryError):
        document.set_member("new", {"file_name": "x"})
        after = Document.parse(document.encode(), "x")
        assert same_json(after.value["new"], {"file_name": "x"})
        after.remove_member("new")
        assert after.encode() == data


def check_toml(data: bytes, folder: Path) -> None:
    """A dataset or a problem with its place; an edit that says what was meant, or a refusal."""
    (folder / "registry" / "x.toml").write_bytes(data)
    (folder / "dsreg.toml").write_bytes(data)
    with suppress(RegistryError):
        open_project(folder)
    (folder / "dsreg.toml").unlink()
    loaded = load_all(open_project(folder))
    assert ("x" in loaded.datasets) != ("x" in loaded.problems)
    if "x" in loaded.datasets:
        values = {**loaded.datasets["x"].to_toml(), "added": "\x00'\"\n"}
        with suppress(RegistryError):
            assert tomllib.loads(edited(data, values, "x").decode("utf-8-sig"))["added"] == values["added"]
    for command in (["check", "x"], ["sync"], ["set", "x", "--ranking"], ["remove", "-y", "x"]):
        assert run_here("-C", str(folder), *command).code in (0, 1, 2)


def check_lock(data: bytes, folder: Path) -> None:
    """A lock that cannot be read counts line by line, and is no obstacle."""
    (folder / "dsreg.lock").write_bytes(data)
    (folder / ".dsreg").mkdir(exist_ok=True)
    for name in ("pending.json", "cache.json", "exports.json"):
        (folder / ".dsreg" / name).write_bytes(data)
    with suppress(RegistryError):
        read_lock(open_project(folder))
    assert run_here("-C", str(folder), "sync").code in (0, 1, 2)
    assert run_here("-C", str(folder), "export", "rivers", "--target", "pretrain").code in (0, 1, 2)


CHECKS: dict[str, Callable[[bytes, Path], None]] = {
    "data": check_data,
    "info": check_info,
    "toml": check_toml,
    "lock": check_lock,
}


def checked(kind: str, data: bytes) -> None:
    """Run a check in a project of its own; keep the bytes that fail where `make fuzz` wants them."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "p"
        make_project(root)
        try:
            CHECKS[kind](data, root)
        except Exception:
            kept = os.environ.get("DSREG_FUZZ_KEEP")
            if kept:
                (Path(kept) / f"{kind}-found-{os.getpid()}").write_bytes(data)  # the last one is the smallest
            raise


@pytest.mark.parametrize("kind", CHECKS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes(kind: str, data: st.DataObject) -> None:
    checked(kind, data.draw(mutated(kind)))


@pytest.mark.parametrize("path", sorted(INPUTS.glob("*-*")), ids=lambda path: path.name)
def test_what_did_harm_once(path: Path) -> None:
    checked(path.name.partition("-")[0], path.read_bytes())
