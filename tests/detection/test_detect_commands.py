"""What is said of files whose format cannot be told: the place of the cause, and commands that can be typed."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dsreg.detected import detect_files
from dsreg.errors import DataFileError, DsregError, UsageError

ROW = {"instruction": "a", "output": "b"}


def refused(path: Path, content: Any) -> DsregError:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DsregError) as caught:
        detect_files([path])
    return caught.value


def test_the_first_bad_row_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path / "a.jsonl", '{"instruction": a}\n{"instruction": b}\n')
    assert isinstance(error, DataFileError)
    assert error.where == f"{tmp_path}/a.jsonl:1" and "DS201" in error.message


def test_rows_that_are_no_objects(tmp_path: Path) -> None:
    error = refused(tmp_path / "a.jsonl", "\n1\n2\n")
    assert isinstance(error, UsageError)
    assert error.where == f"{tmp_path}/a.jsonl:2" and "no row is a JSON object" in error.message


def test_a_good_row_later_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": }}\n{json.dumps(ROW)}\n')
    assert detect_files([path]).format == "alpaca"


WRAPPED = [
    ({"data": [ROW, ROW]}, '."data"[]'),
    ({"1": ROW, "2": ROW}, ".[]"),
    ([{"row": ROW}, {"row": ROW}], '.[] | . + ."row"'),
]


@pytest.mark.parametrize(("content", "program"), WRAPPED, ids=["list", "objects", "nested"])
def test_jq_commands_name_the_file(content: Any, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused(tmp_path / "my data.json", content)
    command = error.hint.partition(": ")[2]
    assert shlex.split(command)[-3:] == ["my data.json", ">", "rows.jsonl"]
    try:
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("jq is not installed")
    assert detect_files([tmp_path / "rows.jsonl"]).format == "alpaca"


def test_text_of_turns_in_a_table_is_no_work_for_jq(tmp_path: Path) -> None:
    turns = json.dumps([{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]).replace('"', '""')
    error = refused(tmp_path / "a.csv", f'id,conversations\n1,"{turns}"\n')
    assert "json.loads" in error.hint and "jq" not in error.hint


@pytest.mark.parametrize(("sizes", "said"), [([2, 2], ""), ([2, 4, 3], "row 2 has 4, 2 of 3 rows seen")])
def test_ranked_lists_are_pairs_where_there_are_two(sizes: list[int], said: str, tmp_path: Path) -> None:
    rows = [{"instruction": "a", "output": ["good", "bad", "c", "d"][:size]} for size in sizes]
    hint = refused(tmp_path / "a.json", rows).hint
    assert '"chosen": "good"' in hint and "--ranking" in hint
    assert said in hint and ("only two answers are a pair" in hint) == bool(said)
