"""The bench at a small size: what it makes, measures, compares and says of the bars."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The bench's own modules, as its script sees them."""
    monkeypatch.syspath_prepend(str(BENCH))
    found = {}
    for name in ("columnar", "measure", "peers", "bars", "data", "startup"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("measure", "peers", "bars", "data", "startup"):
        found[name] = __import__(name)
    for name in ("columnar", *found):
        monkeypatch.delitem(sys.modules, name)
    return found


def test_a_small_bench_ends_in_a_report(tmp_path: Path) -> None:
    words = "--rows 300 --rounds 1 --growth 20,40 --only tools-nova,array,growth".split()
    report = tmp_path / "report.md"
    command = [sys.executable, str(BENCH / "run.py"), *words, "--data", str(tmp_path / "data"), "-o", str(report)]
    subprocess.run(command, check=True, capture_output=True)
    lines = report.read_text("utf-8").splitlines()
    assert "## tools-nova, 15 rows, 0 MB" in lines
    table = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    assert {"dsreg, 1 job", "dsreg, 2 jobs", "orjson loop", "orjson script", "orjson script, checked"} <= table.keys()
    assert not any("differs" in line or "fails" in line for line in table.values())
    assert table["tools-nova: 1 job ÷ orjson loop"].endswith(("| holds |", "| **does not hold** |"))
    assert table["alpaca-nova: 1 job ÷ orjson loop"].endswith("| not measured |")


def test_its_data_is_the_same_each_time(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    data = modules["data"]
    (tmp_path / "again").mkdir()
    for kind in data.KINDS:
        once, again = data.make(tmp_path, kind, 30), data.make(tmp_path / "again", kind, 30)
        assert once.read_bytes() == again.read_bytes()
        assert len(once.read_bytes().splitlines()) == 30
    array = json.loads(data.make(tmp_path, "alpaca", 30, array=True).read_bytes())
    assert array == [json.loads(line) for line in (tmp_path / "alpaca-30.jsonl").read_bytes().splitlines()]


def test_more_rows_than_are_made_are_the_same_again(
    modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules["data"], "DISTINCT", 10)
    lines = modules["data"].make(tmp_path, "alpaca", 25).read_bytes().splitlines()
    assert lines == (lines[:10] * 3)[:25]


def test_an_output_that_is_less_is_told(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    rows: list[Any] = [{"a": 1, "system": None}, {"a": 2}, {"a": 3}]
    outputs: dict[str, list[Any]] = {
        "ours": [{"a": 1}, {"a": 2}, {"a": 3}],
        "same": rows,
        "short": rows[:2],
        "other": rows[::-1],
    }
    for name, some in outputs.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in some))

    def compare(name: str, count: int) -> str:
        return str(modules["measure"].compare(tmp_path / "ours", tmp_path / name, count, lambda row: row))

    assert compare("same", 3) == compare("short", 2) == ""
    assert compare("short", 3) == "2 rows, not 3"
    assert compare("other", 3) == "differs from row 1"


def test_bars(modules: dict[str, ModuleType]) -> None:
    Result = modules["measure"].Result
    results = {
        "alpaca-nova": {"dsreg, 1 job": Result(1.0, 1.0, 140, 100), "orjson loop": Result(0.9, 0.9, 900, 100)},
        "array": {"lines": Result(1.0, 1.0, 10), "array": Result(2.0, 2.0, 160)},
        "growth, 10 rows": {"1 job": Result(1.0, 1.0, 10, 10), "2 jobs": Result(1.0, 1.0, 10, 10)},
        "growth, 90 rows": {"1 job": Result(9.1, 9.1, 10, 90), "2 jobs": Result(5.0, 9.0, 10, 90)},
    }
    found = {bar.what: bar.holds for bar in modules["bars"].bars(results) if bar.holds is not None}
    assert found == {
        "alpaca-nova: 1 job ÷ orjson loop": True,
        "a JSON array ÷ the same rows as lines": False,
        "growth, 90 rows: speed ÷ that in growth, 10 rows": True,
        "growth, 90 rows: 2 jobs ÷ 1 job": True,
        "MB of memory of any process of dsreg": False,
    }


@pytest.mark.parametrize("command", ["", "convert", "formats test"])
def test_the_bare_app_is_as_large_as_dsreg(modules: dict[str, ModuleType], tmp_path: Path, command: str) -> None:
    (tmp_path / "bare.py").write_text(modules["startup"].bare_app(), "utf-8")
    helps = []
    for start in ([str(tmp_path / "bare.py")], ["-m", "dsreg"]):
        done = subprocess.run([sys.executable, *start, *command.split(), "--help"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        helps.append(done.stdout.splitlines()[1:])
    assert helps[0] == helps[1]
