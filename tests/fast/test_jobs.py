"""Several processes write and report what one does, and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dsreg.errors import DataFileError
from dsreg.export import export
from dsreg.fast import jobs, plan_for
from dsreg.fast.run import Run
from dsreg.formats import find_format
from dsreg.notes import Notes
from dsreg.rows.lines import cut
from dsreg.runner import Choices, Conversion, Reject, Tally, make_conversion
from dsreg.source import make_source
from tests.fast.test_same import KINDS, Kind, line


def conversion_of(kind: Kind, path: Path, target: str) -> Conversion:
    source = make_source("data", find_format(kind.format), [path], kind.columns, ranking=kind.task == "preference")
    return make_conversion(source, find_format(target), Choices())


def in_processes(kind: Kind, path: Path, target: str, count: int, method: str | None) -> Any:
    """Rows, rejects and account of a conversion in several processes, in short stretches."""
    conversion = conversion_of(kind, path, target)
    order = jobs.order_of(conversion, [], b"\n", "out", early=False)
    kept, rejects, tally = jobs.Kept(b"\n", "out"), list[Reject](), Tally()
    short = replace(order, stretch=20_000)
    jobs.run_jobs(short, path, count, tally, kept.write_joined, rejects.append, None, method)
    return b"\n".join(kept.parts), rejects, str(tally), tally.lost_extras, main_notes(tally.notes)


def in_one(kind: Kind, path: Path, target: str) -> Any:
    """The same of a conversion in this process."""
    conversion = conversion_of(kind, path, target)
    plan = plan_for(conversion)
    assert plan is not None
    kept, rejects, tally = jobs.Kept(b"\n", "out"), list[Reject](), Tally()
    run = Run(conversion, plan, tally, kept, rejects.append)
    number = 1
    for block in cut(path.read_bytes()):
        rows = run.blocks.lines(block, number, str(path))
        run.block(path, rows)
        number += rows.lines
    return b"\n".join(kept.parts), rejects, str(tally), tally.lost_extras, main_notes(tally.notes)


def main_notes(notes: Notes) -> Any:
    """The notes without the places of single words: each stretch notes its own first."""
    return {kind: (count, notes.first[kind]) for kind, count in notes.counts.items() if " at " not in kind}


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize(("kind", "target"), [(KINDS[0], "nova-sft"), (KINDS[3], "sharegpt"), (KINDS[1], "alpaca")])
def test_same_in_order(kind: Kind, target: str, method: str, tmp_path: Path) -> None:
    random = Random(7)
    plain = json.dumps(kind.row).encode()
    rows = [line(random, kind) if random.random() < 0.1 else plain for _ in range(2000)]
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"\n".join(rows))
    one = in_one(kind, path, target)
    assert len(one[1]) > 20
    for count in (2, 3) if method == "fork" else (2,):
        assert in_processes(kind, path, target, count, method) == one


def test_a_line_longer_than_a_stretch(tmp_path: Path) -> None:
    kind = KINDS[0]
    rows = [{**kind.row, "output": "x" * size} for size in (10, 70_000, 3, 45_000, 19_990, 5)]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    assert in_processes(kind, path, "nova-sft", 3, None) == in_one(kind, path, "nova-sft")


def test_errors_of_workers_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_ROW", 30_000)
    kind = KINDS[0]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(kind.row | {"output": "x" * size}) for size in (9, 50_000, 9)))
    with pytest.raises(DataFileError, match="longer than"):
        in_processes(kind, path, "nova-sft", 2, "fork")


def big(path: Path) -> Path:
    text = json.dumps({"instruction": "Why?", "output": "x" * 1000}) + "\n"
    path.write_text(text * 30_000)
    return path


def test_the_output_is_the_same_file(tmp_path: Path) -> None:
    path = big(tmp_path / "data.jsonl")
    outputs = []
    for count in (1, 2):
        source = make_source("d", find_format("alpaca"), [path], {"prompt": "instruction", "response": "output"})
        made = make_conversion(source, find_format("sharegpt"), Choices())
        report = export(made, tmp_path / f"{count}.json", jobs=count)
        assert str(report.tally) == "30,000 read = 30,000 used + 0 set aside + 0 rejected; 30,000 written"
        outputs.append((tmp_path / f"{count}.json").read_bytes())
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[1])) == 30_000


def test_a_worker_that_cannot_write_says_so(tmp_path: Path) -> None:
    """As on a full disk: no file may become larger than a megabyte."""
    path = big(tmp_path / "data.jsonl")
    code = "import resource, sys; from dsreg.cli.app import main; "
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)); sys.exit(main(sys.argv[1:]))"
    words = ["convert", str(path), "--format", "alpaca", "--target", "nova-sft", "-j", "2", "-o", "out.jsonl"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "out.jsonl" in done.stderr
    assert "File too large" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["data.jsonl"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_an_interrupted_run(how: signal.Signals, tmp_path: Path) -> None:
    path = big(tmp_path / "data.jsonl")
    command = [sys.executable, "-m", "dsreg", "convert", str(path), "--format", "alpaca", "--target", "nova-sft"]
    process = subprocess.Popen([*command, "-j", "2", "-o", "out.jsonl"], cwd=tmp_path, start_new_session=True)
    while not list(tmp_path.glob(".*.tmp")) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(how)
    code = process.wait(30)
    if how is signal.SIGINT and code != 0:  # 0: it was faster than we
        assert code in (130, -signal.SIGINT)  # Python ends itself by the signal if it came during certain calls
        assert [each.name for each in tmp_path.iterdir()] == ["data.jsonl"]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a worker outlived its parent")
