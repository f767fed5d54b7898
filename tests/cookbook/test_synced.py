"""The repository is its own example: what is committed is what `dsreg sync` makes of its registry."""

from __future__ import annotations

import shutil
from pathlib import Path

from dsreg import Project
from dsreg.project import open_project
from dsreg.sync import plan

ROOT = Path(__file__).parents[2]
EXPORTED = ("alpaca_sft", "images_sharegpt", "openai_tools", "sharegpt_tools")
"""What `make demo` exports."""


def test_everything_that_follows_from_the_registry_is_committed() -> None:
    found = plan(open_project(ROOT))
    assert [(change.verb, change.shown) for change in found.ordered()] == []
    assert not found.drift


def test_the_lock_knows_what_the_demo_exports(tmp_path: Path) -> None:
    """So a fresh clone has no changes after `make demo`."""
    shutil.copytree(ROOT / "registry", tmp_path / "registry")
    shutil.copytree(ROOT / "data", tmp_path / "data")
    shutil.copy(ROOT / "dsreg.lock", tmp_path)
    for name in EXPORTED:
        Project(open_project(tmp_path))[name].export("nova-sft")
    assert (tmp_path / "dsreg.lock").read_bytes() == (ROOT / "dsreg.lock").read_bytes()
