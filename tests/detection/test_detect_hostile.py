"""Any rows give a detection or a UsageError, nothing else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dsreg.detection import Detection, detect
from dsreg.detection.names import GROUPS
from dsreg.errors import UsageError
from dsreg.formats import built_in
from dsreg.source import CHAT_TAGS, make_source

NAMES = sorted({name for names in GROUPS.values() for name in names} | {"reward_model", "extra_info", "toolConfig"})
KEYS = st.one_of(st.sampled_from(["from", "value", "role", "content", "tool_calls", "text", "candidates"]), st.text())
TEXTS = st.one_of(
    st.sampled_from(["user", "assistant", "human", "gpt", "system", "tool", '[{"role": "user"}]']), st.text()
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
TURNS = st.lists(st.fixed_dictionaries({"role": TEXTS, "content": VALUES}), max_size=3)
ROWS = st.lists(
    st.one_of(
        st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text()), st.one_of(VALUES, TURNS), max_size=5), VALUES
    ),
    max_size=5,
)


def check(found: Detection) -> None:
    format = built_in()[found.format]
    source = make_source("x", format, [], found.columns, tags=found.tags, ranking=found.ranking or None)
    assert source.task == found.task
    assert found.tags == {} or set(found.tags) == set(CHAT_TAGS)
    assert found.reasons and all(isinstance(reason, str) and reason.isprintable() for reason in found.reasons)
    json.dumps(found.columns)


@settings(deadline=None, max_examples=200)
@given(rows=ROWS, ranking=st.sampled_from([None, None, True, False]))
def test_any_rows_are_told_or_refused(rows: list[Any], ranking: bool | None) -> None:
    try:
        found = detect(rows, ranking=ranking)
    except UsageError:
        return
    check(found)


@settings(deadline=None, max_examples=150)
@given(rows=ROWS, format=st.sampled_from([id for id, format in built_in().items() if format.reads]))
def test_any_rows_of_a_named_format_are_told_or_refused(rows: list[Any], format: str) -> None:
    try:
        found = detect(rows, format=format)
    except UsageError:
        return
    assert found.format == format
    check(found)


def test_rows_that_are_no_json_at_all() -> None:
    class Odd:
        pass

    for rows in ([{1: "a", None: "b"}], [{"text": Odd()}], [{"messages": [Odd()]}], [{"messages": ({"role": Odd()},)}]):
        try:
            check(detect(rows))
        except UsageError as error:
            assert str(error)
