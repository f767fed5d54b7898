"""The datasets that ship with the repository: their files are what registry/ says, and good enough to teach with."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENTRIES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted((ROOT / "registry").glob("*.toml"))}

# The keys of a row, where no [columns] table names them.
DEFAULT_KEYS = {
    "verl": {"data_source", "prompt", "ability", "reward_model", "extra_info"},
    "hf-preference": {"prompt", "chosen", "rejected"},
    "sagemaker-eval": {"query", "response", "system", "category"},
    "benchmax": {"prompt", "ground_truth", "accept"},
}
# What Nova's validators refuse in any text; `<image>` is a placeholder where an images column is mapped.
RESERVED = ("user:", "bot:", "assistant:", "system:", "thought:", "<image>", "<video>", "<unk>", "[eos]")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def load(name: str) -> list[dict[str, Any]]:
    path = ROOT / "data" / ENTRIES[name]["file_name"]
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    if path.suffix == ".txt":
        return [{"text": line} for line in text.removesuffix("\n").split("\n")]
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    else:
        assert value is not None, "a null in the data"


def follow(roles: list[str], answers: set[str], questions: set[str]) -> bool:
    """LlamaFactory's odd/even rule: question, answer, question, answer, ..."""
    return all(role in (answers if n % 2 else questions) for n, role in enumerate(roles))


@pytest.mark.parametrize("name", ENTRIES)
def test_rows_have_the_keys_and_types_of_the_entry(name: str) -> None:
    entry, rows = ENTRIES[name], load(name)
    keys = set(entry.get("columns", {}).values()) or DEFAULT_KEYS[entry["format"]]
    shapes = {tuple((key, type(row[key])) for key in sorted(row)) for row in rows}
    assert len(shapes) == 1
    assert {key for key, _ in shapes.pop()} == keys
    assert entry.get("ranking", False) == ("chosen" in keys and entry["format"] in {"alpaca", "sharegpt"})


@pytest.mark.parametrize("name", ENTRIES)
def test_files_are_small_varied_and_bilingual(name: str) -> None:
    rows = load(name)
    assert 20 <= len(rows) <= 50
    assert len({json.dumps(row, sort_keys=True) for row in rows}) == len(rows)
    chinese = [row for row in rows if re.search(r"[\u4e00-\u9fff]", " ".join(strings(row)))]
    assert 3 <= len(chinese) <= len(rows) - 3


@pytest.mark.parametrize("name", ENTRIES)
def test_text_avoids_reserved_words_and_date_columns(name: str) -> None:
    rows = load(name)
    media = "images" in ENTRIES[name].get("columns", {})
    words = [word for word in RESERVED if not (media and word == "<image>")]
    for row in rows:
        assert not [word for text in strings(row) for word in words if word in text.casefold()], row
    for key in rows[0]:
        assert not all(isinstance(row[key], str) and DATE.match(row[key]) for row in rows)


@pytest.mark.parametrize("name", [n for n, e in ENTRIES.items() if e["format"] == "sharegpt"])
def test_sharegpt_turns_alternate(name: str) -> None:
    tags = ENTRIES[name]["tags"]
    for row in load(name):
        roles = [turn[tags["role_tag"]] for turn in row["conversations"]]
        assert follow(roles, {"gpt", "function_call"}, {"human", "observation"}), row
        assert len(roles) % 2 == ("chosen" in row)
        assert {row[key]["from"] for key in ("chosen", "rejected") if key in row} <= {"gpt"}


def test_sharegpt_tools_are_called_as_declared() -> None:
    parallel = 0
    for row in load("sharegpt_tools"):
        declared = {tool["name"]: tool for tool in json.loads(row["tools"])}
        turns = row["conversations"]
        for turn, result in pairwise(turns):
            if turn["from"] != "function_call":
                continue
            calls = json.loads(turn["value"])
            check_calls(
                [(c["name"], c["arguments"]) for c in (calls if isinstance(calls, list) else [calls])], declared
            )
            if isinstance(calls, list):
                parallel += 1
                # one text for each call, in their order
                assert [type(text) for text in json.loads(result["value"])] == [str] * len(calls)
    assert parallel >= 3


def test_openai_tools_are_called_as_declared() -> None:
    parallel = plain = 0
    for row in load("openai_tools"):
        declared = {tool["function"]["name"]: tool["function"] for tool in row["tools"]}
        pending: list[str] = []
        for message in row["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == pending.pop(0)
            calls = message.get("tool_calls", [])
            check_calls([(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls], declared)
            pending += [call["id"] for call in calls]
            parallel += len(calls) > 1
        assert not pending
        assert row["messages"][-1]["role"] == "assistant"
        plain += not declared
    assert parallel >= 3 and plain >= 3


def check_calls(calls: list[tuple[str, dict[str, Any]]], declared: dict[str, dict[str, Any]]) -> None:
    """Assert that tools are described, and that calls name one of them and give it arguments that it has."""
    for tool in declared.values():
        assert tool["description"] and tool["parameters"]["type"] == "object"
    for name, arguments in calls:
        parameters = declared[name]["parameters"]
        assert set(parameters["required"]) <= set(arguments) <= set(parameters["properties"])


def test_every_picture_is_small_used_and_has_its_placeholder() -> None:
    used: set[str] = set()
    for row in load("images_sharegpt"):
        assert sum(turn["value"].count("<image>") for turn in row["conversations"]) == len(row["images"])
        used.update(row["images"])
    files = {f"images/{path.name}": path.read_bytes() for path in (ROOT / "data/images").iterdir()}
    assert set(files) == used
    assert all(data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) < 2048 for data in files.values())


def test_answers_and_labels() -> None:
    for row in load("verl_math"):
        assert row["reward_model"] == {"ground_truth": row["extra_info"]["answer"], "style": "rule"}
    for row in load("benchmax_qa"):
        assert row["accept"][0] == row["ground_truth"]
    for name in ("alpaca_kto", "sharegpt_kto"):
        assert {row["kto_tag"] for row in load(name)} == {True, False}
    for name in ("alpaca_preference", "sharegpt_preference", "hf_preference"):
        assert all(row["chosen"] != row["rejected"] for row in load(name))
