"""Worker processes leave nothing behind, however they end."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dsreg.export import export
from dsreg.formats import find_format
from dsreg.runner import Choices, Conversion, make_conversion
from dsreg.source import make_source

COLUMNS = {"prompt": "instruction", "response": "output"}
PORTABLE = Choices(skip=frozenset({"tools"}))
"""With such a choice, all rows go the portable way."""


def conversion_of(path: Path, target: str, choices: Choices | None = None) -> Conversion:
    return make_conversion(make_source("d", find_format("alpaca"), [path], COLUMNS), find_format(target), choices)


def write_data(path: Path) -> Path:
    """A file with many stretches, of the kind that its name says."""
    row = json.dumps({"instruction": "Why?", "output": "x" * 1000}).encode()
    if path.suffix == ".json":
        path.write_bytes(b"[" + b",\n".join([row] * 30_000) + b"]")
    else:
        data = (row + b"\n") * 30_000
        path.write_bytes(gzip.compress(data, 0) if path.suffix == ".gz" else data)
    return path


NAMES = ["data.jsonl", "data.json", "data.jsonl.gz"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", [Choices(), PORTABLE], ids=["fast", "portable"])
def test_the_output_is_the_same_file(name: str, choices: Choices, tmp_path: Path) -> None:
    path = write_data(tmp_path / name)
    outputs = []
    for count in (1, 2):
        out = tmp_path / f"out{count}.json"
        report = export(conversion_of(path, "sharegpt", choices), out, jobs=count)
        assert str(report.tally) == "30,000 read = 30,000 used + 0 set aside + 0 rejected; 30,000 written"
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[1])) == 30_000


def command(path: Path, *more: str, out: str = "out.jsonl") -> list[str]:
    words = ["convert", str(path), "--format", "alpaca", "--target", "nova-sft", "-j", "2", "-o", out]
    return [*words, *more]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", [(), ("--skip", "tools")], ids=["fast", "portable"])
def test_a_worker_that_cannot_write_says_so(name: str, choices: tuple[str, ...], tmp_path: Path) -> None:
    """As on a full disk: no file may become larger than a megabyte."""
    path = write_data(tmp_path / name)
    code = "import resource, sys; from dsreg.cli.app import main; "
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)); sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, *command(path, *choices)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "out.jsonl" in done.stderr
    assert "File too large" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [name]


DYING = """
import os, signal, sys
from dsreg.jobs import worker
from dsreg.cli.app import main

make, after = worker.stretch_user, int(sys.argv[1])

def dying(order):
    use, left = make(order), iter(range(after))
    def once(*args):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        use(*args)
    return once

worker.stretch_user = dying
sys.exit(main(sys.argv[2:]))
"""
"""Every worker is killed after so many stretches."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("out", ["out.jsonl", "out.jsonl.gz"])
@pytest.mark.parametrize("after", [0, 3])
def test_a_worker_that_is_killed(name: str, out: str, after: int, tmp_path: Path) -> None:
    path = write_data(tmp_path / name)
    words = [sys.executable, "-c", DYING, str(after), *command(path, out=out)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "was ended before its work was done" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    ("name", "choices"), [("data.jsonl", ()), ("data.json", ("--skip", "tools")), ("data.jsonl.gz", ())]
)
def test_nothing_is_left_of_an_interrupted_run(
    name: str, choices: tuple[str, ...], how: signal.Signals, tmp_path: Path
) -> None:
    path = write_data(tmp_path / name)
    words = [sys.executable, "-m", "dsreg", *command(path, *choices)]
    process = subprocess.Popen(words, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".*.tmp")) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    if how is not signal.SIGKILL and " written" not in said:  # or else it was faster than we
        assert process.returncode in (130, -signal.SIGINT), said  # a shell calls both 130
        assert said == "error: interrupted\n"
        assert [each.name for each in tmp_path.iterdir()] == [name]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a worker outlived its parent")
