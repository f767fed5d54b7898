"""What programs get from the API is theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg import Project, convert
from dsreg.sync import init

TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
ROWS = [
    {
        "conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "Because."}],
        "tools": json.dumps([TOOL]),
    }
] * 2


def spoil(value: Any) -> None:
    """Change everything in a value that can be."""
    if isinstance(value, list | dict):
        for item in list(value.values() if isinstance(value, dict) else value):
            spoil(item)
        value.clear()


@pytest.mark.parametrize("target", ["nova-sft", "openai", "hf-prompt-completion", "benchmax-sft", "sharegpt"])
def test_a_row_may_be_changed_before_the_next_is_made(target: str) -> None:
    wanted = json.dumps(list(convert(ROWS, "sharegpt", target)))
    found = []
    for row in convert(ROWS, "sharegpt", target):
        found.append(json.dumps(row))
        spoil(row)
    assert f"[{', '.join(found)}]" == wanted and len(found) == 2


def test_a_sample_may_be_changed_before_the_next_is_made(tmp_path: Path) -> None:
    init(tmp_path)
    (tmp_path / "data" / "d.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), "utf-8")
    entry = 'format = "sharegpt"\nfile_name = "d.jsonl"\n[columns]\nmessages = "conversations"\ntools = "tools"\n'
    (tmp_path / "registry" / "d.toml").write_text(entry, "utf-8")
    found = []
    for sample in Project.find(tmp_path)["d"].samples():
        found.append(json.dumps(sample))
        spoil(sample)
    assert found[0] == found[1] and '"f"' in found[0]
