"""Whatever a row holds is in the output, or the row is rejected, or the loss is listed: for every target."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.formats import Format, built_in, find_format, options_of
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.features import find_features
from dsreg.rowcode.pipeline import SetAside, Steps, read_samples
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.tasks import FEATURES
from tests.test_properties import READABLE, constants, values, words

Row = dict[str, Any]
TARGETS = [(f, task) for f in built_in().values() if f.writes for task in f.manifest.tasks if task != "pretrain"]
OPTIONS = {"data_source": "own", "bucket_owner": "1", "media_prefix": "s3://b", "metadata": "extras"}


@pytest.mark.parametrize("format", [f for f in READABLE if f.manifest.brings is not None], ids=lambda f: f.id)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_reader_brings_only_what_its_manifest_says(format: Format, data: st.DataObject) -> None:
    columns = st.sampled_from(sorted(format.manifest.columns.values()))
    row = data.draw(st.dictionaries(columns | words, values, max_size=6))
    for task in format.manifest.tasks:
        try:
            sample = format.reader.read_row(row, constants(format, task, "read"))
        except RowError:
            continue
        assert find_features(sample) <= set(format.manifest.brings or ())


@st.composite
def rich_samples(draw: st.DrawFn, task: str) -> Row:
    """Samples with a bit of everything, in which each text is a word of its own: w1, w2, …"""
    numbers = itertools.count(1)

    def word() -> str:
        return f"w{next(numbers)}w"

    def maybe(one_in: int = 4) -> bool:
        return draw(st.integers(1, one_in)) == 1

    def answer() -> Row:
        message: Row = {"role": "assistant", "content": word()}
        for key, make in ANSWER_KEYS.items():
            if maybe(8):
                message[key] = make(word)
        return message

    messages: list[Row] = [{"role": "system", "content": word()}] if maybe(2) else []
    for turn in range(draw(st.integers(0, 2))):
        messages.append(question(word, maybe))
        if maybe(3):
            ids = [f"call_{turn}_{n}" for n in range(draw(st.integers(1, 2)))]
            calls = [{"id": i, "name": "look_up", "arguments": {"q": word()}} for i in ids]
            content = word() if maybe(8) else ""
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            results = [{"role": "tool", "content": word(), "tool_call_id": i} for i in ids]
            messages.extend(draw(st.permutations(results)))
        messages.append(answer())
    messages.append(question(word, maybe))
    sample: Row = {"task": task, "messages": messages}
    if maybe(2) or any("tool_calls" in message for message in messages):
        parameters = {"type": "object", "properties": {"q": {"type": "string", "description": word()}}}
        function = {"name": "look_up", "description": word(), "parameters": parameters}
        sample["tools"] = [{"type": "function", "function": function}]
    if task == "sft":
        messages.append(answer())
    elif task == "preference":
        sample["chosen"], sample["rejected"] = [answer()], [answer()]
    elif task == "kto":
        sample["completion"], sample["label"] = [answer()], draw(st.booleans())
    elif maybe(2):
        sample["answer"] = word()
    if maybe(2):
        keys = draw(st.lists(st.sampled_from(["id", "topic", "messages", "text", "prompt", "tools"]), unique=True))
        sample["extra"] = {key: word() for key in keys}
    return sample


ANSWER_KEYS: dict[str, Callable[[Callable[[], str]], Any]] = {
    "thinking": lambda word: word(),
    "name": lambda word: word(),
    "other": lambda word: {"mood": word()},
}


def question(word: Callable[[], str], maybe: Callable[[int], bool]) -> Row:
    if maybe(8):
        parts: list[Row] = [{"type": "text", "text": word()}, {"type": "image", "source": f"{word()}.png"}]
        return {"role": "user", "content": parts}
    if maybe(8):
        return {"role": "user", "content": [{"type": "text", "text": word()}, {"type": "text", "text": word()}]}
    return {"role": "user", "content": word()}


def words_of(value: Any) -> set[str]:
    return set(re.findall(r"w\d+w", json.dumps(value)))


@pytest.mark.parametrize(("format", "task"), TARGETS, ids=lambda value: value if isinstance(value, str) else value.id)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_text_of_a_sample_is_in_the_row(format: Format, task: str, data: st.DataObject) -> None:
    sample = data.draw(rich_samples(task))
    target = Constants(task, format.manifest.columns, options=options_of(format, "write", OPTIONS))
    steps = Steps(
        read_row=lambda row, c: row,
        source=Constants(task),
        adapt=None,
        take="",
        write_row=format.writer.write_row,
        target=target,
        target_id=format.id,
        unheld=frozenset(FEATURES) - frozenset(format.manifest.supports),
    )
    listed = set() if format.manifest.extra == "carried" else words_of(sample.get("extra", {}))
    try:
        (held,) = read_samples(sample, steps)
        row = format.writer.write_row(held, target)
    except (RowError, SetAside):
        return
    assert words_of(sample) - words_of(row) <= listed


def read(format_id: str, row: Row, task: str, columns: dict[str, str] | None = None, **more: Any) -> Row:
    format = find_format(format_id)
    c = Constants(
        task, columns or format.manifest.columns, tags=TURN_TAGS, options=options_of(format, "read", {}), **more
    )
    sample: Row = format.reader.read_row(row, c)
    return sample


TURN = {"from": "human", "value": "q"}
CHAT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


def called(text: str) -> Row:
    return {"conversations": [TURN, {"from": "function_call", "value": text}]}


def answered(**more: Any) -> Row:
    return {"messages": [CHAT[0], {**CHAT[1], **more}]}


TWO_IDS = {
    "id": 1,
    "input": {"messages": CHAT[:1], "id": 2},
    "preferred_output": CHAT[1:],
    "non_preferred_output": CHAT[1:],
}
PICTURE = {
    "conversations": [TURN],
    "chosen": {"from": "gpt", "value": "<image>"},
    "rejected": {"from": "gpt", "value": "r"},
    "images": ["a.png"],
}
PART = {"type": "text", "text": "a", "cache_control": {}}
LOSSES: list[tuple[str, str, Row, str, str]] = [
    ("a call without arguments", "sharegpt", called('{"name": "f", "parameters": {}}'), "sft", "DS210"),
    ("a call with more than that", "sharegpt", called('{"name": "f", "arguments": {}, "x": 1}'), "sft", "DS210"),
    ("two kinds of reasoning", "openai", answered(reasoning="x", reasoning_content="y"), "sft", "DS217"),
    ("two kinds of calls", "openai", answered(function_call={"name": "f"}, tool_calls=[{"name": "g"}]), "sft", "DS217"),
    ("a part with two things", "openai", {"messages": [{"role": "user", "content": [PART]}]}, "sft", "DS216"),
    ("two different ids", "openai-dpo", TWO_IDS, "preference", "DS310"),
    ("messages beside a completion", "sagemaker-sft", {"messages": CHAT, "completion": "x"}, "sft", "DS203"),
    ("a picture in one of two answers", "sharegpt", PICTURE, "preference", "DS208"),
]


@pytest.mark.parametrize(("name", "format_id", "row", "task", "code"), LOSSES, ids=[case[0] for case in LOSSES])
def test_what_would_be_lost_in_reading_is_a_row_error(
    name: str, format_id: str, row: Row, task: str, code: str
) -> None:
    with pytest.raises(RowError) as caught:
        read(format_id, row, task)
    assert caught.value.code == code


def test_two_columns_cannot_be_carried_under_one_name() -> None:
    with pytest.raises(RowError) as caught:
        read("pretrain", {"text": "t", "topic": "T", "category": "C"}, "pretrain", extras={"topic": "category"})
    assert caught.value.code == "DS310"
