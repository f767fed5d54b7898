"""The repository is its own example: what is committed is what `dsreg sync` makes of its registry."""

from __future__ import annotations

from pathlib import Path

from dsreg.project import open_project
from dsreg.sync import plan

ROOT = Path(__file__).parents[2]


def test_everything_that_follows_from_the_registry_is_committed() -> None:
    found = plan(open_project(ROOT))
    assert [(change.verb, change.shown) for change in found.ordered()] == []
    assert not found.drift
