"""Measure dsreg against what people use instead, on the same files in turn, and write benchmarks/RESULTS.md.

`--quick` is one job of 300,000 rows against a bare loop of orjson, printed only.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import data  # noqa: E402, I001
import peers  # noqa: E402


class Job(NamedTuple):
    """One conversion: its data, and what dsreg calls it."""

    kind: str
    format: str
    target: str
    options: tuple[str, ...] = ()


JOBS = {
    "alpaca-nova": Job("alpaca", "alpaca", "nova-sft"),
    "sharegpt-nova": Job("sharegpt", "sharegpt", "nova-sft"),
    "preference-hf": Job("preference", "alpaca", "hf-preference"),
    "alpaca-sharegpt": Job("alpaca", "alpaca", "sharegpt", ("container=jsonl",)),
}
ENTRIES: dict[str, dict[str, Any]] = {
    "alpaca-nova": {
        "columns": {
            "prompt": "instruction", "query": "input", "response": "output", "system": "system", "history": "history",
        },
    },
    "sharegpt-nova": {"formatting": "sharegpt", "columns": {"messages": "conversations", "system": "system"}},
    "preference-hf": {
        "ranking": True,
        "columns": {"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"},
    },
}  # fmt: skip
"""What LlamaFactory's registry says of the data of a job."""


class Result(NamedTuple):
    """One run of one engine: seconds on the clock, seconds of all cores, and memory of the largest process."""

    wall: float
    cpu: float
    memory: int


def dsreg(job: Job, source: Path, target: Path, jobs: int) -> list[str]:
    """The command that runs dsreg."""
    options = [word for option in job.options for word in ("--option", option)]
    command = [sys.executable, "-m", "dsreg", "-q", "convert", str(source), "--format", job.format]
    return [*command, "--target", job.target, *options, "-j", str(jobs), "-o", str(target), "--force"]


def measure(command: list[str]) -> Result:
    """Run a command to its end; raises RuntimeError when it fails."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=plain)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}\n{said.read().decode(errors='replace')[-2000:]}")
    return Result(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10)


def engines(name: str, *, quick: bool) -> list[str]:
    """The engines that can run a job here."""
    if quick:
        return ["dsreg -j 1", "dsreg -j 2", "orjson_loop"]
    found = ["dsreg -j 1", "dsreg -j 2"]
    for engine in peers.ENGINES:
        there = importlib.util.find_spec(engine) if engine in ("duckdb", "datasets") else True
        there = shutil.which("jq") if engine == "jq" else there
        if there and name in peers.ONLY.get(engine, [name]):
            found.append(engine)
    return found


def command(engine: str, name: str, source: Path, target: Path) -> list[str]:
    """The command line of an engine."""
    if engine.startswith("dsreg"):
        return dsreg(JOBS[name], source, target, int(engine.split()[-1]))
    return [sys.executable, str(HERE / "peers.py"), engine, name, str(source), str(target)]


def rows(path: Path) -> Iterator[Any]:
    """The rows of a file without the nulls that some engines fill in."""
    with path.open("rb") as file:
        for line in file:
            yield {key: value for key, value in json.loads(line).items() if value is not None}


def compare(ours: Path, theirs: Path) -> str:
    """Nothing where two outputs are equal, or where they differ."""
    for number, (a, b) in enumerate(zip_longest(rows(ours), rows(theirs)), 1):
        if a != b:
            return f"differs from row {number:,}"
    return ""


def run(name: str, source: Path, folder: Path, rounds: int, *, quick: bool = False) -> list[str]:
    """Measure all engines in turn, several times, and give the lines of a table."""
    size = source.stat().st_size / 1e6
    results: dict[str, list[Result]] = {engine: [] for engine in engines(name, quick=quick)}
    notes: dict[str, str] = {}
    ours = folder / "ours.jsonl"
    for turn in range(rounds):
        for engine, found in results.items():
            target = ours if engine == "dsreg -j 1" else folder / "theirs.jsonl"
            try:
                found.append(measure(command(engine, name, source, target)))
            except RuntimeError as error:
                if engine.startswith("dsreg"):
                    raise
                notes[engine] = f"fails: {str(error).splitlines()[-1][:80]}"
                continue
            if not turn and engine not in ("dsreg -j 1", "orjson_loop"):
                notes[engine] = compare(ours, target)
    bare = best(results["orjson_loop"])
    lines = []
    for engine, found in results.items():
        if found:
            mine, median = best(found), statistics.median(each.wall for each in found)
            lines.append(
                f"| {engine} | {size / mine.wall:,.0f} | {bare.wall / mine.wall:.2f} | {bare.cpu / mine.cpu:.2f} |"
                f" {median:.2f} | {max(each.memory for each in found):,} | {notes.get(engine, '')} |"
            )
        else:
            lines.append(f"| {engine} | | | | | | {notes.get(engine, '')} |")
    return lines


def best(found: list[Result]) -> Result:
    """The least of each: what the machine can do when nobody else uses it."""
    return Result(min(r.wall for r in found), min(r.cpu for r in found), min(r.memory for r in found))


HEAD = [
    "| engine | MB/s | × bare loop | × its CPU | median s | MB of memory | |",
    "|---|--:|--:|--:|--:|--:|---|",
]


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", default="10000,100000,1000000", help="row counts for the table of growth")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "dsreg-bench")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=asked.data) as temp:
        folder = Path(temp)
        if asked.quick:
            source = data.make(asked.data, "alpaca", 300_000)
            print("\n".join([*HEAD, *run("alpaca-nova", source, folder, asked.rounds, quick=True)]))
            return
        text = [
            "# Measured",
            "",
            f"`make bench`: {os.cpu_count()} cores, Python {sys.version.split()[0]}. Whole processes.",
        ]
        text += [f"Ratios of the best of {asked.rounds} rounds to a bare orjson loop (`dumps(loads(line))`).", ""]
        for name, job in JOBS.items():
            source = data.make(asked.data, job.kind, asked.rows)
            text += [f"## {name}, {asked.rows:,} rows, {source.stat().st_size / 1e6:,.0f} MB", "", *HEAD]
            text += [*run(name, source, folder, asked.rounds), ""]
        text += [
            *array(asked.data, folder, asked.rows, asked.rounds),
            "",
            *check(asked.data, folder, asked.rows, asked.rounds),
            "",
            *growth(asked.data, folder, asked.growth),
            "",
        ]
    (HERE / "RESULTS.md").write_text("\n".join(text), "utf-8")


def array(made: Path, folder: Path, count: int, rounds: int) -> list[str]:
    """The same rows as an array with indentation."""
    lines = ["## JSON array, alpaca to nova-sft", "", "| input | krows/s | MB of memory |", "|---|--:|--:|"]
    for label, source in (
        ("lines", data.make(made, "alpaca", count)),
        ("array", data.make(made, "alpaca", count, array=True)),
    ):
        found = best([measure(dsreg(JOBS["alpaca-nova"], source, folder / "o.jsonl", 1)) for _ in range(rounds)])
        lines.append(f"| {label} | {count / found.wall / 1e3:,.0f} | {found.memory} |")
    return lines


def check(made: Path, folder: Path, count: int, rounds: int) -> list[str]:
    """The check of a dataset beside its export, with and without the search for copies."""
    lines = ["## check and export", "", "| data | | MB/s | × export | MB of memory |", "|---|---|--:|--:|--:|"]
    base = [sys.executable, "-m", "dsreg", "-q", "check", "data", "--dataset-dir", str(folder)]
    for name, entry in ENTRIES.items():
        kind = JOBS[name].kind
        source = data.make(made, kind, count)
        (folder / "dataset_info.json").write_text(json.dumps({"data": {"file_name": str(source), **entry}}))
        commands = {
            "export": dsreg(JOBS[name], source, folder / "o.jsonl", 1),
            "check": [*base, "--ignore", "DS290"],
            "check with copies": base,
        }
        results: dict[str, list[Result]] = {command: [] for command in commands}
        for _ in range(rounds):
            for command, words in commands.items():
                results[command].append(measure(words))
        size, export = source.stat().st_size / 1e6, best(results["export"])
        for command, found in results.items():
            mine = best(found)
            lines.append(
                f"| {kind} | {command} | {size / mine.cpu:,.0f} | {export.cpu / mine.cpu:.2f} | {mine.memory:,} |"
            )
    return lines


def growth(made: Path, folder: Path, counts: str) -> list[str]:
    """Time and memory for more and more rows."""
    lines = [
        "## Growth, alpaca to nova-sft",
        "",
        "| rows | jobs | s | krows/s | MB of memory |",
        "|--:|--:|--:|--:|--:|",
    ]
    for count in map(int, counts.split(",")):
        source = data.make(made, "alpaca", count)
        for jobs in (1, 2):
            found = measure(dsreg(JOBS["alpaca-nova"], source, folder / "o.jsonl", jobs))
            lines.append(
                f"| {count:,} | {jobs} | {found.wall:.2f} | {count / found.wall / 1e3:,.0f} | {found.memory} |"
            )
    return lines


if __name__ == "__main__":
    main()
