"""Convert rows by the quickest way that there is for them, in as many processes as gain."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dsreg.jobs.crew import run_jobs, start_method
from dsreg.jobs.order import Output, order_of
from dsreg.jobs.portable import Portable
from dsreg.jobs.stretches import share
from dsreg.rows.decode import Decoder
from dsreg.rows.sniff import container_of
from dsreg.rows.source import Source
from dsreg.rows.stream import RowStream
from dsreg.runner import Conversion, Reject, Tally, survey

WORTHWHILE = 50 << 20
"""From this size on, a second process gains more than it costs to start, where rows go the fast way."""
WORTHWHILE_PORTABLE = 8 << 20
"""The same where all of them go the portable way, and a process costs little to start."""


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_for(path: Path, jobs: int | None, *, portable: bool = False) -> int:
    """How many jobs work on a file: what was said, or all cores where that is worthwhile."""
    if jobs is not None:
        return jobs
    size = path.stat().st_size
    gains = size > WORTHWHILE or (portable and size > WORTHWHILE_PORTABLE and start_method() == "fork")
    return cores() if gains else 1


def run_quick(
    conversion: Conversion, output: Output, reject: Callable[[Reject], None], *, early: bool, jobs: int | None
) -> Tally | None:
    """Convert all rows of a source, as `dsreg.runner.run` does; None where that is as quick.

    Raises what `run` does, and with `early` Mistaken when what was decided by the first rows does not hold.
    """
    if conversion.target.manifest.text.write is not None:
        from dsreg.fast import run_fast

        tally = run_fast(conversion, output, reject, early=early, jobs=jobs)
        if tally is not None:
            return tally
    return run_portable(conversion, output, reject, jobs)


def run_portable(
    conversion: Conversion, output: Output, reject: Callable[[Reject], None], jobs: int | None
) -> Tally | None:
    """Convert all rows of a source the portable way in several processes; None where a single one is as quick."""
    files = conversion.source.files
    counts = [jobs_for(path, jobs, portable=True) for path in files]
    if max(counts, default=1) == 1:
        return None
    survey(conversion, None)
    tally = Tally()
    for path, count in zip(files, counts, strict=True):
        with Source(path) as source:
            container = container_of(source)
            shares = share(source, container) if count > 1 else None
            if shares is None:
                stream = RowStream(source, container, Decoder(conversion.steps.source.mapped))
                Portable(conversion, tally, output, reject).stream(stream)
        if shares is not None:
            run_jobs(order_of(conversion, shares, output), count, tally, output, reject)
    return tally
