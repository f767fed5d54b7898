"""`check --json --verdicts` and `preview --as llamafactory --json` against what LlamaFactory really did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.check.conftest import run

RECORDED = Path(__file__).parent.parent / "llamafactory"
CASES = [json.loads(line) for line in (RECORDED / "cases.jsonl").read_text("utf-8").splitlines()]


def write_case(case: dict[str, Any], folder: Path) -> None:
    for name, text in {**case["files"], "dataset_info.json": case["registry"]}.items():
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(text.replace("$DIR", str(folder)).encode("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_machine_contract(case: dict[str, Any], tmp_path: Path) -> None:
    write_case(case, tmp_path)
    done = run(
        "check", "--dataset-dir", str(tmp_path), case["dataset"], "--stage", case["stage"], "--json", "--verdicts"
    )
    told = done.json
    assert list(told) == ["dataset", "stage", "fatal", "counts", "verdicts", "issues"]
    assert (told["dataset"], told["stage"]) == (case["dataset"], case["stage"])
    assert (told["fatal"] and told["fatal"]["where"]) == case["where"]
    assert told["verdicts"] == [row["status"] for row in case["rows"]]
    assert {kind: count for kind, count in told["counts"].items() if count} == case["counts"]
    lost = bool(case["where"] or case["counts"].get("dropped") or case["counts"].get("fatal"))
    errors = [issue for issue in told["issues"] if issue["severity"] == "error"]
    assert bool(errors) == lost == bool(done.code), errors
    for issue in told["issues"]:
        assert list(issue) == ["code", "severity", "message", "file", "line", "row", "path", "consequence", "hint"]


def test_aligned_rows(shared: Path) -> None:
    folder = shared / "data" / "llamafactory"
    wanted: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "aligned.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        wanted.setdefault(row["dataset"], []).append(row)
    total = 0
    for name, rows in wanted.items():
        shown = run("preview", name, "--as", "llamafactory", "--json", "--dataset-dir", str(folder)).json
        assert [plain(row) for row in shown] == [plain(row) for row in rows]
        total += len(shown)
    assert total == 2_329


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose media are known by their names: where they lie differs from machine to machine."""
    media = ("_images", "_videos", "_audios")
    return {key: [Path(v).name for v in value] if key in media and value else value for key, value in row.items()}


def test_without_a_name_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"instruction": "i", "input": "", "output": "o"}]')
    (tmp_path / "dataset_info.json").write_text('{"a": {"file_name": "a.json"}, "b": {"file_name": "a.json"}}')
    told = run("check", "--dataset-dir", str(tmp_path), "--json").json
    assert [one["dataset"] for one in told] == ["a", "b"]
    assert "verdicts" not in told[0]
