"""What somebody meets who tries dsreg for the first time: each refusal says what to do instead."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Dsreg = Callable[..., Any]
ROW = {"instruction": "a", "output": "b"}


def lines(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path.name


@pytest.mark.parametrize("flag", ["--select", "--ignore"])
def test_codes_that_do_not_exist_are_refused(dsreg: Dsreg, flag: str) -> None:
    for code, known in (("DS9", False), ("ds2", True), ("DS290", True), ("D2", False), ("DS1,XX", False)):
        done = dsreg("check", flag, code)
        assert (done.code != 2) == known, code
        assert known or "dsreg check --explain all" in done.err


def test_init_says_that_a_toml_is_broken(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("sync").code == 0
    (project / "registry" / "pairs.toml").write_text("format = \n")
    done = dsreg("init")
    assert done.code == 1 and "registry/pairs.toml:1" in done.err
    assert "everything is as it should be" not in done.err


def test_init_counts_many_entries(dsreg: Dsreg, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    (folder / "data").mkdir(parents=True)
    info = {f"d{number}": {"file_name": f"d{number}.json"} for number in range(60)}
    (folder / "data" / "dataset_info.json").write_text(json.dumps(info))
    done = dsreg("init", str(folder))
    assert done.code == 0 and "60 files in registry/" in done.err
    assert "d7.toml" not in done.err


OWN = [
    "registry/pairs.toml",
    "registry/new.toml",
    "data/dataset_info.json",
    "dsreg.lock",
    "dsreg.toml",
    "data/mydata.json",
    "templates/formats/x/reader.py",
]


@pytest.mark.parametrize("place", OWN)
def test_no_export_writes_over_a_project(dsreg: Dsreg, project: Path, place: str) -> None:
    dsreg("add", "mydata", "--format", "alpaca")
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".dsreg" not in path.parts}
    lines(project / "more.jsonl", ROW)
    for arguments in (
        ("export", "pairs", "--target", "openai", "--take", "chosen"),
        ("convert", "more.jsonl", "--format", "alpaca", "--target", "openai"),
    ):
        done = dsreg(*arguments, "-o", place, "--force")
        assert done.code == 2 and "no export writes over" in done.err
    (project / "more.jsonl").unlink()
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".dsreg" not in path.parts}
    assert after == before


def test_export_has_no_standard_output(dsreg: Dsreg, project: Path) -> None:
    done = dsreg("export", "pairs", "--target", "openai", "--take", "chosen", "-o", "-")
    assert done.code == 2 and "dsreg convert" in done.err
    assert not (project / "-").exists()


def test_rejects_of_rows_on_one_line_are_told_apart(dsreg: Dsreg, project: Path) -> None:
    rows = [ROW] * 57 + [{**ROW, "output": 5}]
    (project / "mini.json").write_text(json.dumps(rows))
    done = dsreg("convert", "mini.json", "--format", "alpaca", "--target", "openai")
    assert done.code == 1 and "mini.json:1 row 58: DS204" in done.err
    (project / "mini.json").write_text(json.dumps(rows, indent=1))
    assert " row " not in dsreg("convert", "mini.json", "--format", "alpaca", "--target", "openai").err.splitlines()[0]


@pytest.mark.parametrize("source", ["data", "data/", ".", "registry", "data/dataset_info.json", "registry/pairs.toml"])
def test_a_project_is_no_dataset(dsreg: Dsreg, project: Path, source: str) -> None:
    dsreg("sync")
    done = dsreg("add", "m3", source)
    assert done.code == 2 and "of the project, not a dataset" in done.err
    assert not (project / "registry" / "m3.toml").exists()


def test_names_that_are_one_file_on_many_systems(dsreg: Dsreg, project: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    lines(project / "data" / "x.jsonl", ROW)
    assert dsreg("add", composed, "data/x.jsonl").code == 0
    done = dsreg("add", decomposed, "data/x.jsonl")
    assert done.code == 2 and "one file on many systems" in done.err


def test_keys_of_older_releases_are_known(dsreg: Dsreg, project: Path) -> None:
    toml = project / "registry" / "pairs.toml"
    toml.write_text('file_sha1 = "00"\ntrain = "x"\nformating = "x"\n' + toml.read_text())
    said = dsreg("sync").err
    assert "`file_sha1` is no longer read" in said and "until 0.7.1" in said
    assert "unknown key `train`" in said and "ranking" not in said
    assert "did you mean `format`?" in said
    checked = dsreg("check", "pairs").out
    assert [line.count("DS18") for line in checked.splitlines() if "file_sha1" in line] == [1]


def test_a_byte_order_mark_is_repaired(dsreg: Dsreg, project: Path) -> None:
    dsreg("sync")
    info = project / "data" / "dataset_info.json"
    before = info.read_bytes()
    for asked in ([], ["--dataset-dir", "data"]):
        info.write_bytes(b"\xef\xbb\xbf" + before)
        assert "DS172" in dsreg("check").out
        assert "byte order mark" in dsreg("check", "--fix", *asked).err
        assert info.read_bytes() == before
    assert dsreg("sync", "--check").code == 0


def test_a_name_that_begins_with_a_dash(dsreg: Dsreg) -> None:
    assert "after --" in dsreg("show", "-mine").err


def test_a_format_far_from_all_is_not_guessed(dsreg: Dsreg) -> None:
    assert "did you mean `sharegpt`?" in dsreg("formats", "show", "sharegtp").err
    assert "did you mean" not in dsreg("formats", "show", "parquet").err


def run(project: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a shell does."""
    program = f"{sys.executable} -m dsreg"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    shell = ["bash", "-c", command.replace("dsreg", program, 1)]
    return subprocess.run(shell, cwd=project, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["dsreg list >&-", "dsreg sync >&- 2>&-", "dsreg list <&-"])
def test_closed_streams(project: Path, command: str) -> None:
    done = run(project, command)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "bug" not in done.stderr


def test_a_pipe_is_no_file(project: Path) -> None:
    lines(project / "a.jsonl", ROW)
    done = run(project, "dsreg convert <(cat a.jsonl) --format alpaca --target openai")
    assert done.returncode == 2 and "- reads standard input" in done.stderr


def test_told_to_end_it_cleans_up(project: Path) -> None:
    program = [
        sys.executable,
        "-m",
        "dsreg",
        "convert",
        "-",
        "--format",
        "alpaca",
        "--target",
        "openai",
        "-o",
        "o.jsonl",
    ]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(project / "tmp")}
    (project / "tmp").mkdir()
    with subprocess.Popen(program, cwd=project, env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b'{"instruction": "a", "output": "b"}\n')
        process.stdin.flush()
        waited = time.monotonic() + 20
        while not any((project / "tmp").iterdir()) and time.monotonic() < waited:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read().decode()
    assert process.returncode == 130 and "interrupted" in said
    assert not any((project / "tmp").iterdir()) and not (project / "o.jsonl").exists()


def test_a_file_has_one_name_in_an_output(dsreg: Dsreg, project: Path) -> None:
    lines(project / "data" / "x.jsonl", ROW, {**ROW, "output": 5})
    added = dsreg("add", "x", "data/x.jsonl", "--copy")
    assert "data/x.jsonl:2: DS204" in added.err and "would lack 1 rows; first: data/x.jsonl:2" in added.err
    assert str(project) not in added.err
