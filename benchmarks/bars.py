"""How fast dsreg has to be: ratios to what people use instead, and whether what was measured reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from measure import Result
from peers import TEXT_JOBS

Results = Mapping[str, Mapping[str, Result]]
"""What was measured, by job and engine."""
MEMORY = 150
"""MB that a process may have."""

PEER_BARS = [
    ("1 job", "orjson loop", 0.8),
    ("2 jobs", "orjson loop", 1.3),
    ("1 job", "DuckDB, 1 thread", 0.95),
    ("2 jobs", "DuckDB, 2 threads", 1.0),
    ("1 job", "orjson script, checked", 1.3),
    ("1 job", "datasets", 15),
    ("1 job", "convmerge", 7),
]
"""On each job whose rows are text only: dsreg with so many jobs, how many times as fast as whom."""


class Bar(NamedTuple):
    """A bar: what is compared, the least (or most) that it may be, and what was measured, if it was."""

    what: str
    wanted: float
    measured: float | None
    most: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether what was measured reaches it."""
        if self.measured is None:
            return None
        return self.measured <= self.wanted if self.most else self.measured >= self.wanted


def bars(results: Results) -> Iterator[Bar]:
    """All bars, with what these results say of them."""

    def ratio(job: str, mine: str, other: str, of: Callable[[Result], float] = speed) -> float | None:
        found = results.get(job, {})
        return of(found[mine]) / of(found[other]) if mine in found and other in found else None

    for job in TEXT_JOBS:
        for mine, other, wanted in PEER_BARS:
            yield Bar(f"{job}: {mine} ÷ {other}", wanted, ratio(job, f"dsreg, {mine}", other))
    yield Bar("tools-nova: 1 job ÷ orjson loop", 0.35, ratio("tools-nova", "dsreg, 1 job", "orjson loop"))
    yield Bar("a JSON array ÷ the same rows as lines", 0.9, ratio("array", "array", "lines", rate))
    for job in ("alpaca-nova", "sharegpt-nova", "preference-hf"):
        yield Bar(f"{job}: check without duplicates ÷ export", 0.8, ratio(f"check {job}", "check", "export"))
    grown = {name: found for name, found in results.items() if name.startswith("growth, ")}
    if grown:
        *_, large = grown
        middle = list(grown)[-min(len(grown), 3)]
        even = speed(grown[large]["1 job"]) / speed(grown[middle]["1 job"])
        yield Bar(f"{large}: speed ÷ that in {middle}", 0.9, even)
        yield Bar(f"{large}: 2 jobs ÷ 1 job", 1.5, ratio(large, "2 jobs", "1 job"))
    yield Bar(
        "`dsreg --help` ÷ that of a bare Typer app",
        1.25,
        ratio("startup", "dsreg --help", "bare --help", cpu),
        most=True,
    )
    ours = [r.memory for found in results.values() for name, r in found.items() if not_a_peer(name)]
    yield Bar("MB of memory of any process of dsreg", MEMORY, max(ours, default=None), most=True)


def not_a_peer(name: str) -> bool:
    """Whether it is dsreg that was measured, and not in a search for duplicates, which keeps something of each row."""
    return name.startswith("dsreg") or name in ("1 job", "2 jobs", "array", "lines", "export", "check")


def speed(result: Result) -> float:
    """Bytes of input in a second."""
    return result.size / result.wall


def cpu(result: Result) -> float:
    """Seconds of all cores."""
    return result.cpu


def rate(result: Result) -> float:
    """Runs in a second, for inputs that say the same in different sizes."""
    return 1 / result.wall


def table(results: Results) -> list[str]:
    """The bars as a table; first how many hold."""
    found = list(bars(results))
    count = sum(bar.holds is True for bar in found)
    unknown = sum(bar.holds is None for bar in found)
    said = f"{count} of {len(found)} hold" + (f", {unknown} were not measured" if unknown else "") + "."
    lines = ["## Bars", "", said, "", "| bar | wanted | measured | |", "|---|--:|--:|---|"]
    words = {True: "holds", False: "**does not hold**", None: "not measured"}
    for bar in found:
        sign, value = "≤" if bar.most else "≥", "" if bar.measured is None else f"{bar.measured:.4g}"
        lines.append(f"| {bar.what} | {sign} {bar.wanted:g} | {value} | {words[bar.holds]} |")
    return lines
