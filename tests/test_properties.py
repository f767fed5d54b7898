"""What holds for every format, whatever the rows."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.formats import Format, built_in, options_of
from dsreg.notes import Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.tasks import FEATURES, TASKS

Row = dict[str, Any]
FORMATS = list(built_in().values())
READABLE = [format for format in FORMATS if format.reads]
BOTH_WAYS = [(format, task) for format in READABLE if format.writes for task in format.manifest.tasks]

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
words = st.sampled_from(
    "role content from value user human assistant gpt system tool observation function_call text type image_url "
    "tool_calls function name arguments id messages {} [] <image> weight label answer ground_truth style".split()
)
values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def constants(format: Format, task: str, side: str, *, bare: bool = False) -> Constants:
    needed = {
        name: "x" for name, option in format.manifest.options.items() if option.default == "" and not option.choices
    }
    return Constants(task, format.manifest.columns, {}, TURN_TAGS, options_of(format, side, {} if bare else needed))


@pytest.mark.parametrize("format", READABLE, ids=lambda format: format.id)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_row_is_a_sample_or_a_row_error(format: Format, data: st.DataObject) -> None:
    columns = st.sampled_from(sorted(format.manifest.columns.values()))
    row = data.draw(st.dictionaries(columns | words, values, max_size=6))
    for task in format.manifest.tasks:
        before = copy.deepcopy(row)
        try:
            sample = format.reader.read_row(row, constants(format, task, "read"))
        except RowError as error:
            assert error.code.startswith("DS2") or error.code.startswith("DS3")
            assert isinstance(error.path, str) and error.message
        else:
            check_sample(sample, task)
        assert row == before, "a reader must not change its row"


def check_sample(sample: Row, task: str) -> None:
    assert sample["task"] == task
    assert task in TASKS
    for key in ("messages", "chosen", "rejected", "completion"):
        for message in sample.get(key, ()):
            assert message["role"] in ("system", "user", "assistant", "tool")
            assert isinstance(message["content"], (str, list))
            for call in message.get("tool_calls", ()):
                assert isinstance(call["name"], str) and isinstance(call["id"], str)
    if task == "pretrain":
        assert isinstance(sample["text"], str)
    if task == "kto":
        assert isinstance(sample["label"], bool)


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@st.composite
def dialogues(draw: st.DrawFn) -> list[Row]:
    messages: list[Row] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(texts)})
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": "user", "content": draw(texts)})
        if draw(st.booleans()):
            calls = draw(st.integers(1, 2))
            ids = [f"call_{len(messages)}_{n}" for n in range(calls)]
            arguments = draw(st.dictionaries(texts, st.integers(-9, 9) | texts, max_size=2))
            messages.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": call_id, "name": "look_up", "arguments": arguments} for call_id in ids],
                }
            )
            messages.extend({"role": "tool", "content": draw(texts), "tool_call_id": call_id} for call_id in ids)
        messages.append({"role": "assistant", "content": draw(texts)})
    return [*messages, {"role": "user", "content": draw(texts)}]


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look a word up",
            "parameters": {"type": "object", "properties": {"word": {"type": "string"}}},
        },
    }
]


@st.composite
def samples(draw: st.DrawFn, task: str) -> Row:
    messages = draw(dialogues())
    if task == "pretrain":
        return {"task": task, "text": draw(texts)}
    sample: Row = {"task": task, "messages": messages}
    if any("tool_calls" in message for message in messages):
        sample["tools"] = TOOLS
    if task == "sft":
        messages.append({"role": "assistant", "content": draw(texts)})
    elif task == "preference":
        sample["chosen"] = [{"role": "assistant", "content": draw(texts)}]
        sample["rejected"] = [{"role": "assistant", "content": draw(texts)}]
    elif task == "kto":
        sample["completion"] = [{"role": "assistant", "content": draw(texts)}]
        sample["label"] = draw(st.booleans())
    elif draw(st.booleans()):
        sample["answer"] = draw(texts)
    if draw(st.booleans()):
        sample["extra"] = {"data_source": draw(texts), "id": draw(texts)}
    return sample


@st.composite
def hollow_samples(draw: st.DrawFn, task: str) -> Row:
    """Samples that may lack every message somewhere, or have some blank."""
    sample = draw(samples(task))
    for key in ("messages", "chosen", "rejected", "completion"):
        if key in sample and draw(st.booleans()):
            sample[key] = draw(st.sampled_from([[], sample[key][:1], sample[key][-1:]]))
    return sample


WRITTEN = [(format, task) for format in FORMATS if format.part("advise") for task in format.manifest.tasks]


@pytest.mark.parametrize(("format", "task"), WRITTEN, ids=lambda value: value if isinstance(value, str) else value.id)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_written_row_can_be_observed(format: Format, task: str, data: st.DataObject) -> None:
    target, advise, notes = constants(format, task, "write"), format.part("advise"), Notes()
    assert advise is not None
    written = 0
    for sample in data.draw(st.lists(hollow_samples(task), min_size=1, max_size=3)):
        try:
            row = format.writer.write_row(sample, target)
        except RowError:
            continue
        written += 1
        advise.observe(row, written, notes, target)
    assert all(advice.code.startswith("DS4") and advice.message for advice in advise.advise(notes, written, target))


@pytest.mark.parametrize(("format", "task"), BOTH_WAYS, ids=lambda value: value if isinstance(value, str) else value.id)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_written_is_read_back(format: Format, task: str, data: st.DataObject) -> None:
    """write(read(write(x))) == write(x), as JSON."""
    sample = data.draw(samples(task))
    reader, writer = constants(format, task, "read"), constants(format, task, "write")
    try:
        row = format.writer.write_row(sample, writer)
    except RowError:
        return
    text = json.dumps(row, sort_keys=True)
    again = format.writer.write_row(format.reader.read_row(json.loads(text), reader), writer)
    assert json.dumps(again, sort_keys=True) == text


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.id)
def test_the_example_is_what_the_writer_writes(format: Format) -> None:
    examples = format.examples()
    assert len(examples) >= 2
    if not (format.reads and format.writes):
        return
    for row in examples:
        task = next(
            task
            for task, needs in format.manifest.needs.items()
            if all(format.manifest.columns[n] in row for n in needs)
        )
        sample = format.reader.read_row(row, constants(format, task, "read", bare=True))
        assert format.writer.write_row(sample, constants(format, task, "write", bare=True)) == row


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.id)
def test_the_manifest_speaks_known_words(format: Format) -> None:
    manifest = format.manifest
    assert set(manifest.supports) <= set(FEATURES)
    assert set(manifest.by_column) <= set(manifest.columns) & set(FEATURES)
    assert set(manifest.needs) <= set(manifest.tasks) if format.reads else True
    for needed in manifest.needs.values():
        assert set(needed) <= set(manifest.columns)
