"""What commands do, seen through their JSON and the files they write."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dsreg.rows import open_rows
from tests.cli.conftest import Done, Dsreg


def value(done: Done) -> Any:
    assert done.code == 0, done
    return json.loads(done.out)


def toml(project: Path, name: str) -> dict[str, Any]:
    return tomllib.loads((project / "registry" / f"{name}.toml").read_text("utf-8"))


def test_add_tells_all_in_json(dsreg: Dsreg, project: Path) -> None:
    found = value(dsreg("add", "mydata", "--json"))
    assert found["dataset"]["format"] == "alpaca" and found["task"] == "sft"
    assert found["read"] == found["looked_at"] == 3 and found["reasons"] and found["sample"]["messages"]
    assert {"change": "create", "path": "registry/mydata.toml"} in found["changes"]


def test_the_line_of_the_readme(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "pairs.json").rename(project / "data" / "likes.json")
    assert dsreg("add", "likes", "--format", "sharegpt", "--ranking").code == 0
    assert toml(project, "likes")["ranking"] is True
    assert json.loads((project / "data" / "dataset_info.json").read_text())["likes"]["ranking"] is True


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--hf-hub-url org/x --format alpaca", {"hf_hub_url": "org/x", "format": "alpaca"}),
        (
            "--ms-hub-url org/x --format sharegpt --subset s --split test --num-samples 5",
            {"subset": "s", "split": "test"},
        ),
        ("--om-hub-url org/x --format openai --folder f", {"folder": "f", "format": "openai"}),
        ("--script-url folder --format alpaca", {"script_url": "folder"}),
        ("--cloud-file-name s3://b/x.json --format pretrain", {"cloud_file_name": "s3://b/x.json"}),
    ],
)
def test_hubs_and_clouds_need_no_file(dsreg: Dsreg, project: Path, flags: str, expected: dict[str, Any]) -> None:
    assert dsreg("add", "far", *flags.split()).code == 0
    found = toml(project, "far")
    assert expected.items() <= found.items() and "file_name" not in found
    if found["format"] in ("sharegpt", "openai"):
        assert len(found["tags"]) == 7 and found["columns"]["messages"]


def test_ranking_on_a_hub_names_both_answers(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("add", "far", "--hf-hub-url", "a/b", "--format", "alpaca", "--ranking").code == 0
    assert toml(project, "far")["columns"] == {
        "prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected",
    }  # fmt: skip


def test_a_file_elsewhere(dsreg: Dsreg, project: Path) -> None:
    inside, outside = project / "more" / "x.jsonl", project.parent / "y.jsonl"
    for path in (inside, outside):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((project / "data" / "chat.jsonl").read_bytes())
    assert dsreg("add", "x", "more/x.jsonl").code == 0
    assert toml(project, "x")["file_name"] == "../more/x.jsonl"
    done = dsreg("add", "y", str(outside))
    assert toml(project, "y")["file_name"] == str(outside) and "lies outside of the project" in done.err
    assert dsreg("add", "z", "chat.jsonl").code == 0, "as LlamaFactory takes a file_name"
    assert toml(project, "z")["file_name"] == "chat.jsonl"


def test_several_files_of_one_name(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "chat.jsonl.gz").write_bytes(b"x")
    (project / "data" / "chat.md").write_bytes(b"notes")
    done = dsreg("add", "chat")
    assert done.code == 2 and "2 files could be meant: data/chat.jsonl, data/chat.jsonl.gz" in done.err


def test_unreadable_rows_are_told(dsreg: Dsreg, project: Path) -> None:
    good = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'
    (project / "data" / "some.jsonl").write_text(good * 3 + '{"messages": 1}\n')
    done = dsreg("add", "some")
    assert done.code == 0
    assert "3 of the first 4 rows can be read" in done.err and "data/some.jsonl:4" in done.err


def test_set(dsreg: Dsreg, project: Path) -> None:
    changes = [
        ("--num-samples 7", "num_samples", 7),
        ("--copy", "llamafactory", "copy"),
        ("--no-copy", "llamafactory", None),
        ("--target openai --target kto", "targets", ["openai", "kto"]),
        ("--target kto", "targets", ["kto"]),
        (
            "--column id=key",
            "columns",
            {"messages": "conversations", "chosen": "chosen", "rejected": "rejected", "id": "key"},
        ),
        ("--column id=", "columns", {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"}),
        ("--option nova-sft.take=chosen", "target", {"nova-sft": {"take": "chosen"}}),
        ("--unset target.nova-sft", "target", None),
        ("--unset targets --unset num_samples", "targets", None),
        ("--no-ranking --unset columns.chosen --unset columns.rejected", "ranking", None),
    ]
    for flags, key, expected in changes:
        done = dsreg("set", "pairs", *flags.split())
        assert done.code == 0, done
        assert toml(project, "pairs").get(key) == expected
    assert "# Everything in this file may be edited by hand." in (project / "registry" / "pairs.toml").read_text()


def test_set_to_another_file_and_back_to_a_hub(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("set", "pairs", "data/chat.jsonl", "--format", "openai", "--no-ranking").code == 0
    found = toml(project, "pairs")
    assert found["file_name"] == "chat.jsonl" and found["tags"]["assistant_tag"] == "assistant"
    assert dsreg("set", "pairs", "--hf-hub-url", "a/b").code == 0
    assert "file_name" not in toml(project, "pairs")


def test_list_with_a_broken_toml(dsreg: Dsreg, project: Path) -> None:
    (project / "registry" / "broken.toml").write_text("format = \n")
    done = dsreg("list")
    assert done.code == 1 and "pairs" in done.out and "registry/broken.toml:1" in done.err


def test_show_tells_what_a_dataset_can_become(dsreg: Dsreg) -> None:
    found = value(dsreg("show", "pairs", "--json"))
    answers = {cell["target"]: (cell["answer"], cell["takes"]) for cell in found["becomes"]}
    assert answers["nova-sft"] == ("choice", ["chosen", "rejected"])
    assert answers["nova-dpo"] == ("yes", []) and answers["kto"][0] == "yes"
    assert (found["rows"], found["files"]) == (2, ["data/pairs.json"])


def test_show_without_data(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "pairs.json").unlink()
    done = dsreg("show", "pairs")
    assert done.code == 0 and "registry/pairs.toml" in done.out and "does not exist" in done.err


@pytest.mark.parametrize(
    "text", ["{}", '{\n\t"a": {"file_name": "x.json"},\r\n "b": null, "c": {"hf_hub_url": "a/b"}}']
)
def test_init_adopts_without_changing_a_byte(dsreg: Dsreg, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "lf" / "data"
    folder.mkdir(parents=True)
    (folder / "dataset_info.json").write_bytes(text.encode())
    dry = dsreg("init", str(folder.parent), "--dry-run", "--json")
    assert sorted(folder.parent.iterdir()) == [folder]
    done = dsreg("init", str(folder.parent))
    assert done.code == 0
    assert (folder / "dataset_info.json").read_bytes() == text.encode()
    assert value(dry)["unmanaged"].keys() == json.loads(text).keys() - {"a", "c"}
    assert dsreg("-C", str(folder.parent), "sync", "--check").code == 0


def test_add_adopt(dsreg: Dsreg, project: Path) -> None:
    text = '{"old": {"file_name": "chat.jsonl", "formatting": "sharegpt"}}'
    (project / "data" / "dataset_info.json").write_text(text)
    assert dsreg("add", "old", "--adopt").code == 0
    assert toml(project, "old") == {"format": "sharegpt", "file_name": "chat.jsonl"}
    assert (project / "data" / "dataset_info.json").read_text() == text


def test_export_to_folders_and_files(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("-q", "add", "mydata").code == 0
    cases = {
        "export pairs --target openai": "exports/openai/pairs.jsonl",
        "export pairs --target openai -o one.jsonl": "one.jsonl",
        "export pairs --target openai -o few/": "few/pairs.jsonl",
        "export --target openai -o all": "all/mydata.jsonl",
        "export --target openai --target sharegpt -o both": "both/sharegpt/mydata.json",
        "export pairs --target sharegpt --option container=jsonl": "exports/sharegpt/pairs.jsonl",
        "export pairs --target openai --option container=parquet": "exports/openai/pairs.parquet",
    }
    for command, path in cases.items():
        dry = value(dsreg(*command.split(), "--dry-run", "--json"))
        assert str(project / path) in {str(project / export["output"]) for export in dry["exports"]}
        assert not (project / path).exists()
        assert dsreg(*command.split()).code == 0
        with open_rows(project / path) as rows:
            assert len(list(rows)) == (2 if "pairs" in path or "one" in path else 3)
    assert dsreg("export", "pairs", "--target", "openai").code == 0, "what dsreg wrote it may write again"
    (project / "exports" / "openai" / "pairs.jsonl").write_text("mine")
    assert dsreg("export", "pairs", "--target", "openai").code == 2
    assert dsreg("export", "pairs", "--target", "openai", "--force").code == 0


def test_export_leaves_out_what_needs_a_choice(dsreg: Dsreg) -> None:
    assert dsreg("-q", "add", "mydata").code == 0
    found = value(dsreg("export", "--target", "nova-sft", "--json"))
    assert [export["name"] for export in found["exports"]] == ["mydata"]
    assert [(each["name"], each["hint"]) for each in found["left_out"]] == [
        ("pairs", "--take chosen or --take rejected")
    ]


def test_a_choice_of_the_registry_counts(dsreg: Dsreg) -> None:
    assert dsreg("-q", "set", "pairs", "--option", "nova-sft.take=rejected").code == 0
    done = dsreg("export", "--target", "nova-sft")
    assert done.code == 0 and "pairs -> exports/nova-sft/pairs.jsonl" in done.err and "left out" not in done.err


def test_convert_and_export_agree(dsreg: Dsreg, project: Path) -> None:
    by_export = project / "exports" / "nova-dpo" / "pairs.jsonl"
    assert dsreg("export", "pairs", "--target", "nova-dpo").code == 0
    data = (project / "data" / "pairs.json").read_bytes()
    assert dsreg("convert", "data/pairs.json", "--target", "nova-dpo").out == by_export.read_text("utf-8")
    assert dsreg("convert", "-", "--target", "nova-dpo", stdin=data).out == by_export.read_text("utf-8")


def test_quiet_says_nothing_when_all_is_well(dsreg: Dsreg) -> None:
    for command in ("add mydata", "sync", "export --target openai", "rename mydata other", "remove -y other"):
        assert dsreg("-q", *command.split()) == Done(0, "", "")


def test_render_writes_a_script(dsreg: Dsreg, project: Path) -> None:
    printed = dsreg("render", "pairs", "--target", "nova-dpo")
    assert dsreg("render", "pairs", "--target", "nova-dpo", "-o", "convert.py", "--dry-run").code == 0
    assert not (project / "convert.py").exists()
    assert dsreg("render", "pairs", "--target", "nova-dpo", "-o", "convert.py").code == 0
    assert (project / "convert.py").read_text("utf-8") == printed.out
    assert dsreg("render", "pairs", "--target", "nova-dpo", "-o", "convert.py").code == 2


def test_preview_shows_problems_where_they_are(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "pairs.json").write_text('{"conversations": 1}\nnot json\n')
    done = dsreg("preview", "pairs")
    assert done.code == 0 and "data/pairs.json:1" in done.out and "DS2" in done.out and "DS201" in done.out


def test_outside_of_a_project(dsreg: Dsreg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    done = dsreg("list")
    assert done.code == 2 and "no project here" in done.err and "dsreg init" in done.err
    assert dsreg("formats", "list").code == 0
    monkeypatch.setenv("DSREG_ROOT", str(tmp_path / "project"))
    assert "pairs" in dsreg("list").out


def test_colours_only_where_they_are_wanted(dsreg: Dsreg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31;1merror:" in dsreg("show", "x", terminal=True).err
    assert "\x1b" not in dsreg("show", "x").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in dsreg("show", "x", terminal=True).err


def test_progress_is_shown_after_a_while(dsreg: Dsreg, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = '{"instruction": "a", "output": "b"}\n'
    (project / "data" / "many.jsonl").write_text(row * 2000)
    assert dsreg("-q", "add", "many").code == 0
    assert "a second" not in dsreg("export", "many", "--target", "openai", terminal=True).err
    monkeypatch.setattr("dsreg.cli.progress._AFTER", 0.0)
    monkeypatch.setattr("dsreg.cli.progress._EVERY", 0.0)
    # rows that are copied rather than decoded are too fast to be counted one by one: --skip has each looked at
    shown = dsreg("export", "many", "--target", "openai", "--skip", "thinking", terminal=True).err
    assert "many: 1,792 rows" in shown and "2,000 read = 2,000 used" in shown.rpartition("\x1b[K")[2]
    assert "a second" not in dsreg("export", "many", "--target", "openai").err
