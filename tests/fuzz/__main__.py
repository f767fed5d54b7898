"""`make fuzz`: all property tests of the suite again and again with new inputs, for a bounded time, on every core.

A failure ends it with what hypothesis found. Hypothesis keeps that input in `.hypothesis/` and the next `make test`
tries it first; bytes of files are also written to `tests/fuzz/inputs/`, to be committed with the repair.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(end: float, count: str) -> subprocess.Popen[bytes]:
    """Start a round: every property test once, in any order, with new inputs."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.fuzz.plugin", "--tb=short"]
    kept = str(ROOT / "tests" / "fuzz" / "inputs")
    names = {"DSREG_FUZZ_END": str(end), "DSREG_FUZZ_COUNT": count, "DSREG_FUZZ_KEEP": kept}
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **names}, stdout=subprocess.PIPE)


def fuzz(seconds: float) -> int:
    """Run rounds on every core until the time is up or something fails; returns the exit code."""
    end, rounds = time.time() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        count = Path(folder) / "count"
        while time.time() < end:
            running = [start(end, str(count)) for _ in range(os.cpu_count() or 1)]
            said = [process.communicate()[0].decode(errors="replace") for process in running]
            rounds += len(running)
            failed = [text for process, text in zip(running, said, strict=True) if process.returncode not in (0, 5)]
            if failed:
                print("\n".join(failed))
                print("found something: repair it, and commit the new files of tests/fuzz/inputs/ or an @example")
                return 1
        inputs = sum(map(int, count.read_text().split())) if count.exists() else 0
    print(f"{inputs:,} inputs in {rounds} rounds, nothing found")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="default: %(default)s")
    sys.exit(fuzz(parser.parse_args().seconds))
