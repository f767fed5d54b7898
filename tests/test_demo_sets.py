"""LlamaFactory's demo sets to every target that fits: what became of each row, in a table that a person can read.

`DSREG_UPDATE_GOLDEN=1 pytest tests/test_demo_sets.py` writes the table anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsreg.entry import dataset_of_entry
from dsreg.export import TooManyRejects, export
from dsreg.formats import Format, built_in, ways
from dsreg.model import Dataset, Settings
from dsreg.project import Root
from dsreg.registered import source_of
from dsreg.runner import Choices, make_conversion
from dsreg.source import Source

GOLDEN = Path(__file__).parent / "golden" / "demo_sets.txt"
OPTIONS = {"data_source": "demo/any", "bucket_owner": "111122223333", "media_prefix": "s3://bucket/media"}


def takes(task: str, target: Format) -> list[str | None]:
    """Every choice by which rows of a task become a target; None where none is needed."""
    found = ways(task, target)
    if not found:
        return []
    return [step.take or None for step in found[0].steps] or [None]


def account(source: Source, target: Format, take: str | None) -> str:
    conversion = make_conversion(source, target, Choices(take=take, options=dict(OPTIONS)))
    try:
        report = export(conversion, None)
    except TooManyRejects as error:
        report = error.report
    reasons = ", ".join(f"{count} {code}" for code, count in sorted(report.tally.rejected.items()))
    return f"{report.tally}{f' ({reasons})' if reasons else ''}"


def table(data: Path, folder: Path) -> Iterator[str]:
    project = Root(root=folder, data_dir=data, registry_dir=folder, settings=Settings())
    entries = json.loads((data / "dataset_info.json").read_text("utf-8"))
    for name, entry in entries.items():
        dataset = dataset_of_entry(entry)
        assert isinstance(dataset, Dataset)
        source = source_of(project, name, dataset)
        for target in built_in().values():
            for take in takes(source.task, target) if target.writes else []:
                choice = f" --take {take}" if take else ""
                yield f"{name} -> {target.id}{choice}: {account(source, target, take)}"


def test_every_demo_set_to_every_target_that_fits(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "llamafactory"
    if not data.is_dir():
        pytest.skip(f"LlamaFactory's demo data is absent from {shared}")
    lines = list(table(data, tmp_path))
    for line in lines:
        numbers = line.partition(": ")[2]
        assert "= 0 used" not in numbers or "set aside" in numbers
    if os.environ.get("DSREG_UPDATE_GOLDEN"):
        GOLDEN.write_text("\n".join(lines) + "\n")
    assert lines == GOLDEN.read_text().splitlines()
