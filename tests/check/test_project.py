"""`check` in a project: dsreg's own files, drift, targets, what is left out, ways to print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check.conftest import Done, run

ROW = {"instruction": "Why?", "input": "", "output": "Because."}
TOML = 'format = "alpaca"\nfile_name = "a.json"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one dataset, in sync, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    (tmp_path / "registry").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.json").write_text(json.dumps([ROW]))
    (tmp_path / "registry" / "a.toml").write_text(TOML)
    run("sync")
    return tmp_path


def codes(done: Done) -> set[str]:
    return {issue["code"] for one in done.json for issue in one["issues"]}


def test_all_is_well(project: Path) -> None:
    done = run("check")
    assert (done.code, done.out, done.err) == (0, "a: 1 row: 1 kept, 0 dropped (stage sft; fits ppo as well)\n", "")


def test_a_broken_toml_hides_no_other(project: Path) -> None:
    (project / "registry" / "b.toml").write_text("format = \n")
    done = run("check")
    assert done.code == 1
    assert "registry/b.toml:1: error DS166" in done.out
    assert "a: 1 row: 1 kept" in done.out


def test_unknown_keys_are_told_with_their_line(project: Path) -> None:
    (project / "registry" / "a.toml").write_text(TOML + 'file_nam = "x"\n')
    run("sync")
    done = run("check")
    assert done.code == 0
    assert "registry/a.toml:3: warning DS160 unknown key `file_nam`" in done.out
    assert "did you mean `file_name`?" in done.out
    assert "DS180" not in done.out


def test_missing_data_is_an_error(project: Path) -> None:
    (project / "data" / "a.json").unlink()
    done = run("check")
    assert done.code == 1
    assert "registry/a.toml:2: error DS121 file_name: data/a.json is not there" in done.out


def test_drift_is_told_and_the_registry_checked(project: Path) -> None:
    (project / "registry" / "a.toml").write_text(TOML + '[columns]\nprompt = "instruction"\nresponse = "outputs"\n')
    issues = run("check", "a", "--json").json["issues"]
    found = {issue["code"]: issue for issue in issues}
    assert found["DS167"]["hint"] == "dsreg sync"
    assert found["DS261"]["hint"] == "dsreg set a --column response=output"
    assert (found["DS261"]["file"], found["DS261"]["line"]) == ("registry/a.toml", 5)


def test_nothing_synced_yet(project: Path) -> None:
    (project / "data" / "dataset_info.json").unlink()
    done = run("check")
    assert done.out.count("DS167") == 1
    assert "a: 1 row: 1 kept" in done.out


def test_hub_entries_are_said_to_be_unchecked(project: Path) -> None:
    (project / "registry" / "h.toml").write_text('format = "alpaca"\nhf_hub_url = "a/b"\n')
    run("sync")
    done = run("check", "h")
    assert done.code == 0
    assert done.out == "h: a/b is not a local file: its rows are not checked\n"


@pytest.mark.parametrize("where", ["--ignore", "--ignore prefix", "toml", "dsreg.toml", "--select"])
def test_left_out(project: Path, where: str) -> None:
    (project / "data" / "a.json").write_text(json.dumps([ROW, ROW]))
    assert "DS290" in codes(run("check", "--json"))
    options: list[str] = []
    if where == "toml":
        (project / "registry" / "a.toml").write_text(TOML + '[check]\nignore = ["DS290"]\n')
    elif where == "dsreg.toml":
        (project / "dsreg.toml").write_text('[check]\nignore = ["DS2"]\n')
    else:
        code = {"--select": "DS1", "--ignore": "DS290"}.get(where, "DS2")
        options = [where.split()[0], code]
    done = run("check", "--json", *options)
    assert "DS290" not in codes(done)
    assert done.code == 0


def test_errors_that_are_ignored_do_not_count(project: Path) -> None:
    (project / "data" / "a.json").write_text(json.dumps([ROW, ROW | {"output": None}]))
    assert run("check").code == 1
    assert run("check", "--ignore", "DS233").code == 0


def test_targets_say_what_the_export_says(project: Path) -> None:
    rows = [ROW | {"output": f"Because of {n}."} for n in range(12)] + [ROW | {"output": "System: no"}]
    (project / "data" / "a.json").write_text(json.dumps(rows))
    issues = run("check", "a", "--target", "nova-sft", "--json").json["issues"]
    rejected = [issue for issue in issues if issue["code"].startswith("DS3")]
    exported = run("export", "a", "--target", "nova-sft", "--dry-run")
    assert exported.code == 1
    assert [issue["row"] for issue in rejected] == [13]
    assert rejected[0]["code"] in exported.err
    assert "DS401" in {issue["code"] for issue in issues}
    assert not (project / "exports").exists()


def test_a_target_that_does_not_fit(project: Path) -> None:
    named = run("check", "a", "--target", "nova-dpo")
    assert named.code == 1
    assert "registry/a.toml: error DS320 nova-dpo: sft rows cannot become nova-dpo" in named.out
    assert "note DS320" in run("check", "--target", "nova-dpo").out
    assert run("check", "--target", "nova-dpo").code == 0
    assert "did you mean `nova-sft`?" in run("check", "a", "--target", "nova-stf").out


def test_copies(project: Path) -> None:
    rows = [{"prompt": "2+2?", "completion": "4"}, {"prompt": "3+3?", "completion": "6"}]
    (project / "data" / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    toml = 'format = "hf-prompt-completion"\nfile_name = "p.jsonl"\n'
    (project / "registry" / "p.toml").write_text(toml)
    assert "note DS168" in run("check", "p").out
    (project / "registry" / "p.toml").write_text(toml + 'llamafactory = "copy"\n')
    assert "the converted copy is not there" in run("check", "p").out
    run("sync")
    done = run("check", "p")
    assert (done.code, done.out) == (0, "p: 2 rows: 2 kept, 0 dropped (stage sft; fits ppo as well)\n")


def test_github(project: Path) -> None:
    (project / "data" / "a.json").write_text(json.dumps([ROW | {"output": 5}], indent=1))
    lines = run("check", "--output-format", "github").out.splitlines()
    assert lines[0].startswith("::error file=data/a.json,line=2,title=DS233::output: the answer is null or not text")


def test_names(project: Path) -> None:
    wrong = run("check", "data/a.json")
    assert wrong.code == 2
    assert "that file is registered as 'a'" in wrong.err
    assert "did you mean" in run("check", "--stage", "sfd").err


def test_outside_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    (tmp_path / "a.json").write_text(json.dumps([ROW]))
    done = run("check", "a.json")
    assert done.code == 2
    assert "dsreg check a.json --format FORMAT" in done.err
    assert run("check", "a.json", "--format", "alpaca").code == 0


def test_bare_file_as_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"prompt": "a", "completion": "b"}\n{"prompt": "a", "completion": 5}\nnot json\n')
    told = run("check", str(path), "--format", "sagemaker-sft", "--json", "--verdicts").json
    assert told["counts"] == {"ok": 1, "rejected": 2}
    assert told["verdicts"] == ["ok", "rejected", "rejected"]
    assert [(issue["code"], issue["line"]) for issue in told["issues"]][:2] == [("DS204", 2), ("DS201", 3)]


def test_folder_target(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([ROW]))
    (tmp_path / "dataset_info.json").write_text('{"a": {"file_name": "a.json"}}')
    told = run(
        "check", "--dataset-dir", str(tmp_path), "a", "--target", "openai", "--target", "nova-dpo", "--json"
    ).json
    assert {issue["code"] for issue in told["issues"]} == {"DS401", "DS320"}


def test_hostile_text_is_no_command_of_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text(
        json.dumps({"a\x1b[31m\n": {"file_name": "\x1b]0;x\x07.json", "\x1b[2J": 1}})
    )
    out = run("check", "--dataset-dir", str(tmp_path)).out
    assert "\x1b" not in out and "\x07" not in out
