"""No registry and no data makes `check` fall over: whatever stands there, it answers with 0, 1 or 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.model import COLUMN_KEYS, TAG_KEYS
from tests.check.conftest import run

NAMES = ["from", "value", "human", "gpt", "conversations", "instruction", "", "a.b[0]", "‮", "\x00"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(NAMES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


def tables(keys: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from([*keys, "rolle", "promt"]), json_values, max_size=5) | json_values


entries = st.fixed_dictionaries(
    {"file_name": st.just("a.json") | json_values},
    optional={
        "formatting": st.sampled_from(["alpaca", "sharegpt", "openai"]) | json_values,
        "columns": tables(COLUMN_KEYS),
        "tags": tables(TAG_KEYS),
        "ranking": json_values,
        "split": json_values,
        "tag": tables(TAG_KEYS),
        "stage": json_values,
        "file_sha1": json_values,
        "messages": json_values,
    },
)
rows = st.lists(st.dictionaries(st.sampled_from(NAMES[:6]), json_values, max_size=4) | json_values, max_size=4)


@pytest.mark.parametrize("options", [["--json", "--verdicts"], ["--target", "openai"], ["--fix"]], ids=" ".join)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entry=entries, data=rows)
def test_any_registry(options: list[str], entry: Any, data: Any, tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text(json.dumps({"d": entry}))
    (tmp_path / "a.json").write_text(json.dumps(data))
    done = run("check", "--dataset-dir", str(tmp_path), "d", *options)
    assert done.code in (0, 1, 2), done.err
    assert "\x00" not in done.out and "‮" not in done.out
    json.loads((tmp_path / "dataset_info.json").read_text())


@pytest.mark.parametrize("format", ["alpaca", "sharegpt", "openai", "nova-sft", "verl"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=rows)
def test_any_file(format: str, data: Any, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(data))
    done = run("check", str(tmp_path / "a.json"), "--format", format, "--json")
    assert done.code in (0, 1), done.err
    assert done.json["counts"]["ok"] <= len(data)
