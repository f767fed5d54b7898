"""`dsreg check FILE --format F --target T`: what an export of that file would say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Dsreg = Callable[..., Any]
TURNS = [{"from": "human", "value": "Hi <image>"}, {"from": "gpt", "value": "Good evening."}]


@pytest.fixture
def file(project: Path) -> str:
    """A ShareGPT file with a row whose text holds a word that Nova reserves."""
    (project / "talk.jsonl").write_text(json.dumps({"conversations": TURNS}) + "\n")
    return "talk.jsonl"


def test_a_target_is_tried(dsreg: Dsreg, file: str) -> None:
    assert dsreg("check", file, "--format", "sharegpt").code == 0
    done = dsreg("check", file, "--format", "sharegpt", "--target", "nova-sft", "--target", "openai")
    assert done.code == 1
    assert "DS304 row 1 messages[0]" in done.out and "dsreg convert --target nova-sft refuses the row" in done.out
    assert "openai: " in done.out  # too few rows


def test_a_target_that_needs_a_choice(dsreg: Dsreg, project: Path) -> None:
    row = {"prompt": "a", "chosen": "b", "rejected": "c"}
    (project / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    asked = ("check", "pairs.jsonl", "--format", "hf-preference", "--target", "nova-sft")
    done = dsreg(*asked)
    assert done.code == 1 and "DS320" in done.out and "--take chosen" in done.out
    assert "DS320" not in dsreg(*asked, "--take", "chosen").out


def test_a_target_that_does_not_exist(dsreg: Dsreg, file: str) -> None:
    done = dsreg("check", file, "--format", "sharegpt", "--target", "nova-stf")
    assert done.code == 2 and "nova-sft" in done.err and not done.out
