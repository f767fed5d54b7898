"""The two ways over the repository's own datasets, and over the demo data of LlamaFactory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.api import Project, file_source
from dsreg.errors import DsregError
from dsreg.export import Report, export
from dsreg.formats import built_in, find_format
from dsreg.runner import Choices, make_conversion
from dsreg.source import Source

ROOT = Path(__file__).parents[2]
TARGETS = [id for id, format in built_in().items() if format.manifest.text.write is not None]


def outcome(source: Source, target: str, output: Path, *, fast: bool) -> Any:
    """What a conversion writes and reports, or why it cannot."""
    try:
        made = make_conversion(source, find_format(target), Choices())
        report = export(made, output, container="jsonl", skip_invalid=True, ours=True, fast=fast)
    except DsregError as error:
        return str(error)
    return told(report, output)


def told(report: Report, output: Path) -> Any:
    """All of a report but its places, and the rows."""
    rows = [json.loads(line) for line in output.read_bytes().splitlines()] if output.exists() else []
    notes = report.tally.notes
    return {**report.as_json(), "output": "", "rejects_path": ""}, rows, dict(notes.counts), notes.first


def same(source: Source, folder: Path) -> None:
    """Compare all targets."""
    for target in TARGETS:
        both = [outcome(source, target, folder / f"{target}-{fast}.jsonl", fast=fast) for fast in (False, True)]
        assert both[0] == both[1], target


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "registry").glob("*.toml")))
def test_cookbook(name: str, tmp_path: Path) -> None:
    same(Project.find(ROOT)[name].source, tmp_path)


def test_demo_data(shared: Path, tmp_path: Path) -> None:
    found = 0
    for path in sorted((shared / "data" / "llamafactory").rglob("*.json*")):
        try:
            source, _ = file_source(path)
        except DsregError:
            continue
        same(source, tmp_path)
        found += 1
    assert found > 5
