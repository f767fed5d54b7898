from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dsreg.cli.app import main


class Done(NamedTuple):
    """What a command did: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Check = Callable[..., Done]


def run(*arguments: str) -> Done:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run `dsreg check`."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    return lambda *arguments: run("check", *arguments)


@pytest.fixture
def found(check: Check, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Write a registry and its files, check it, and give the issues of the dataset `d`."""

    def issues(entry: Any, *options: str, **files: Any) -> list[dict[str, Any]]:
        write(tmp_path, {"d": entry}, files)
        listed: list[dict[str, Any]] = check("--dataset-dir", str(tmp_path), "d", "--json", *options).json["issues"]
        return listed

    return issues


def write(folder: Path, registry: Any, files: dict[str, Any]) -> None:
    """Write dataset_info.json and files; `a_json` is a.json, a list its rows, text its content."""
    (folder / "dataset_info.json").write_text(json.dumps(registry, indent=2), "utf-8")
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
