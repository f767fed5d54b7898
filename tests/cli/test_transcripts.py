"""Commands and what they print, word for word; they are the documentation of the command line as well.

A transcript is run from top to bottom in a copy of `transcripts/project`. After a change that is meant to be:
DSREG_UPDATE_GOLDEN=1 python -m pytest tests/cli/test_transcripts.py, and read the diff.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsreg.cli.app import main
from tests.cli.conftest import Stream

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
UPDATE = bool(os.environ.get("DSREG_UPDATE_GOLDEN"))
SHELL = set("|<>;&$`*")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a transcript, each with the output that is expected; the first line is a remark."""
    command, expected = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            yield command, expected
            command, expected = line[2:].rstrip("\n"), ""
        else:
            expected += line
    yield command, expected


def run(command: str) -> str:
    """What a command prints, both streams in order, and its exit code when it is not 0."""
    if not command.startswith("dsreg ") or set(command) & SHELL:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command], env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip
        code, printed = done.returncode, done.stdout
    else:
        both = Stream()
        with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both):
            code = main(shlex.split(command)[1:])
        printed = both.text()
    return printed + (f"[{code}]\n" if code else "")


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, project: Path) -> None:
    text = path.read_text("utf-8")
    found = ""
    for command, expected in steps(text):
        if not command:
            found += expected
            continue
        printed = run(command)
        found += f"$ {command}\n{printed}\n"
    found = found.rstrip("\n") + "\n"
    if UPDATE:
        path.write_text(found, "utf-8")
        return
    assert found == text
