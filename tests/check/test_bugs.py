"""Inputs that went wrong for people: what `check` says of each, and with which exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.conftest import run

# folder, arguments, exit code, codes that must be among those found, words that must be said
BUGS: list[tuple[str, list[str], int, set[str], tuple[str, ...]]] = [
    ("01", ["--dataset-dir", "."], 1, {"DS180", "DS149"}, ("did you mean `formatting`?", "in force is 'alpaca'")),
    ("03", ["--dataset-dir", ".", "gardn_qa"], 1, {"DS102"}, ("did you mean `garden_qa`?",)),
    ("03", ["--dataset-dir", ".", "garden_qa.json"], 1, {"DS102"}, ("that file is registered as 'garden_qa'",)),
    ("03", ["--dataset-dir", ".", "data/garden_qa.json"], 1, {"DS102"}, ("use garden_qa",)),
    ("03", ["--dataset-dir", ".", "/srv/sets/garden_qa.json"], 1, {"DS102"}, ("use garden_qa",)),
    ("04", ["--dataset-dir", "."], 1, {"DS101"}, ("dataset_info.json:3", "column 26", "trailing comma", '"a.json",')),
    ("07", ["--dataset-dir", "."], 0, {"DS173"}, ("'//', '_note', '//2' are no entries", "tide: 1 row: 1 kept")),
    ("09", ["--dataset-dir", "."], 0, {"DS181"}, ("`max_token`, `media_dir`, `owner`",)),
    ("11", ["--dataset-dir", "reg"], 1, {"DS121", "DS192"}, ("one of another machine", "spaced: 1 row: 1 kept")),
    ("13", ["--dataset-dir", "."], 1, {"DS121"}, ("k.json is not there",)),
    ("15", ["--dataset-dir", ".", "stale"], 0, {"DS183"}, ("000000", "15e16a1c09d523f03b6ad0c5b73469f3114830bb")),
    ("15", ["--dataset-dir", ".", "none"], 0, {"DS183"}, ("no checksum",)),
    ("15", ["--dataset-dir", ".", "word"], 0, {"DS183"}, ("no checksum",)),
    ("16", ["--dataset-dir", "."], 1, {"DS145", "DS263"}, ("user 1, assistant 1", '"role_tag": "role"')),
    ("18", ["--dataset-dir", "."], 1, {"DS145", "DS230"}, ("hummany 1", "'hummany' in row 3", "1 kept, 2 dropped")),
    ("20", ["--dataset-dir", ".", "t"], 1, {"DS143", "DS261"}, ("t.txt holds a JSON array", "goes by the suffix")),
    ("20", ["--dataset-dir", ".", "lines"], 0, {"DS144"}, ("lines.json holds JSON Lines",)),
    ("20", ["--dataset-dir", ".", "arr"], 0, {"DS144"}, ("arr.jsonl holds a JSON array",)),
    ("21", ["--dataset-dir", "."], 0, set(), ("oil: 1 row: 1 kept, 0 dropped",)),
    ("24", ["dup.jsonl", "--format", "alpaca"], 1, {"DS205"}, ("dup.jsonl:2", '"first" and "second"')),
    ("25", ["--dataset-dir", "."], 1, {"DS233", "DS156"}, ("output", "an object", "Zoë")),
    ("27", ["meta.jsonl", "--format", "hf-prompt-completion"], 0, {"DS411"}, ("`meta`", "first row 2", "first row 4")),
    ("29", ["rank.json", "--format", "alpaca"], 1, {"DS324"}, ("lists of texts", "--ranking")),
    ("31", ["p.jsonl", "--format", "hf-preference"], 1, {"DS202"}, ("rejected[0].role", "the user's")),
    ("32", ["--dataset-dir", "."], 1, {"DS230", "DS231", "DS232"}, ("row 1", "row 2", "row 3", "row 4", "4 dropped")),
    ("33", ["tail.json", "--format", "alpaca"], 1, {"DS203"}, ("row 2", "1 good, 1 refused")),
    ("35", ["t.json", "--format", "sharegpt"], 1, {"DS209", "DS277", "DS278"}, ("row 4", "row 1", "row 3")),
    ("36", ["f.json", "--format", "sharegpt"], 1, {"DS210"}, ("row 1 conversations[1].value", "column 46", "line two")),
    ("39", ["o.jsonl", "--format", "openai"], 0, {"DS408"}, ("end with a tool's result", "first row 1")),
    ("42", ["c.jsonl", "--format", "openai"], 1, {"DS306"}, ("'p' has no result", "names 'zzz'")),
    ("44", ["--dataset-dir", "."], 0, {"DS296"}, ("row 1 system", "the column is lost")),
    ("46", ["m.json", "--format", "sharegpt"], 0, set(), ("1 row: 1 good, 0 refused",)),
    ("47", ["raw.jsonl", "--format", "verl"], 1, {"DS204"}, ("row 1 question",)),
    ("50", ["u.jsonl", "--format", "nova-sft"], 1, {"DS204"}, ("row 1", "row 2")),
    ("50", ["u.jsonl", "--format", "openai", "--target", "nova-sft"], 1, {"DS302"}, ("u.jsonl:1", "u.jsonl:2")),
    ("51", ["p.jsonl", "--format", "sagemaker-sft"], 1, {"DS204"}, ("p.jsonl:2", "completion: expected text")),
    ("52", ["--dataset-dir", "."], 1, {"DS172"}, ("byte order mark", "without BOM")),
    ("52", ["b.csv", "--format", "alpaca"], 0, set(), ("1 row: 1 good, 0 refused",)),
    ("52", ["b.jsonl", "--format", "hf-prompt-completion"], 0, set(), ("1 row: 1 good, 0 refused",)),
    ("55", ["s.jsonl", "--format", "alpaca"], 1, {"DS201"}, ("s.jsonl:1", "s.jsonl:2", "1 good, 2 refused")),
    ("58", ["big.jsonl", "--format", "alpaca"], 0, set(), ("3 rows: 3 good, 0 refused",)),
    ("60", ["arr.jsonl", "--format", "openai"], 0, {"DS401"}, ("1 good, 0 refused",)),
    ("60", ["two.json", "--format", "alpaca"], 1, {"DS125"}, ("two.json:2", "byte 51")),
    ("60", ["glued.jsonl", "--format", "alpaca"], 1, {"DS201"}, ("a second value begins",)),
]  # fmt: skip


IDS = [f"{case[0]}-{n}" for n, case in enumerate(BUGS)]


@pytest.mark.parametrize(("number", "arguments", "code", "codes", "words"), BUGS, ids=IDS)
def test_bug(
    number: str,
    arguments: list[str],
    code: int,
    codes: set[str],
    words: tuple[str, ...],
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = next((shared / "conformance" / "bugs").glob(f"{number}-*"))
    monkeypatch.chdir(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run("check", *arguments)
    assert done.code == code, done.out
    assert not done.err
    assert {found for found in codes if f" {found} " not in done.out} == set(), done.out
    for word in words:
        assert word in done.out
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_every_folder_is_in_the_table(shared: Path) -> None:
    folders = {path.name[:2] for path in (shared / "conformance" / "bugs").iterdir() if path.is_dir()}
    assert folders == {bug[0] for bug in BUGS}
