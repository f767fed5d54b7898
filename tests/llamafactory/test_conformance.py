"""Predictions against what LlamaFactory 0.9.5 really did with the same small registries and rows.

`cases.jsonl` and `cases_more.jsonl` hold one run a line: the registry (`$DIR` is the dataset folder), the files, the
stage, then the entry as LlamaFactory resolved it, where the run stopped, and each row's status and aligned form.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.llamafactory.predict import Prediction, predict
from dsreg.llamafactory.reasons import REASONS

HERE = Path(__file__).parent
CASES = [
    json.loads(line)
    for name in ("cases.jsonl", "cases_more.jsonl")
    for line in (HERE / name).read_text("utf-8").splitlines()
]


def run(case: dict[str, Any], folder: Path) -> tuple[Prediction, list[dict[str, Any]]]:
    """Write the case's files, predict, and give the rows in the form of the recordings."""
    for name, text in {**case["files"], "dataset_info.json": case["registry"]}.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("$DIR", str(folder)).encode("utf-8"))
    prediction = predict(folder, case["dataset"], case["stage"])
    rows = [
        {"status": verdict.status, **{k: v for k, v in (verdict.aligned or {}).items() if v is not None}}
        for verdict in prediction
    ]
    recorded: list[dict[str, Any]] = json.loads(json.dumps(rows, default=str).replace(str(folder), "$DIR"))
    return prediction, recorded


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_agrees_with_llamafactory(case: dict[str, Any], tmp_path: Path) -> None:
    prediction, rows = run(case, tmp_path)
    fatal = prediction.fatal
    assert (fatal.where if fatal else None) == case["where"], fatal
    assert [row["status"] for row in rows] == [row["status"] for row in case["rows"]]
    assert dict(prediction.counts) == case["counts"]
    for predicted, real in zip(rows, case["rows"], strict=True):
        if "_prompt" in real:
            assert predicted == real


@pytest.mark.parametrize("case", [c for c in CASES if c.get("entry")], ids=lambda case: case["name"])
def test_resolves_the_entry_as_llamafactory_does(case: dict[str, Any], tmp_path: Path) -> None:
    entry = run(case, tmp_path)[0].entry
    assert entry is not None
    resolved = json.loads(json.dumps(dataclasses.asdict(entry)).replace(str(tmp_path), "$DIR"))
    assert resolved == case["entry"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_everything_that_is_not_ok_has_a_reason(case: dict[str, Any], tmp_path: Path) -> None:
    for name, text in {**case["files"], "dataset_info.json": case["registry"]}.items():
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(text.replace("$DIR", str(tmp_path)).encode("utf-8"))
    prediction = predict(tmp_path, case["dataset"], case["stage"])
    for verdict in prediction:
        assert (verdict.reason in REASONS) == (verdict.status != "ok")
        assert bool(verdict.why) == (verdict.status != "ok")
        assert {note.reason for note in verdict.notes} <= set(REASONS)
    assert {note.reason for note in prediction.notes} <= set(REASONS)
    assert prediction.fatal is None or prediction.fatal.reason in REASONS


def test_each_reason_has_a_code_of_its_own() -> None:
    assert len({reason.code for reason in REASONS.values()}) == len(REASONS)
