from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dsreg.cli.app import main

REPOSITORY = Path(__file__).resolve().parents[2]
ROW = {"instruction": "Name a river.", "input": "", "output": "The Seine."}
TOML = 'format = "alpaca"\nfile_name = "rivers.jsonl"\ncolumns = {prompt = "instruction", response = "output"}\n'


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


class Stream(io.TextIOWrapper):
    """A text stream with a buffer, as the real ones are."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", write_through=True)

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined, no-any-return]


def run_here(*arguments: str, stdin: bytes = b"") -> Done:
    """Run a command in this process."""
    out, err, kept = Stream(), Stream(), sys.stdin
    sys.stdin = Stream(stdin)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = kept
    return Done(code, out.text(), err.text())


def start(root: Path, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    """Start a real process that runs a command in a project; `before` is code that it runs first."""
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n{before}\n"
    code += "from dsreg.cli.app import main\nsys.exit(main())\n"
    command = [sys.executable, "-c", code, *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DSREG_", "COV_"))}
    return subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_apart(root: Path, *arguments: str, before: str = "") -> Done:
    """Run a command in a process of its own."""
    out, err = (process := start(root, *arguments, before=before)).communicate(timeout=120)
    return Done(process.returncode, out.decode(), err.decode())


def run_forked(root: Path, *arguments: str, before: Callable[[], None] = lambda: None, said: Path | None = None) -> int:
    """Run a command in a copy of this process, which starts at once; return its exit code, negative for a signal.

    What it says on standard error goes to the file `said`.
    """
    kept = os.open(said or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    channel, back = os.pipe()
    child = os.fork()
    if not child:
        code = 70
        try:
            os.chdir(root)
            before()
            done = run_here(*arguments)
            code = done.code
            os.write(back, done.err.encode()[:60_000])
        finally:
            os._exit(code)
    os.close(back)
    with os.fdopen(channel, "rb") as heard, os.fdopen(kept, "wb") as file:
        file.write(heard.read())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


Dsreg = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one dataset of three rows, in sync, which is the working folder."""
    root = tmp_path / "project"
    make_project(root)
    monkeypatch.chdir(root)
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    return root


def make_project(root: Path) -> None:
    (root / "registry").mkdir(parents=True)
    (root / "data").mkdir()
    write_rows(root / "data" / "rivers.jsonl", [ROW] * 3)
    (root / "registry" / "rivers.toml").write_text(TOML)
    assert run_here("-C", str(root), "-q", "sync").code == 0


@pytest.fixture
def dsreg(project: Path) -> Dsreg:
    """Run a command in the project."""
    return run_here


def write_rows(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path, links as where they lead; dsreg's untracked state left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if ".dsreg" in path.relative_to(folder).parts:
            continue
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def temps(folder: Path) -> list[Path]:
    """Temporary files that are still there."""
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
