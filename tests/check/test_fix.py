"""`check --fix`: before and after, in dataset_info.json and in a project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.check.conftest import run

CHAT = [{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}]
OPENAI = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}]
ROWS = [{"instruction": "i", "input": "q", "output": "o"}]
PAIRS = [{"instruction": "i", "input": "q", "chosen": "a", "rejected": "b"}]
ROLE_TAGS = '"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"'
REST = '"observation_tag": "tool", "function_tag": "function_call", "system_tag": "system"'

CASES: list[tuple[str, str, list[Any], str]] = [
    ("misspelt key", '{"colums": {"prompt": "instruction", "query": "input", "response": "output"}}', ROWS,
     '{"columns": {"prompt": "instruction", "query": "input", "response": "output"}}'),
    ("format", '{"format": "sharegpt"}', CHAT, '{"formatting": "sharegpt"}'),
    ("sample_num", '{"sample_num": 5}', ROWS, '{"num_samples": 5}'),
    ("nothing reads it", '{"file_sha1": null, "stage": "sft", "load_from": "file"}', ROWS, "{}"),
    ("role and content", '{"formatting": "sharegpt", "columns": {"messages": "messages", "role": "role", "content": '
     '"content"},'
     ' "tags": {"user_tag": "user", "assistant_tag": "assistant"}}', OPENAI,
     '{"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": {"user_tag": "user", "assistant_tag": '
     f'"assistant", "role_tag": "role", "content_tag": "content", {REST}}}}}'),
    ("tags completed", f'{{"formatting": "sharegpt", "columns": {{"messages": "messages"}}, "tags": {{{ROLE_TAGS}}}}}',
     OPENAI,
     f'{{"formatting": "sharegpt", "columns": {{"messages": "messages"}}, "tags": {{{ROLE_TAGS}, {REST}}}}}'),
    ("tags found", '{"formatting": "sharegpt", "columns": {"messages": "messages"}}', OPENAI,
     f'{{"formatting": "sharegpt", "columns": {{"messages": "messages"}}, "tags": {{{ROLE_TAGS}, {REST}}}}}'),
    ("tag", f'{{"formatting": "sharegpt", "columns": {{"messages": "messages"}}, "tag": {{{ROLE_TAGS}, {REST}}}}}',
     OPENAI,
     f'{{"formatting": "sharegpt", "columns": {{"messages": "messages"}}, "tags": {{{ROLE_TAGS}, {REST}}}}}'),
    ("columns completed", '{"columns": {"prompt": "instruction"}}', ROWS,
     '{"columns": {"prompt": "instruction", "query": "input", "response": "output"}}'),
    ("backwards", '{"columns": {"prompt": "instruction", "input": "query", "response": "output"}}', ROWS,
     '{"columns": {"prompt": "instruction", "response": "output", "query": "input"}}'),
    ("ranking as text", '{"ranking": "false"}', ROWS, '{"ranking": false}'),
    ("pairs", '{"columns": {"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"}}',
     PAIRS,
     '{"columns": {"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"}, '
     '"ranking": true}'),
    ("own keys stay", '{"owner": {"team": "geo"}}', ROWS, '{"owner": {"team": "geo"}}'),
    ("no data to look at", '{"columns": {"instruction": "prompt"}, "file_name": "gone.json"}', [],
     '{"columns": {"instruction": "prompt"}, "file_name": "gone.json"}'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "rows", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_fix(before: str, rows: list[Any], after: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(rows))
    info = tmp_path / "dataset_info.json"
    text = '{\n  "//": "mine",\n\n  "d": ENTRY,\n  "z": {"file_name": "z.json", "oddly" : 1.50}\n}\n'
    entry = {"file_name": "a.json", **json.loads(before)}
    info.write_text(text.replace("ENTRY", json.dumps(entry)))
    old = info.read_text()
    done = run("check", "--dataset-dir", str(tmp_path), "--fix", "--dry-run", "d")
    assert done.code == 0, done.err
    assert info.read_text() == old
    assert run("check", "--dataset-dir", str(tmp_path), "--fix", "d").code == 0
    wanted = {"file_name": "a.json", **json.loads(after)}
    assert json.loads(info.read_text())["d"] == wanted
    assert bool(done.out) == (entry != wanted)
    for part in ('\n  "//": "mine",\n\n  "d"', '"z": {"file_name": "z.json", "oddly" : 1.50}\n}\n'):
        assert part in info.read_text()
    again = run("check", "--dataset-dir", str(tmp_path), "--fix", "d")
    assert "nothing to repair" in again.err


def test_fix_shows_a_diff(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text(
        '{\n  "d": {\n    "file_name": "a.json",\n    "sample_num": 5\n  }\n}\n'
    )
    done = run("check", "--dataset-dir", str(tmp_path), "--fix", "--dry-run")
    assert '-    "sample_num": 5' in done.out
    assert '+    "num_samples": 5' in done.out
    assert "d: `sample_num` is `num_samples` now" in done.err


def test_fix_leaves_a_broken_registry_alone(tmp_path: Path) -> None:
    info = tmp_path / "dataset_info.json"
    info.write_text('{"d": {"file_name": "a.json",}}')
    done = run("check", "--dataset-dir", str(tmp_path), "--fix")
    assert done.code == 2
    assert "nothing was repaired" in done.err
    assert info.read_text() == '{"d": {"file_name": "a.json",}}'


def test_fix_in_a_project(tmp_path: Path) -> None:
    (tmp_path / "registry").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.json").write_text(json.dumps(OPENAI))
    toml = tmp_path / "registry" / "d.toml"
    toml.write_text(
        '# ours\nformat = "sharegpt"\nfile_name = "a.json"\nstage = "sft"\n\n[columns]\nmessages = "messages"\n'
    )
    assert run("-C", str(tmp_path), "sync").code == 0
    assert run("-C", str(tmp_path), "check").code == 1
    done = run("-C", str(tmp_path), "check", "--fix")
    assert done.code == 0, done.err
    text = toml.read_text()
    assert text.startswith("# ours\n")
    assert "stage" not in text
    assert 'role_tag = "role"' in text
    entry = json.loads((tmp_path / "data" / "dataset_info.json").read_text())["d"]
    assert entry["tags"]["user_tag"] == "user"
    after = run("-C", str(tmp_path), "check")
    assert after.code == 0, after.out
    assert "d: 1 row: 1 kept, 0 dropped" in after.out
