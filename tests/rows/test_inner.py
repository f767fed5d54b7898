"""JSON text inside rows: what orjson makes of it is what the row code's own parser makes of it, mistakes included."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.rowcode import columns
from dsreg.rows.inner import parse_json

TEXTS = [
    '{"name": "f", "arguments": {"a": 1, "b": "x: y", "c": [true, null, -0, -0.0]}}',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 1}}',
    '{"a": "1:2", "a": ":"}',
    '{"a" : 1, "a": "\\u003a"}',
    '{"a": 1, "a": "\\u003A"}',
    '{"\\u0061": 1, "a": 2}',
    "18446744073709551616",
    "-9223372036854775809",
    "[123456789012345678901234567890]",
    "123456789012345678901234567890.5",
    '"00000000000000000000"',
    "1e400",
    "NaN",
    "[Infinity]",
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\ud800"',
    "\ufeff{}",
    "{} x",
    " [1] \n",
    "[1]\x0b",
    '"\t"',
    "01",
    "",
    "[" * 300 + "]" * 300,
    "[" * 1010 + "]" * 1010,
    "[" * 100_000,
]


def outcome(parse: Callable[[str], Any], text: str) -> tuple[str, str]:
    """The value, or the mistake, so that 1, 1.0 and True are three things."""
    try:
        return "value", repr(parse(text))
    except (ValueError, RecursionError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_what_is_odd(text: str) -> None:
    assert outcome(parse_json, text) == outcome(columns.STRICT_JSON.decode, text)


class Members(list[Any]):
    """The members of an object, of which two may have one key."""


TEXT = st.text(':"\\a\u4f60', max_size=9)
KEYS = st.sampled_from(["a", "b", ":", '":', "\\", "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=4).map(Members),
    max_leaves=12,
)


def written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Members):
        return "{" + ", ".join(f"{written(k, ascii_only)}: {written(v, ascii_only)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(v, ascii_only) for v in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


@given(VALUES, st.booleans())
def test_whatever_is_written(value: Any, ascii_only: bool) -> None:
    text = written(value, ascii_only)
    assert outcome(parse_json, text) == outcome(columns.STRICT_JSON.decode, text)


def test_the_row_code_uses_it() -> None:
    import dsreg.runner  # noqa: F401

    assert columns.parse_json is parse_json
