"""Run commands in turn and say how long they took and how much memory they had."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple


class Result(NamedTuple):
    """The best of some runs: seconds on the clock, seconds of all cores, MB of the largest process, bytes of input."""

    wall: float
    cpu: float
    memory: int
    size: int = 0


def run(command: list[str]) -> Result:
    """Run a command to its end; raises RuntimeError when it fails."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env={**plain, "POLARS_MAX_THREADS": "2"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}\n{said.read().decode(errors='replace')[-2000:]}")
    return Result(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10)


def best(found: list[Result], size: int = 0) -> Result:
    """The least of each, what the machine can do when nobody else uses it; but the most memory."""
    return Result(min(r.wall for r in found), min(r.cpu for r in found), max(r.memory for r in found), size)


def in_turn(commands: Mapping[str, list[str]], rounds: int, size: int) -> dict[str, Result]:
    """The best of each command, where all run in turn, several times; raises RuntimeError when one fails."""
    results: dict[str, list[Result]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(run(command))
    return {name: best(found, size) for name, found in results.items()}


def dsreg(format: str, target: str, source: Path, output: Path, jobs: int, *options: str) -> list[str]:
    """The command that converts a file with dsreg."""
    settings = [word for option in options for word in ("--option", option)]
    command = [sys.executable, "-m", "dsreg", "-q", "convert", str(source), "--format", format, "--target", target]
    return [*command, *settings, "-j", str(jobs), "-o", str(output), "--force"]


def without_start(little: Result, more: Result) -> Result:
    """What a command took for the bytes that one run had more than another; the start of the process is in neither."""
    wall, cpu = (max(getattr(more, of) - getattr(little, of), 1e-3) for of in ("wall", "cpu"))
    return Result(wall, cpu, max(little.memory, more.memory), more.size - little.size)


COMPARED = 20_000
"""How many rows of two outputs are compared; how many there are is seen in all."""


def compare(ours: Path, theirs: Path, count: int, to_ours: Callable[[Any], Any]) -> str:
    """Nothing where an output has so many rows, which are equal to ours, or where it differs."""
    for number, (a, b) in enumerate(islice(zip(rows(ours), rows(theirs), strict=False), min(COMPARED, count)), 1):
        if a != to_ours(b):
            return f"differs from row {number:,}"
    return "" if lines(theirs) == count else f"{lines(theirs):,} rows, not {count:,}"


def rows(path: Path) -> Iterator[Any]:
    """The rows of a file without the nulls that some engines fill in."""
    import orjson

    with path.open("rb") as file:
        for line in file:
            yield {key: value for key, value in orjson.loads(line).items() if value is not None}


def lines(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
