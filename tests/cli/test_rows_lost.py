"""No row is lost without a word: copies for LlamaFactory, and exports of which nothing is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Dsreg = Callable[..., Any]
ASKED = {"messages": [{"role": "user", "content": "What is 6 times 7?"}]}
SUPPORTED = {**ASKED, "reference_answer": "42"}
OBJECT = {**ASKED, "reference_answer": {"number": 42}}


@pytest.fixture
def rows(project: Path) -> Callable[..., Path]:
    """Write rows to data/NAME.jsonl."""

    def write(name: str, *rows: Any) -> Path:
        path = project / "data" / f"{name}.jsonl"
        path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
        return path

    return write


def test_rows_that_a_copy_sets_aside_are_counted(dsreg: Dsreg, rows: Callable[..., Path], project: Path) -> None:
    rows("quiz", SUPPORTED, OBJECT, OBJECT)
    account = "3 read = 1 used + 2 set aside (2 --take answer) + 0 rejected; 1 written"
    added = dsreg("add", "quiz", "--format", "openai-rft")
    assert added.code == 0 and account in added.err
    assert len(json.loads((project / "data/converted/quiz.json").read_text())) == 1
    checked = dsreg("check", "quiz", "--json")
    assert [account in found["message"] for found in json.loads(checked.out)["issues"] if found["code"] == "DS169"]
    rows("quiz", SUPPORTED, SUPPORTED, OBJECT)
    synced = dsreg("sync")
    assert synced.code == 0 and "3 read = 2 used + 1 set aside" in synced.err


def test_no_copy_without_a_row(dsreg: Dsreg, rows: Callable[..., Path], project: Path) -> None:
    rows("quiz", OBJECT, OBJECT)
    dsreg("add", "quiz", "--format", "openai-rft")
    synced = dsreg("sync")
    assert synced.code == 1 and "2 read = 0 used + 2 set aside" in synced.err
    assert not (project / "data/converted/quiz.json").exists()
    checked = dsreg("check", "quiz")
    assert checked.code == 1 and "DS323" in checked.out and "2 set aside" in checked.out


def test_check_says_what_keeps_a_copy_from_being_made(dsreg: Dsreg, rows: Callable[..., Path]) -> None:
    rows("quiz", SUPPORTED, {**SUPPORTED, "messages": "none"})
    dsreg("add", "quiz", "--format", "openai-rft")
    checked = dsreg("check", "quiz")
    assert checked.code == 1
    assert "data/quiz.jsonl:2: error DS204" in checked.out
    assert "the converted copy is not there\n  hint: what follows stands in its way" in checked.out


@pytest.mark.parametrize(
    ("lines", "flags", "account"),
    [
        (['{"instruction": 1, "output": 2}\n'], ["--skip-invalid"], "1 read = 0 used + 0 set aside + 1 rejected"),
        ([{"instruction": "a", "output": "b", "system": "c"}], ["--skip", "system"], "1 read = 0 used + 1 set aside"),
    ],
)
@pytest.mark.parametrize("container", ["jsonl", "json", "parquet"])
def test_a_good_file_is_not_replaced_by_an_empty_one(
    dsreg: Dsreg, rows: Callable[..., Path], lines: list[Any], flags: list[str], account: str, container: str
) -> None:
    place = rows("bad", *lines).parent.parent / f"out.{container}"
    place.write_text("good")
    asked = ["--format", "alpaca", "--target", "hf-prompt-completion"]
    done = dsreg("convert", "data/bad.jsonl", *asked, *flags, "-o", place.name, "--force")
    assert done.code == 1 and "DS323" in done.err and account in done.err
    assert place.read_text() == "good"
    assert not list(place.parent.glob("out.*rejects*"))


def test_a_source_without_rows_is_no_export(dsreg: Dsreg, project: Path) -> None:
    (project / "data/none.json").write_text("[]")
    done = dsreg("convert", "data/none.json", "--format", "alpaca", "--target", "openai", "-o", "out.jsonl")
    assert done.code == 1 and "the source has no rows" in done.err
    assert not (project / "out.jsonl").exists()
