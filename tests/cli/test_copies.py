"""Copies for LlamaFactory: rows and entry say the same task, and no entry points to a copy that could not be made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Dsreg

USER = {"role": "user", "content": "Name a river."}
GOOD = {"role": "assistant", "content": "The Seine."}
BAD = {"role": "assistant", "content": "Paris."}
PAIR = {"messages": [USER], "chosen": [GOOD], "rejected": [BAD]}
CHAT = {"messages": [USER, GOOD]}
LABELLED = {"messages": [USER, GOOD], "label": True}
WEIGHED = {"messages": [USER, {**GOOD, "weight": 0}]}
TOML = 'format = "openai"\nfile_name = "rows.jsonl"\nllamafactory = "copy"\n'


def write(project: Path, toml: str, *rows: dict[str, Any]) -> None:
    (project / "registry/rows.toml").write_text(toml)
    (project / "data/rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def info(project: Path) -> dict[str, Any]:
    path = project / "data/dataset_info.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


# the rows, what the TOML says beside, the task that the rows have, the command that is offered
DISAGREE: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "pairs without ranking": (PAIR, "", "preference", "set rows --ranking"),
    "pairs without ranking, by option": (PAIR, "", "preference", "set rows --option llamafactory.task=preference"),
    "labels that are not mapped": (LABELLED, "", "kto", "set rows --option llamafactory.task=kto"),
    "no pairs, but ranking": (CHAT, "ranking = true\n", "sft", "set rows --no-ranking"),
    "no pairs, but the option": (
        CHAT,
        '[target.llamafactory]\ntask = "preference"\n',
        "sft",
        "set rows --option llamafactory.task=sft",
    ),
    "no such task": (CHAT, '[target.llamafactory]\ntask = "rm"\n', "sft", "set rows --option llamafactory.task=sft"),
}


@pytest.mark.parametrize(("row", "more", "task", "way"), DISAGREE.values(), ids=DISAGREE)
def test_a_copy_and_its_entry_say_one_task(
    dsreg: Dsreg, project: Path, row: dict[str, Any], more: str, task: str, way: str
) -> None:
    write(project, TOML + more, row)
    done = dsreg("sync")
    assert done.code == 1 and f"the rows of rows are for {task}" in done.err and f"dsreg {way}" in done.err
    assert "rows" not in info(project) and not (project / "data/converted/rows.json").exists()
    fixed = dsreg(*way.split())
    assert fixed.code == 0, fixed
    entry, copy = info(project)["rows"], json.loads((project / "data/converted/rows.json").read_text())
    assert (entry.get("ranking"), "kto_tag" in entry["columns"]) == (
        True if task == "preference" else None,
        task == "kto",
    )
    assert set(entry["columns"].values()) <= copy[0].keys()
    assert dsreg("check", "rows").code == 0


def test_a_layout_that_does_not_exist(dsreg: Dsreg, project: Path) -> None:
    write(project, TOML + '[target.llamafactory]\nlayout = "chatml"\n', CHAT)
    done = dsreg("sync")
    assert done.code == 1 and "alpaca or sharegpt, not chatml" in done.err


@pytest.mark.parametrize("json", [False, True])
def test_a_copy_that_cannot_be_made_is_no_success(dsreg: Dsreg, project: Path, json: bool) -> None:
    assert dsreg("sync").code == 0
    write(project, "", WEIGHED, CHAT)
    (project / "registry/rows.toml").unlink()
    done = dsreg("add", "rows", "--format", "openai", "--copy", *(["--json"] if json else []))
    assert done.code == 1
    said = done.out if json else done.err
    for option in ("strip=weight", "skip=weight"):
        assert f"dsreg set rows --option llamafactory.{option}" in said
    assert "rows" not in info(project), "no entry points to a copy that is not there"
    assert dsreg("sync", "--check").code == 1
    assert dsreg("set", "rows", "--option", "llamafactory.strip=weight").code == 0
    assert info(project)["rows"]["file_name"] == "converted/rows.json"
    assert dsreg("sync", "--check").code == 0


def test_the_entry_stays_while_its_new_copy_cannot_be_made(dsreg: Dsreg, project: Path) -> None:
    write(project, TOML.replace('llamafactory = "copy"\n', ""), WEIGHED)
    assert dsreg("sync").code == 0
    before = (project / "data/dataset_info.json").read_bytes()
    done = dsreg("set", "rows", "--copy")
    assert done.code == 1 and "would lack 1 rows" in done.err
    assert (project / "data/dataset_info.json").read_bytes() == before
    write(project, (project / "registry/rows.toml").read_text(), CHAT)
    assert dsreg("sync").code == 0 and info(project)["rows"]["file_name"] == "converted/rows.json"
    copy = (project / "data/converted/rows.json").read_bytes()
    write(project, (project / "registry/rows.toml").read_text(), WEIGHED)
    assert dsreg("sync").code == 1
    assert (project / "data/converted/rows.json").read_bytes() == copy and "rows" in info(project)


def test_what_cannot_be_stripped_can_be_left_out(dsreg: Dsreg, project: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"messages": [USER, {**GOOD, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]},
        CHAT,
    ]
    write(project, TOML, *rows)
    done = dsreg("sync")
    assert done.code == 1 and "llamafactory.skip=content_parts" in done.err and ".strip=" not in done.err


@pytest.mark.parametrize("format", ["alpaca", "sharegpt", "pretrain"])
def test_a_table_of_extras_alone_is_no_table_of_columns(dsreg: Dsreg, project: Path, format: str) -> None:
    """LlamaFactory's default columns count for the entry and for dsreg's own reading of the rows."""
    rows: dict[str, dict[str, Any]] = {
        "alpaca": {"instruction": "q", "input": "", "output": "a"},
        "sharegpt": {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
        "pretrain": {"text": "t"},
    }
    toml = f'format = "{format}"\nfile_name = "rows.jsonl"\ncolumns = {{category = "topic"}}\n'
    write(project, toml, {**rows[format], "topic": "rivers"})
    assert dsreg("sync").code == 0
    assert info(project)["rows"].get("columns") == ({"prompt": "text"} if format == "pretrain" else None)
    done = dsreg("preview", "rows", "--json")
    assert done.code == 0 and json.loads(done.out)[0]["sample"]["extra"] == {"category": "rivers"}
