from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dsreg.cli.app import main

PROJECT = Path(__file__).parent / "transcripts" / "project"


class Done(NamedTuple):
    """What a command did: its exit code, and what it printed."""

    code: int
    out: str
    err: str


Dsreg = Callable[..., Done]


class Stream(io.TextIOWrapper):
    """A text stream with a buffer, as the real ones are, that is no terminal unless told."""

    def __init__(self, buffer: Any = None, *, terminal: bool = False) -> None:
        super().__init__(buffer or io.BytesIO(), encoding="utf-8", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project to work in, which is the working folder."""
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture
def dsreg(project: Path, monkeypatch: pytest.MonkeyPatch) -> Dsreg:
    """Run the command line in the project; `stdin` is text, `terminal` whether a person sits there."""

    def run(*arguments: str, stdin: str | bytes = "", terminal: bool = False) -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        out, err = Stream(terminal=terminal), Stream(terminal=terminal)
        monkeypatch.setattr(sys, "stdin", Stream(io.BytesIO(given), terminal=terminal))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
        return Done(code, out.text(), err.text())

    return run
