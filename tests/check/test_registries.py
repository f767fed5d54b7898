"""Real registries: read without a crash; the broken ones are told with line, column, text and a guess."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dsreg.check.codes import all_codes
from tests.check.conftest import run

BROKEN = {
    "007": (269, "`},` is missing", '"nectar_rlaif": {'),
    "008": (218, "a comma before a closing brace", '"hf_hub_url": "mayflowergmbh/ultra-chat_de",'),
    "009": (642, "ends too early", ""),
    "034": (10, "a comma before a closing brace", "},"),
    "037": (7, "a comma is missing", '"columns": {'),
}
OTHERS = {"048": "ms-swift", "050": "ms-swift", "051": "DatasetInfo"}


@pytest.mark.parametrize("number", [f"{n:03}" for n in range(76)])
def test_registry(number: str, shared: Path, tmp_path: Path) -> None:
    shutil.copy(shared / "conformance" / "registries" / f"{number}.json", tmp_path / "dataset_info.json")
    done = run("check", "--dataset-dir", str(tmp_path), "--json")
    assert done.code in (0, 1), done.err
    issues = [issue for one in done.json for issue in one["issues"]]
    assert {issue["code"] for issue in issues} <= all_codes().keys()
    assert all(issue["file"].startswith(str(tmp_path)) for issue in issues)
    unreadable = [issue for issue in issues if issue["code"] in ("DS101", "DS171")]
    if number in BROKEN:
        line, message, text = BROKEN[number]
        assert unreadable[0]["line"] == line
        assert message in unreadable[0]["message"] and text in unreadable[0]["message"]
        assert "column" in unreadable[0]["message"] and unreadable[0]["hint"]
    elif number in OTHERS:
        assert OTHERS[number] in unreadable[0]["message"]
    else:
        assert unreadable == []


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{\n<<<<<<< HEAD\n  "a": {}\n=======\n>>>>>>> x\n}', 2, "git merge markers"),
        ('{"a": {"file_name": "a.json"}} // mine', 1, "text after the end"),
        ("// mine\n{}", 1, "a comment"),
        ("{'a': {}}", 1, "a single quote"),
        ("", 1, "the file is empty"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", None, "Git LFS pointer"),
        ("[]", None, "holds a list"),
        ('{"a": {}, "a": {"file_name": "x"}}', 1, "more than once"),
    ],
)
def test_broken_text(text: str, line: int | None, says: str, tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text(text)
    issues = [i for one in run("check", "--dataset-dir", str(tmp_path), "--json").json for i in one["issues"]]
    assert says in issues[0]["message"]
    assert issues[0]["line"] == line


def test_no_registry(tmp_path: Path) -> None:
    done = run("check", "--dataset-dir", str(tmp_path), "d", "--json")
    assert done.code == 1
    assert done.json["fatal"]["where"] == "registry"
    assert "no such file" in done.json["issues"][0]["message"]
    assert run("check", "--dataset-dir", str(tmp_path / "x")).code == 2
