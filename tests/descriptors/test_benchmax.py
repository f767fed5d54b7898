"""The environment class is run against a stand-in for benchmax."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dsreg.rowcode.canonical import canonical_example_id
from tests.descriptors.cases import QUESTIONS
from tests.descriptors.conftest import Export

KNOWN = "bad4f010523ac6e7a6cb052464732a48e1be6f8bd305befbb521b49d6f94985a"
"""benchmax 0.2.5's id of {"prompt_messages": [user: What is 2+2?], "ground_truth": "4"}."""
ROWS = [{"prompt": [{"role": "user", "content": "What is 2+2?"}], "data_source": "", "ability": "",
         "reward_model": {"style": "rule", "ground_truth": "4"}}]  # fmt: skip


@dataclass(frozen=True)
class Example:
    id: str
    payload: dict[str, Any]


class JsonlDataset:
    """As benchmax 0.2.5 reads a file: one object a line, each made an Example."""

    def __init__(
        self, path: Path, *, row_to_example: Callable[[dict[str, Any]], Example], max_examples: int | None = None
    ) -> None:
        with path.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        self.examples = [row_to_example(row) for row in rows[:max_examples]]


@pytest.fixture
def benchmax(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = ModuleType("benchmax.envs")
    names = {"BaseEnv": object, "Example": Example, "JsonlDataset": JsonlDataset}
    envs.__dict__.update(names, canonical_example_id=canonical_example_id)
    monkeypatch.setitem(sys.modules, "benchmax", ModuleType("benchmax"))
    monkeypatch.setitem(sys.modules, "benchmax.envs", envs)


def examples_of(script: Path, **options: Any) -> list[Example]:
    """The examples that the environment of a descriptor makes of the export in its folder."""
    names: dict[str, Any] = {"__name__": "environment"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    dataset = asyncio.run(names["DatasetEnv"]().create_dataset("train", script.parent, **options))
    examples: list[Example] = dataset.examples
    return examples


@pytest.mark.usefixtures("benchmax")
@pytest.mark.parametrize("id", ["none", "canonical"])
@pytest.mark.parametrize("shape", ["prompt_messages", "messages", "prompt"])
def test_it_reads_the_shape_that_was_written(export: Export, shape: str, id: str) -> None:
    report = export("sagemaker-rlvr", ROWS, "benchmax", shape=shape, id=id)
    (example,) = examples_of(report.descriptors[0])
    messages = [{"role": "user", "content": "What is 2+2?"}]
    rest = {key: value for key, value in example.payload.items() if key not in ("prompt_messages", "ground_truth")}
    assert example.payload["prompt_messages"] == messages and example.payload["ground_truth"] == "4"
    assert example.id == canonical_example_id(example.payload)
    assert not {"id", "messages", "prompt"} & rest.keys()
    bare = {key: example.payload[key] for key in ("prompt_messages", "ground_truth")}
    assert canonical_example_id(bare) == KNOWN
    assert report.output is not None
    row = json.loads(report.output.read_text())
    assert row.get("id", example.id) == example.id


@pytest.mark.usefixtures("benchmax")
def test_an_id_of_the_data_is_for_the_environment(export: Export) -> None:
    report = export("verl", [{**QUESTIONS[0], "id": "q1"}], "benchmax")
    (example,) = examples_of(report.descriptors[0])
    assert example.payload["id"] == "q1" and example.payload["data_source"] == "openai/gsm8k"
    assert example.id == canonical_example_id(example.payload)


@pytest.mark.usefixtures("benchmax")
def test_a_part_of_the_rows(export: Export) -> None:
    report = export("verl", QUESTIONS * 3, "benchmax")
    assert len(examples_of(report.descriptors[0])) == 3
    assert len(examples_of(report.descriptors[0], max_examples=2)) == 2
