"""The formats' own commands, and the contract that every format holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsreg.contract import run_contract
from dsreg.formats import built_in
from dsreg.matrix import matrix
from dsreg.tasks import TAKES
from tests.cli.conftest import Dsreg


@pytest.mark.parametrize("id", built_in())
def test_every_format_holds_its_contract(id: str) -> None:
    results = list(run_contract(built_in()[id]))
    assert not [result for result in results if result.outcome == "failed"]
    assert len([result for result in results if result.outcome == "ok"]) == 7


BREAKS = {
    "manifest": ("format.toml", 'text = "text"', 'other = "text"'),
    "example is read": ("reader.py", "def read_row(row", "def read_row(no"),
    "write(read(write(x))) == write(x)": ("writer.py", 'sample["text"]', 'sample["text"] + "."'),
    "hostile rows": ("reader.py", "    sample: dict", "    row[c.columns['text']].strip()\n    sample: dict"),
}


@pytest.mark.parametrize("part", BREAKS)
def test_a_broken_format_is_found_out(dsreg: Dsreg, project: Path, part: str) -> None:
    assert dsreg("formats", "new", "mine", "--like", "pretrain").code == 0
    assert dsreg("formats", "test", "mine").code == 0
    name, old, new = BREAKS[part]
    path = project / "templates" / "formats" / "mine" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    done = dsreg("formats", "test", "mine", "--json")
    assert done.code == 1
    assert part in [result["name"] for result in json.loads(done.out) if result["outcome"] == "failed"]


def test_tables_that_say_something_else_than_the_code_are_found_out(dsreg: Dsreg, project: Path) -> None:
    dsreg("formats", "new", "mine", "--like", "sagemaker-sft")
    manifest = project / "templates/formats/mine/format.toml"
    assert "[text" not in manifest.read_text("utf-8")
    code = manifest.read_text("utf-8")
    for user, answer, outcome in (("prompt", "completion", "ok"), ("completion", "prompt", "failed")):
        read = f'[text.read]\nuser = ["{user}"]\nanswer = "{answer}"\n'
        write = """[text.write.rows]\nsft = '{"prompt":<user>,"completion":<answer>}'\n"""
        manifest.write_text(f"{code}\n{read}\n{write}", "utf-8")
        results = json.loads(dsreg("formats", "test", "mine", "--json").out)
        assert {result["outcome"] for result in results if result["name"] == "[text] agrees"} == {outcome}


MISTAKES = [
    ('title = "', 'titel = "', "`title` is missing"),
    ('title = "', 'title = 3 # "', ":1: `title` must be text, not 3"),
    ("[columns]", "[text.read]\ntexts = 1\n[columns]", "there is no key `text.read.texts`"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_a_mistake_in_a_manifest_is_named(dsreg: Dsreg, project: Path, old: str, new: str, said: str) -> None:
    dsreg("formats", "new", "mine", "--like", "pretrain")
    path = project / "templates/formats/mine/format.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    done = dsreg("formats", "list")
    assert done.code == 2
    assert "templates/formats/mine/format.toml:" in done.err and said in done.err


def test_list_is_for_programs_too(dsreg: Dsreg) -> None:
    found = json.loads(dsreg("formats", "list", "--json").out)
    assert {"id", "reads", "writes", "tasks", "supports", "title", "for"} <= found[0].keys()
    assert {"alpaca", "sharegpt", "openai", "kto", "pretrain", "nova-sft"} <= {format["id"] for format in found}
    nova = json.loads(dsreg("formats", "list", "--for", "nova", "--json").out)
    assert nova and all("nova" in format["for"] for format in nova)


@pytest.mark.parametrize("id", built_in())
def test_every_format_is_described(dsreg: Dsreg, id: str) -> None:
    shown = dsreg("formats", "show", id)
    assert shown.code == 0
    manifest = built_in()[id].manifest
    for word in (manifest.title, *manifest.columns, *manifest.options):
        assert word in shown.out
    found = json.loads(dsreg("formats", "show", id, "--json").out)
    assert found["examples"] and found["columns"] == manifest.columns


def test_the_matrix_has_every_pair(dsreg: Dsreg) -> None:
    formats = built_in().values()
    cells = matrix(formats)
    sources = {(format.id, task) for format in formats if format.reads for task in format.manifest.needs}
    targets = {format.id for format in formats if format.writes}
    assert {(cell.source, cell.task, cell.target) for cell in cells} == {(*s, t) for s in sources for t in targets}
    for cell in cells:
        assert (cell.answer == "no") == bool(cell.reason)
        assert (cell.answer == "choice") == bool(cell.takes) and set(cell.takes) <= set(TAKES)
    assert json.loads(dsreg("formats", "matrix", "--json").out) == [cell.as_json() for cell in cells]
    grid = dsreg("formats", "matrix").out
    assert all(target in grid for target in targets)


@pytest.mark.parametrize(("old", "new"), [("    return", "    retrun"), ("sample:", "1 / 0\n    sample:")])
def test_a_bug_in_an_own_format_is_not_ours(dsreg: Dsreg, project: Path, old: str, new: str) -> None:
    assert dsreg("formats", "new", "mine", "--like", "pretrain").code == 0
    reader = project / "templates" / "formats" / "mine" / "reader.py"
    reader.write_text(reader.read_text("utf-8").replace(old, new, 1), "utf-8")
    done = dsreg("convert", "-", "--format", "mine", "--target", "pretrain", stdin='{"text": "a"}\n')
    assert done.code == 2
    assert "templates/formats/mine/reader.py:" in done.err and "dsreg formats test mine" in done.err


def test_an_own_format_is_named_and_used(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("formats", "new", "mine", "--like", "openai").code == 0
    assert "of this project" in dsreg("formats", "show", "mine").out
    assert dsreg("export", "pairs", "--target", "mine").code == 0
    assert (project / "exports" / "mine" / "pairs.jsonl").exists()
    assert dsreg("add", "chat", "--format", "mine").code == 0
    assert dsreg("formats", "new", "mine", "--like", "openai").code == 2
