"""Arrays read in pieces give the table that the whole document gives, or none at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.llamafactory import arrayfile, jsonfile
from dsreg.llamafactory.frames import table_of

_LEAF = st.sampled_from([None, "x", "", 1, 0, 2.0, 1.5, True, "2024-01-01", 1_700_000_000])
_VALUE = st.recursive(
    _LEAF,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
_ROWS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "created_at", "1"]), _VALUE, max_size=3), min_size=1, max_size=9
)


@given(rows=_ROWS, size=st.integers(1, 4), read=st.integers(1, 40), indent=st.sampled_from([None, 1]))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_equal_the_whole(
    rows: list[dict[str, Any]], size: int, read: int, indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=indent), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrayfile, "ROWS", size)
        patch.setattr(arrayfile, "READ", read)
        pieces = arrayfile.table_of_array(path, int)
    try:
        whole = table_of(rows)
    except Exception:
        assert pieces is None
        return
    assert pieces is None or (pieces.schema.equals(whole.schema) and pieces.to_pylist() == whole.to_pylist())


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_rows_are_never_read_whole(texts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"a": text} for text in texts]), "utf-8")
    table = arrayfile.table_of_array(path, int)
    assert table is not None
    assert table["a"].to_pylist() == texts


NOT_PLAIN = [
    "",
    "{}",
    "[1]",
    "[[1]]",
    '[{"a": 1}',
    '[{"a": 1},]',
    '[{"a": 1}] x',
    '[{"a": 1} {"a": 2}]',
    "[null]",
    "[]",
]


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_anything_else_is_left_to_the_whole(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text, "utf-8")
    assert arrayfile.table_of_array(path, int) is None


def test_a_large_array_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"a": str(n), "b": None if n % 2 else [n]} for n in range(50)]), "utf-8")
    monkeypatch.setattr(jsonfile, "LARGE", 10)
    monkeypatch.setattr(jsonfile, "table_of", None)
    (table,) = jsonfile.read_tables(path)
    assert table.to_pylist()[48:] == [{"a": "48", "b": [48]}, {"a": "49", "b": None}]
