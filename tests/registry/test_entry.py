from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.entry import copy_task, dataset_of_entry, entry_of
from dsreg.errors import RegistryError
from dsreg.jsonedit import same_json
from dsreg.model import COLUMN_KEYS, Dataset
from dsreg.rowcode.turns import TURN_TAGS as TAGS
from dsreg.tasks import EXTRA_COLUMNS


def entry(toml: str) -> dict[str, Any] | None:
    return entry_of("mydata", Dataset.model_validate(tomllib.loads(toml)))


RENDERED = {
    "alpaca is the default": ('format="alpaca"\nfile_name="a.json"', {"file_name": "a.json"}),
    "sharegpt": ('format="sharegpt"\nfile_name="a.json"', {"file_name": "a.json", "formatting": "sharegpt"}),
    "openai is read as sharegpt": ('format="openai"\nfile_name="a"', {"file_name": "a", "formatting": "sharegpt"}),
    "explicit formatting wins": (
        'format="openai"\nformatting="openai"\nfile_name="a"',
        {"file_name": "a", "formatting": "openai"},
    ),
    "the text of pretraining is the prompt": (
        'format="pretrain"\nfile_name="a"\ncolumns={text="content"}',
        {"file_name": "a", "columns": {"prompt": "content"}},
    ),
    "pretraining reads text": ('format="pretrain"\nfile_name="a"', {"file_name": "a", "columns": {"prompt": "text"}}),
    "false is kept": ('format="alpaca"\nfile_name="a"\nranking=false', {"file_name": "a", "ranking": False}),
    "extras stay out": (
        'format="alpaca"\nfile_name="a"\ncolumns={prompt="q", id="uid", category="topic"}',
        {"file_name": "a", "columns": {"prompt": "q"}},
    ),
    "only extras leave the defaults in force": (
        'format="alpaca"\nfile_name="a"\ncolumns={category="topic"}',
        {"file_name": "a"},
    ),
    "an empty table unsets all": ('format="alpaca"\nfile_name="a"\n[columns]', {"file_name": "a", "columns": {}}),
    "dsreg's own keys stay out": (
        'format="alpaca"\nfile_name="a"\ntargets=["kto"]\n[card]\nlicense="MIT"\n[check]\nignore=["DS2"]\n[target.kto]\na=1',
        {"file_name": "a"},
    ),
    "unknown keys go in": (
        'format="alpaca"\nfile_name="a"\nmedia_dir="m"\nsince=2024-01-02',
        {"file_name": "a", "media_dir": "m", "since": "2024-01-02"},
    ),
    "verbatim members": (
        'format="alpaca"\nfile_name="a"\n[columns]\nprompt="q"\n[entry]\nformat="x"\n[entry.columns]\nid="i"',
        {"file_name": "a", "columns": {"prompt": "q", "id": "i"}, "format": "x"},
    ),
    "no entry": ('format="verl"\nfile_name="a.parquet"', None),
}


@pytest.mark.parametrize("toml, expected", RENDERED.values(), ids=RENDERED)
def test_the_entry_follows_from_the_toml(toml: str, expected: dict[str, Any] | None) -> None:
    assert same_json(entry(toml), expected)


def test_the_order_of_keys() -> None:
    toml = """
        zebra = 1
        tags = {role_tag = "role"}
        columns = {messages = "m"}
        num_samples = 5
        folder = "f"
        split = "s"
        subset = "b"
        ranking = true
        hf_hub_url = "a/b"
        format = "sharegpt"
        ape = 2
    """
    order = "hf_hub_url formatting ranking subset split folder num_samples columns tags zebra ape"
    assert list(entry(toml) or {}) == order.split()


SHAREGPT = {"messages": "conversations", "system": "system", "tools": "tools"}
COPIES = {
    "chat": ('format="nova-sft"', {"formatting": "sharegpt", "columns": SHAREGPT, "tags": TAGS}),
    "preference": (
        'format="openai"\nranking=true',
        {
            "formatting": "sharegpt",
            "ranking": True,
            "columns": {**SHAREGPT, "chosen": "chosen", "rejected": "rejected"},
            "tags": TAGS,
        },
    ),
    "kto": (
        'format="openai"\ncolumns={kto_tag="label"}',
        {"formatting": "sharegpt", "columns": {**SHAREGPT, "kto_tag": "kto_tag"}, "tags": TAGS},
    ),
    "images": (
        'format="openai"\n[target.llamafactory]\nmedia=["images"]',
        {"formatting": "sharegpt", "columns": {**SHAREGPT, "images": "images"}, "tags": TAGS},
    ),
    "alpaca": (
        'format="verl"\n[target.llamafactory]\nlayout="alpaca"',
        {
            "columns": {
                "prompt": "instruction",
                "query": "input",
                "response": "output",
                "history": "history",
                "system": "system",
                "tools": "tools",
            }
        },
    ),
    "pretrain": ('format="verl"\n[target.llamafactory]\ntask="pretrain"', {"columns": {"prompt": "text"}}),
}


@pytest.mark.parametrize("toml, expected", COPIES.values(), ids=COPIES)
def test_the_entry_of_a_copy_is_complete(toml: str, expected: dict[str, Any]) -> None:
    found = entry(f'llamafactory="copy"\nfile_name="raw.jsonl"\n{toml}')
    assert same_json(found, {"file_name": "converted/mydata.json", **expected})


@pytest.mark.parametrize(
    "format_, task",
    [
        ("nova-dpo", "preference"),
        ("hf-kto", "kto"),
        ("nova-cpt", "pretrain"),
        ("verl", "sft"),
        ("openai-dpo", "preference"),
    ],
)
def test_the_task_of_a_copy_follows_from_its_format(format_: str, task: str) -> None:
    assert copy_task(Dataset(format=format_)) == task


def test_a_copy_cannot_leave_its_folder() -> None:
    dataset = Dataset(format="verl", file_name="x", llamafactory="copy")
    assert (entry_of("../../x", dataset) or {})["file_name"] == "converted/%2E.%2F..%2Fx.json"


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_number_that_json_lacks_is_refused(value: str) -> None:
    with pytest.raises(RegistryError, match="weight"):
        entry(f'format="alpaca"\n[extra]\nweight={value}')


ODD = [
    {},
    {"file_name": ""},
    {"file_name": "a", "formatting": "alpaca"},
    {"file_name": "a", "formatting": "openai", "columns": {"messages": "m"}},
    {"file_name": "a", "formatting": "sharegpt", "ranking": False},
    {"file_name": "a", "formatting": "chatml"},
    {"file_name": "a", "format": "sharegpt", "columns": {"messages": "messages"}},
    {"file_name": "a", "columns": {}, "tags": {}},
    {"file_name": "a", "columns": {"prompt": "text"}},
    {"file_name": "a", "columns": {"prompt": ""}},
    {"file_name": "a", "columns": {"prompt": "text"}, "ranking": True},
    {"file_name": "a", "columns": {"prompt": "text"}, "formatting": "alpaca"},
    {"file_name": "a", "columns": {"id": "uid"}},
    {"file_name": "a", "columns": {"prompt": ["q"], "answer": "a"}},
    {"file_name": 1, "ranking": 1, "num_samples": 2.0, "columns": [], "tags": "x", "subset": ["a"]},
    {
        "file_name": "a",
        "entry": {"entry": 1},
        "targets": 1,
        "target": "x",
        "card": [],
        "check": 0,
        "llamafactory": "copy",
    },
    {
        "file_name": "a",
        "owner": {"team": "geo", "since": 2021.5, "n": [1, {"a": []}]},
        "": 1,
        "a.b": {"c d": "\x7f\u0000"},
    },
    {"file_name": "a", "extras": 1, "to_toml": 2, "model_extra": 3, "model_config": 4, "__class__": 5, "self": 6},
    {"hf_hub_url": "a", "file_name": "b", "num_samples": 10**30, "split": "train[:10%]"},
]


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
def test_odd_entries_come_back_the_same(odd: dict[str, Any]) -> None:
    dataset = dataset_of_entry(odd)
    assert isinstance(dataset, Dataset)
    assert same_json(entry_of("mydata", dataset), odd)


@pytest.mark.parametrize(
    "value, reason",
    [
        ({"a": None}, "null at `a`"),
        ({"a": [{"b": None}]}, "null at `a[0].b`"),
        ("text", "not an object but text"),
        (None, "not an object but null"),
        ([], "not an object but a list"),
        ({"a": float("nan")}, "nan at `a`"),
        ({"a": "\ud800"}, "half a character"),
    ],
)
def test_what_toml_cannot_hold_has_a_reason(value: Any, reason: str) -> None:
    found = dataset_of_entry(value)
    assert isinstance(found, str) and reason in found


@pytest.mark.parametrize(
    "given_entry, format_",
    [
        ({"file_name": "a"}, "alpaca"),
        ({"file_name": "a", "formatting": "openai"}, "openai"),
        ({"file_name": "a", "formatting": "sharegpt"}, "sharegpt"),
        ({"file_name": "a", "columns": {"prompt": "text"}}, "pretrain"),
        ({"file_name": "a", "columns": {"prompt": "q", "response": "a"}}, "alpaca"),
    ],
)
def test_the_format_of_an_adopted_entry(given_entry: dict[str, Any], format_: str) -> None:
    dataset = dataset_of_entry(given_entry)
    assert isinstance(dataset, Dataset) and dataset.format == format_


def test_real_entries_come_back_the_same(shared: Path) -> None:
    adopted = 0
    for path in sorted((shared / "conformance/registries").glob("*.json")):
        try:
            registry = json.loads(path.read_bytes().decode("utf-8-sig"))
        except ValueError:
            continue
        for name, value in registry.items() if isinstance(registry, dict) else ():
            dataset = dataset_of_entry(value)
            if isinstance(dataset, str):
                assert not isinstance(value, dict) or "null" in dataset, (path.name, name, dataset)
                continue
            assert same_json(entry_of(name, dataset), value), (path.name, name)
            adopted += 1
    assert adopted > 1800


TEXT = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
COLUMNS = st.dictionaries(st.sampled_from([*COLUMN_KEYS, *EXTRA_COLUMNS, "text"]) | TEXT, TEXT | VALUES, max_size=3)
ENTRIES = st.dictionaries(st.sampled_from(sorted(Dataset.model_fields)) | TEXT, TEXT | VALUES | COLUMNS, max_size=5)


@given(ENTRIES)
def test_any_entry_comes_back_the_same_or_has_a_reason(made: dict[str, Any]) -> None:
    dataset = dataset_of_entry(made)
    if isinstance(dataset, str):
        text = json.dumps(made)
        assert "null" in text or "NaN" in text or "Infinity" in text or "\\ud" in text, dataset
    else:
        assert same_json(entry_of("mydata", dataset), made)
