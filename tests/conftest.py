from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

WriteProject = Callable[[dict[str, str]], Path]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and recorded verdicts, which is not part of the repository."""
    given = os.environ.get("DSREG_SHARED")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared"
    if not path.is_dir():
        pytest.skip("real data is absent: set DSREG_SHARED to its folder")
    return path


@pytest.fixture
def write_project(tmp_path: Path) -> WriteProject:
    """Write `{path: text}` below the test's folder and return it; a path ending in `/` is an empty folder."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        return tmp_path

    return write
