"""Measure dsreg against what people use instead, on the same files in turn, and write benchmarks/RESULTS.md.

`--quick` is one job against a bare loop of orjson, printed only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import bars  # noqa: E402, I001
import data  # noqa: E402
import peers  # noqa: E402
from bars import speed  # noqa: E402
from measure import COMPARED, Result, best, compare, dsreg, in_turn, run, without_start  # noqa: E402
from startup import startup  # noqa: E402

Results = dict[str, dict[str, Result]]
Table = tuple[Results, list[str]]
"""What was measured, by job and engine, and the lines that show it."""


class Job(NamedTuple):
    """One conversion: its data, what dsreg calls it, and of how many rows it gets one."""

    kind: str
    format: str
    target: str
    options: tuple[str, ...] = ()
    part: int = 1

    def command(self, source: Path, output: Path, jobs: int) -> list[str]:
        """The command that runs it with dsreg."""
        return dsreg(self.format, self.target, source, output, jobs, *self.options)


JOBS = {
    "alpaca-nova": Job("alpaca", "alpaca", "nova-sft"),
    "sharegpt-nova": Job("sharegpt", "sharegpt", "nova-sft", part=3),
    "preference-hf": Job("preference", "alpaca", "hf-preference", part=3),
    "alpaca-sharegpt": Job("alpaca", "alpaca", "sharegpt", ("container=jsonl",)),
    "tools-nova": Job("tools", "sharegpt", "nova-sft", part=20),
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

MEMORY = Path("/dev/shm")
NEEDED = 10 << 30
"""How many bytes the files take: they are in memory where there is room, so that no disk is measured."""
FEWER = 2
"""How many rounds are enough for check and growth."""
SLOW = 10
"""The part of the rows that slow engines get."""
HEAD = [
    "| engine | MB/s | × orjson loop | × its CPU | s | MB of memory | |",
    "|---|--:|--:|--:|--:|--:|---|",
]


def convert(name: str, source: Path, count: int, folder: Path, rounds: int, *, quick: bool = False) -> Table:
    """Run all engines in turn, several times, the slow ones once and on fewer rows."""
    there = {engine: peer for engine, peer in peers.PEERS.items() if name in peer.jobs and peers.installed(peer)}
    fast = [engine for engine, peer in there.items() if not peer.slow and (not quick or engine == "orjson loop")]
    slow = [engine for engine, peer in there.items() if peer.slow and not quick]
    ours, theirs, size = folder / "ours.jsonl", folder / "theirs.jsonl", source.stat().st_size
    results: dict[str, list[Result]] = {engine: [] for engine in ("dsreg, 1 job", "dsreg, 2 jobs", *fast)}
    notes: dict[str, str] = {}
    for turn in range(rounds):
        for engine, found in results.items():
            output = ours if engine == "dsreg, 1 job" else theirs
            if engine.startswith("dsreg"):
                command = JOBS[name].command(source, output, int(engine.split()[1]))
            else:
                command = peer_command(engine, name, source, output)
            found.append(run(command))
            if not turn and engine not in ("dsreg, 1 job", "orjson loop"):
                notes[engine] = compare(ours, output, count, lambda row: row)
    made = {engine: best(found, size) for engine, found in results.items()}
    for engine in slow:
        try:
            made[engine], notes[engine] = convert_slowly(engine, name, source, count // SLOW, folder)
        except RuntimeError as error:
            notes[engine] = f"fails: {str(error).splitlines()[-1][:80]}"
    return {name: made}, rated(made, notes)


def convert_slowly(engine: str, name: str, source: Path, count: int, folder: Path) -> tuple[Result, str]:
    """Run a slow engine on the first rows of a file, and on a fifth of them; what is equal in both is not counted."""
    theirs, found = folder / "theirs.jsonl", []
    for rows in (1000, count // 5, count):  # the first time, it may still have to compile itself
        part = folder / "part.jsonl"
        with source.open("rb") as file, part.open("wb") as begin:
            begin.writelines(islice(file, rows))
        found.append(run(peer_command(engine, name, part, theirs))._replace(size=part.stat().st_size))
    to_ours = peers.from_convmerge if engine == "convmerge" else lambda job, row: row
    differs = compare(folder / "ours.jsonl", theirs, count, lambda row: to_ours(name, row))
    return without_start(*found[1:]), "; ".join(filter(None, (f"on {count:,} rows, without its start", differs)))


def peer_command(engine: str, name: str, source: Path, output: Path) -> list[str]:
    """The command that runs a job with a peer."""
    return [sys.executable, str(HERE / "peers.py"), engine, name, str(source), str(output)]


def rated(made: dict[str, Result], notes: dict[str, str]) -> list[str]:
    """The lines of a table of engines."""
    bare, lines = made["orjson loop"], []
    for engine in made | notes:
        row = [""] * 5
        if engine in made:
            it = made[engine]
            cpu = it.size / it.cpu / (bare.size / bare.cpu)
            row = [f"{speed(it) / 1e6:,.0f}", f"{speed(it) / speed(bare):.2f}", f"{cpu:.2f}", f"{it.wall:.2f}"]
            row.append(f"{it.memory:,}")
        lines.append(f"| {' | '.join([engine, *row, notes.get(engine, '')])} |")
    return lines


def array(asked: argparse.Namespace, folder: Path) -> Table:
    """The same rows as lines and as an array with indentation."""
    count = asked.rows
    made = data.make(asked.data, "alpaca", count), data.make(asked.data, "alpaca", count, array=True)
    sources = dict(zip(("lines", "array"), made, strict=True))
    job, output = JOBS["alpaca-nova"], folder / "o.jsonl"
    found = in_turn({name: job.command(source, output, 1) for name, source in sources.items()}, asked.rounds, 0)
    lines = ["## JSON array, alpaca to nova-sft, 1 job", "", "| input | krows/s | MB of memory |", "|---|--:|--:|"]
    lines += [f"| {name} | {count / it.wall / 1e3:,.0f} | {it.memory} |" for name, it in found.items()]
    return {"array": found}, lines


def check(asked: argparse.Namespace, folder: Path) -> Table:
    """The check of a dataset beside its export, with and without the search for duplicates."""
    lines = ["## check and export, 1 job", "", "| data | | MB/s | × export | MB of memory |", "|---|---|--:|--:|--:|"]
    base = [sys.executable, "-m", "dsreg", "-q", "check", "data", "--dataset-dir", str(folder)]
    results: Results = {}
    for name, entry in ENTRIES.items():
        source = data.make(asked.data, JOBS[name].kind, asked.rows // JOBS[name].part)
        (folder / "dataset_info.json").write_text(json.dumps({"data": {"file_name": str(source), **entry}}))
        export = JOBS[name].command(source, folder / "o.jsonl", 1)
        commands = {"export": export, "check": [*base, "--ignore", "DS290"], "check with duplicates": base}
        size = source.stat().st_size
        found = results[f"check {name}"] = in_turn(commands, min(asked.rounds, FEWER), size)
        for label, it in found.items():
            ratio = found["export"].wall / it.wall
            lines.append(f"| {name} | {label} | {size / 1e6 / it.wall:,.0f} | {ratio:.2f} | {it.memory:,} |")
    return results, lines


def growth(asked: argparse.Namespace, folder: Path) -> Table:
    """Time and memory for more and more rows."""
    lines = ["## Growth, alpaca to nova-sft", "", "| rows | jobs | s | krows/s | MB of memory |"]
    lines.append("|--:|--:|--:|--:|--:|")
    results: Results = {}
    for count in map(int, asked.growth.split(",")):
        source = data.make(asked.data, "alpaca", count)
        job = JOBS["alpaca-nova"]
        commands = {name: job.command(source, folder / "o.jsonl", int(name[0])) for name in ("1 job", "2 jobs")}
        found = in_turn(commands, min(asked.rounds, FEWER), source.stat().st_size)
        results[f"growth, {count:,} rows"] = found
        for name, it in found.items():
            speed = f"{it.wall:.2f} | {count / it.wall / 1e3:,.0f}"
            lines.append(f"| {count:,} | {name[0]} | {speed} | {it.memory} |")
    return results, lines


def start(asked: argparse.Namespace, folder: Path) -> Table:
    """What starting dsreg costs."""
    return startup(folder, asked.rounds)


def head(rounds: int, data: Path) -> list[str]:
    """Where and with what it was measured."""
    place = "in memory" if data.is_relative_to(MEMORY) else "on a disk"
    versions, fewer = [], min(rounds, FEWER)
    for package in ("orjson", "duckdb", "polars", "datasets", "convmerge"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} is not installed")
    return [
        "# Measured",
        "",
        f"`make bench` on {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()};"
        f" {', '.join(versions)}.",
        f"Whole processes, from start to end, in turn, on the same files {place}; memory: that of the largest process.",
        f"Ratios are of speeds, above 1 is faster: the best of {rounds} runs, of {fewer} for check and growth. Slow",
        "engines run once, on fewer rows, as is said; only what they take for more rows is counted, not their start.",
        "The orjson loop is `dumps(loads(line))`, and converts nothing. The rows of each output are counted, and the",
        f"first {COMPARED:,} compared with those of dsreg (convmerge's after a change of shape); what differs is said.",
        "",
    ]


def measured(name: str, asked: argparse.Namespace, folder: Path) -> Table:
    """What is asked for about a job, or about one of the other things."""
    if name in OTHERS:
        return OTHERS[name](asked, folder)
    job = JOBS[name]
    count = asked.rows // job.part
    source = data.make(asked.data, job.kind, count)
    found, lines = convert(name, source, count, folder, asked.rounds)
    size = source.stat().st_size / 1e6
    return found, [f"## {name}, {count:,} rows, {size:,.0f} MB", "", *HEAD, *lines]


OTHERS: dict[str, Callable[[argparse.Namespace, Path], Table]] = {
    "array": array,
    "check": check,
    "growth": growth,
    "startup": start,
}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join([*JOBS, *OTHERS]), help="what to measure")
    parser.add_argument("--growth", default="10000,100000,1000000,5000000", help="row counts for the table of growth")
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > NEEDED
    place = MEMORY if roomy else Path(tempfile.gettempdir())
    parser.add_argument("--data", type=Path, default=place / "dsreg-bench")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "RESULTS.md")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=asked.data) as temp:
        folder = Path(temp)
        if asked.quick:
            source = data.make(asked.data, "alpaca", asked.rows)
            print("\n".join([*HEAD, *convert("alpaca-nova", source, asked.rows, folder, asked.rounds, quick=True)[1]]))
            return
        results: Results = {}
        text: list[str] = []
        for name in asked.only.split(","):
            found, lines = measured(name, asked, folder)
            results |= found
            text += [*lines, ""]
    asked.output.write_text("\n".join([*head(asked.rounds, asked.data), *bars.table(results), "", *text]), "utf-8")


if __name__ == "__main__":
    main()
