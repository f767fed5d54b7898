"""Parquet outputs: declared columns that occur, further ones as text, late ones too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dsreg.api import file_source
from dsreg.errors import OutputError
from dsreg.export import export
from dsreg.formats import find_format
from dsreg.parquet_schema import SchemaSurvey
from dsreg.runner import Choices, make_conversion


def to_parquet(folder: Path, rows: list[dict[str, Any]], source: str, target: str) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made, _ = file_source(path, format=source)
    conversion = make_conversion(made, find_format(target), Choices(options={"data_source": "own/sums"}))
    export(conversion, folder / "out.parquet", container="parquet")
    return folder / "out.parquet"


def verl_row(**more: Any) -> dict[str, Any]:
    return {
        "data_source": "own/sums",
        "prompt": [{"role": "user", "content": "1+1?"}],
        "reward_model": {"ground_truth": "2", "style": "rule"},
        **more,
    }


def test_declared_columns_that_occur(tmp_path: Path) -> None:
    schema = pq.read_schema(to_parquet(tmp_path, [verl_row()], "verl", "verl"))
    assert schema.names == ["data_source", "prompt", "reward_model", "extra_info"]


def test_further_columns_and_members_are_text_even_when_they_come_late(tmp_path: Path) -> None:
    late = verl_row(extra_info={"answer": "2", "final": {"a": 1}}, topic="sums")
    rows = pq.read_table(to_parquet(tmp_path, [*[verl_row()] * 6000, late], "verl", "verl")).to_pylist()
    assert (rows[0]["topic"], rows[0]["extra_info"]["final"]) == (None, None)
    assert rows[-1]["topic"] == "sums"
    assert json.loads(rows[-1]["extra_info"]["final"]) == {"a": 1}


def test_inferred_types_that_come_late(tmp_path: Path) -> None:
    plain = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    rows = pq.read_table(
        to_parquet(tmp_path, [*[plain] * 6000, {**plain, "topic": "x"}], "openai", "openai")
    ).to_pylist()
    assert (rows[0]["topic"], rows[-1]["topic"]) == (None, "x")


def test_a_column_of_two_types_is_refused(tmp_path: Path) -> None:
    plain = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    for before in (1, 4_999, 5_000, 6_000):
        with pytest.raises(OutputError) as caught:
            to_parquet(tmp_path, [*[{**plain, "topic": "x"}] * before, {**plain, "topic": 1}], "openai", "openai")
        assert f"column `topic` of row {before + 1:,}" in caught.value.message
        assert not (tmp_path / "out.parquet").exists()


def test_further_columns_stand_in_the_order_of_the_rows() -> None:
    survey = SchemaSurvey({"prompt": "string"})
    names = [f"column{at}" for at in range(20)]
    survey.see({**dict.fromkeys(names, "a"), "prompt": "p"})
    assert survey.schema().names == ["prompt", *names]
