"""OpenAI's files: openai (supervised), openai-dpo, openai-rft, and the chat messages they share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.formats import find_format, options_of
from dsreg.notes import Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

Row = dict[str, Any]
CASES = Path(__file__).parent / "openai_cases"
TASKS = {"openai": "sft", "openai-dpo": "preference", "openai-rft": "prompt"}


def user(content: Any) -> Row:
    return {"role": "user", "content": content}


def bot(content: Any, **more: Any) -> Row:
    return {"role": "assistant", "content": content, **more}


def system(content: str) -> Row:
    return {"role": "system", "content": content}


def result(content: str, **more: Any) -> Row:
    return {"role": "tool", "content": content, **more}


def read(id: str, row: Row, task: str = "") -> Row:
    format = find_format(id)
    c = Constants(task or TASKS[id], format.manifest.columns, options=options_of(format, "read", {}))
    sample: Row = format.reader.read_row(row, c)
    return sample


def write(id: str, sample: Row, **options: Any) -> Row:
    format = find_format(id)
    c = Constants(sample["task"], format.manifest.columns, options=options_of(format, "write", options))
    row: Row = format.writer.write_row(sample, c)
    return row


def messages_of(*messages: Row) -> list[Row]:
    """What the messages of a supervised row are read as."""
    read_messages: list[Row] = read("openai", {"messages": list(messages)})["messages"]
    return read_messages


def rows_of(name: str) -> list[Row]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def function_call(arguments: Any, id: str | None = "c") -> Row:
    call: Row = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    return call if id is None else {"id": id, **call}


def call(arguments: Any, id: str = "c") -> Row:
    return {"id": id, "name": "f", "arguments": arguments}


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

MESSAGES: list[tuple[str, Row, Row]] = [
    ("a developer is the system", {"role": "developer", "content": "x"}, system("x")),
    ("null keys are absent", bot("b", name=None, tool_calls=None, weight=None), bot("b")),
    ("no calls are no calls", bot("b", tool_calls=[]), bot("b")),
    ("empty names and ids name nobody", user("a") | {"name": "", "tool_call_id": ""}, user("a")),
    ("a weight", bot("b", weight=0), bot("b", weight=0)),
    ("null text beside a call", bot(None, tool_calls=[function_call("{}")]), bot("", tool_calls=[call({})])),
    ("no text beside a call", {"role": "assistant", "tool_calls": [function_call("")]}, bot("", tool_calls=[call({})])),
    ("text beside a call", bot("b", tool_calls=[function_call({"x": 1})]), bot("b", tool_calls=[call({"x": 1})])),
    (
        "a call without an id",
        bot("", tool_calls=[function_call("{}", None)]),
        bot("", tool_calls=[call({}, "call_0_0")]),
    ),
    (
        "the older single call, beside a list that a struct filled",
        bot(None, tool_calls=[], function_call={"name": "f", "arguments": "{}"}),
        bot("", tool_calls=[call({}, "call_0_0")]),
    ),
    ("reasoning", bot("b", reasoning_content="r"), bot("b", thinking="r")),
    ("further keys", bot("b", refusal="no", audio=None), bot("b", other={"refusal": "no"})),
    ("a single text part", user([{"type": "text", "text": "a"}]), user("a")),
    (
        "an image",
        user([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}]),
        user([{"type": "text", "text": "a"}, {"type": "image", "source": "u"}]),
    ),
]


@pytest.mark.parametrize(("raw", "message"), [case[1:] for case in MESSAGES], ids=[case[0] for case in MESSAGES])
def test_reads_a_message(raw: Row, message: Row) -> None:
    assert messages_of(raw) == [message]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ',
        "[1]",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": "\\ud83d"}',
        "[" * 100_000,
    ],
)
def test_arguments_that_would_not_come_back_stay_text(text: str) -> None:
    """Nothing is lost, and what cannot be written as JSON never reaches the output as a value."""
    (message,) = messages_of(bot("", tool_calls=[function_call(text)]))
    assert message["tool_calls"][0]["arguments"] == text
    written = write("openai", {"task": "sft", "messages": [user("a"), message]})
    assert written["messages"][1]["tool_calls"][0]["function"]["arguments"] == text


def test_results_without_an_id_answer_the_calls_in_order() -> None:
    calls = [function_call("{}", None), function_call("{}", None)]
    read_messages = messages_of(user("a"), bot("", tool_calls=calls), result("x"), result("y"), bot("z"))
    assert [message.get("tool_call_id") for message in read_messages] == [None, None, "call_1_0", "call_1_1", None]


def test_the_older_function_message_answers_the_call_before_it() -> None:
    answer = {"role": "function", "name": "f", "content": "4"}
    asked = bot(None, function_call={"name": "f", "arguments": "{}"})
    assert messages_of(user("a"), asked, answer)[2] == result("4", tool_call_id="call_1_0", name="f")


def test_a_result_with_an_id_keeps_it() -> None:
    read_messages = messages_of(bot("", tool_calls=[function_call("{}")]), result("x"), result("y", tool_call_id="z"))
    assert [message.get("tool_call_id") for message in read_messages[1:]] == ["c", "z"]


REFUSED: list[tuple[str, Row, str, str]] = [
    ("openai", {"messages": [{"role": "human", "content": "a"}]}, "DS206", "messages[0].role"),
    ("openai", {"messages": [{"role": ["user"], "content": "a"}]}, "DS204", "messages[0].role"),
    ("openai", {"messages": [user(None)]}, "DS204", "messages[0].content"),
    ("openai", {"messages": [bot(None)]}, "DS204", "messages[0].content"),
    ("openai", {"messages": [bot("b", weight=0.5)]}, "DS204", "messages[0].weight"),
    ("openai", {"messages": [bot("b", weight=True)]}, "DS204", "messages[0].weight"),
    ("openai", {"messages": [user("a") | {"tool_calls": [function_call("{}")]}]}, "DS206", "messages[0].tool_calls"),
    ("openai", {"messages": [user("a") | {"reasoning_content": "r"}]}, "DS206", "messages[0].reasoning_content"),
    (
        "openai",
        {"messages": [bot("", tool_calls=[{"id": "c", "function": {}}])]},
        "DS204",
        "messages[0].tool_calls[0].function.name",
    ),
    ("openai", {"messages": {}}, "DS204", "messages"),
    ("openai", {"conversations": []}, "DS203", "messages"),
    ("openai", {"messages": [bot("b")], "tools": '[{"a": 1, "a": 2}]'}, "DS209", "tools"),
    ("openai-dpo", {"prompt": "a", "chosen": "b", "rejected": "c"}, "DS203", "input"),
    ("openai-dpo", {"input": {"messages": [user("a")]}}, "DS203", ""),
    ("openai-dpo", {"input": {}, "preferred_output": []}, "DS204", "input.messages"),
    (
        "openai-dpo",
        {"input": {"messages": [user("a")]}, "preferred_output": [user("b")], "non_preferred_output": [bot("c")]},
        "DS202",
        "preferred_output[0].role",
    ),
    (
        "openai-dpo",
        {"input": {"messages": [user("a")]}, "preferred_output": [bot("b")], "preferred_completion": [bot("b")]},
        "DS203",
        "preferred_output",
    ),
    ("openai-rft", {"prompt": "a"}, "DS203", "messages"),
]


@pytest.mark.parametrize(("id", "row", "code", "path"), REFUSED)
def test_refuses_on_reading(id: str, row: Row, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert (caught.value.code, caught.value.path) == (code, path)


def test_nulls_that_fill_a_tool_description_are_left_out() -> None:
    """Arrow gives every struct the same keys; null is a value only where JSON Schema says so."""
    schema = {
        "type": "object",
        "description": None,
        "properties": {
            "city": {"type": "string", "default": None, "enum": ["a", None], "x-note": None, "format": None},
            "default": None,
        },
        "examples": [None],
    }
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema, "strict": None}}]
    sample = read("openai", {"messages": [bot("b")], "tools": tools})
    assert sample["tools"][0]["function"] == {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "default": None, "enum": ["a", None], "x-note": None}},
            "examples": [None],
        },
    }


def test_functions_are_what_tools_were() -> None:
    sample = read("openai", {"messages": [user("a"), bot("b")], "functions": [{"name": "f"}]})
    assert write("openai", sample)["tools"] == [{"type": "function", "function": {"name": "f"}}]
    assert "extra" not in sample
    assert read("openai", {"messages": [user("a"), bot("b")], "functions": "walks"})["extra"] == {"functions": "walks"}


def sft(*messages: Row, **more: Any) -> Row:
    return {"task": "sft", "messages": list(messages), **more}


ASKED = bot("", tool_calls=[call({})])
BOTH = bot("", tool_calls=[call({}, "c"), call({}, "d")])
UNWRITABLE: list[tuple[str, Row, str, str]] = [
    ("openai", sft(), "DS302", "messages"),
    ("openai", sft(user("a")), "DS302", "messages"),
    ("openai", sft(user("a"), ASKED, bot("b")), "DS306", "messages[2]"),
    ("openai", sft(user("a"), ASKED, user("b"), result("r", tool_call_id="c")), "DS306", "messages[2]"),
    ("openai", sft(user("a"), BOTH, result("r", tool_call_id="c"), bot("b")), "DS306", "messages[3]"),
    ("openai", sft(user("a"), result("r", tool_call_id="c"), bot("b")), "DS306", "messages[1].tool_call_id"),
    ("openai", sft(user("a"), ASKED, result("r", tool_call_id="z"), bot("b")), "DS306", "messages[2].tool_call_id"),
    ("openai", sft(user("a"), result("r"), bot("b")), "DS306", "messages[1].tool_call_id"),
    (
        "openai",
        sft(user("a"), ASKED, result("r", tool_call_id="c"), result("s", tool_call_id="c")),
        "DS306",
        "messages[3].tool_call_id",
    ),
    ("openai", sft({**user("a"), "weight": 1}, bot("b")), "DS310", "messages[0].weight"),
    ("openai", sft(user("a"), bot("b"), tools=[{"type": "function"}]), "DS306", "tools[0]"),
    ("openai", sft(user("a"), bot("b"), tools=[{"function": None}]), "DS306", "tools[0]"),
]


@pytest.mark.parametrize(("id", "sample", "code", "path"), UNWRITABLE)
def test_refuses_on_writing(id: str, sample: Row, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        write(id, sample)
    assert (caught.value.code, caught.value.path) == (code, path)


@pytest.mark.parametrize(
    "messages",
    [
        [user("a"), ASKED],
        [user("a"), BOTH, result("s", tool_call_id="d"), result("r", tool_call_id="c"), bot("b")],
        [user("a"), BOTH, result("r", tool_call_id="c")],
        [user("a"), ASKED, result("r", tool_call_id="c"), ASKED, result("r", tool_call_id="c"), bot("b")],
    ],
)
def test_only_the_end_of_a_row_leaves_calls_open(messages: list[Row]) -> None:
    assert len(write("openai", sft(*messages))["messages"]) == len(messages)


def test_writes_text_and_calls_as_the_api_has_them() -> None:
    row = write(
        "openai", sft(user("a"), bot("I look.", tool_calls=[call({"q": "é"})]), extra={"parallel_tool_calls": False})
    )
    assert row["messages"][1]["content"] == "I look."
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"q": "é"}'
    assert row["parallel_tool_calls"] is False
    assert write("openai", sft(user("a"), ASKED))["messages"][1]["content"] is None


# Line by line: the code a row is refused with, on reading or on writing, or None where it is accepted (and made right).
VERDICTS: list[tuple[str, str, list[str | None]]] = [
    ("openai", "oa_chat_good.jsonl", [None] * 5),
    (
        "openai",
        "oa_chat_bad.jsonl",
        ["DS302", "DS204", None, "DS206", "DS204", "DS302", None, None, None, None, "DS203"],
    ),
    ("openai-dpo", "oa_dpo_good.jsonl", [None]),
    ("openai-dpo", "oa_dpo_bad.jsonl", ["DS203", "DS204", "DS302", None, "DS202"]),
    ("openai-rft", "oa_rft_bad.jsonl", [None, "DS203"]),
    ("openai-dpo", "tg_pref.jsonl", [None]),
    ("openai-dpo", "tg_pref_completion_names.jsonl", [None]),
    ("openai-dpo", "tg_pref_last_assistant.jsonl", ["DS302"]),
    ("openai-dpo", "tg_pref_two_msgs.jsonl", ["DS302"]),
    ("openai", "os_developer.jsonl", [None]),
    ("openai", "os_empty_messages.jsonl", ["DS302"]),
    ("openai", "os_openai_mm.jsonl", [None]),
    ("openai", "os_tool_calls.jsonl", [None]),
    ("openai", "bug39.jsonl", [None]),
    ("openai", "bug42.jsonl", ["DS306", "DS306"]),
]


def outcome(id: str, row: Row) -> str | None:
    try:
        write(id, read(id, row))
    except RowError as error:
        return error.code
    return None


@pytest.mark.parametrize(("id", "name", "codes"), VERDICTS)
def test_recorded_verdicts(id: str, name: str, codes: list[str | None]) -> None:
    assert [outcome(id, row) for row in rows_of(name)] == codes


def test_rows_of_the_bad_file_that_are_read_are_written_right() -> None:
    """OpenAI refuses them; their meaning is plain: arguments as an object, a flat tool, null or no calls, developer."""
    rows = rows_of("oa_chat_bad.jsonl")
    written = [write("openai", read("openai", rows[i])) for i in (2, 6, 7, 8, 9)]
    assert written[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert written[1]["tools"] == [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert written[2]["messages"] == written[3]["messages"] == [user("a"), bot("b")]
    assert written[4]["messages"][0] == system("x")


PAIR: Row = {"task": "preference", "messages": [user("a")], "chosen": [bot("b")], "rejected": [bot("c")]}


def test_preference_rows_under_both_names() -> None:
    given_messages = {"messages": [user("a")], "tools": [], "parallel_tool_calls": True}
    for word in ("output", "completion"):
        row = {"input": given_messages, f"preferred_{word}": [bot("b")], f"non_preferred_{word}": [bot("c")]}
        sample = read("openai-dpo", row)
        assert sample == {**PAIR, "extra": {"parallel_tool_calls": True}}
        assert write("openai-dpo", sample) == {
            "input": {"messages": [user("a")], "parallel_tool_calls": True},
            "preferred_output": [bot("b")],
            "non_preferred_output": [bot("c")],
        }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"messages": []}, "DS302"),
        ({"messages": [user("a"), bot("b")]}, "DS302"),
        ({"messages": [user("a"), ASKED]}, "DS302"),
        ({"messages": [user("a"), BOTH, result("r", tool_call_id="c")]}, "DS306"),
        ({"chosen": [bot("b"), bot("d")]}, "DS302"),
        ({"rejected": [result("r", tool_call_id="c")]}, "DS302"),
        ({"extra": {"parallel_tool_calls": "yes"}}, "DS310"),
    ],
)
def test_preference_rows_that_cannot_be_written(change: Row, code: str) -> None:
    with pytest.raises(RowError) as caught:
        write("openai-dpo", {**PAIR, **change})
    assert caught.value.code == code


PROMPT: Row = {"task": "prompt", "messages": [system("s"), user("a")], "answer": "4"}


def test_reinforcement_rows() -> None:
    sample = read("openai-rft", {"messages": [system("s"), user("a")], "reference_answer": "4", "level": 2})
    assert sample == {**PROMPT, "extra": {"level": 2}}
    developer = {"role": "developer", "content": "s"}
    assert write("openai-rft", sample) == {"level": 2, "messages": [developer, user("a")], "reference_answer": "4"}
    assert write("openai-rft", PROMPT, system_role="system")["messages"][0] == system("s")
    assert write("openai-rft", PROMPT, answer_key="solution")["solution"] == "4"
    assert "answer" not in read("openai-rft", {"messages": [user("a")], "reference_answer": None})


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        ({"messages": []}, {}, "DS302"),
        ({"messages": [user("a"), bot("b")]}, {}, "DS302"),
        ({"extra": {"reference_answer": "5"}}, {}, "DS307"),
        ({}, {"answer_key": "messages"}, "DS307"),
    ],
)
def test_reinforcement_rows_that_cannot_be_written(change: Row, options: Row, code: str) -> None:
    with pytest.raises(RowError) as caught:
        write("openai-rft", {**PROMPT, **change}, **options)
    assert caught.value.code == code


def advice_of(id: str, samples: list[Row]) -> list[str]:
    part = find_format(id).part("advise")
    assert part is not None
    c, notes = Constants(TASKS[id]), Notes()
    for number, sample in enumerate(samples, 1):
        part.observe(write(id, sample), number, notes, c)
    return [advice.code for advice in part.advise(notes, len(samples), c)]


PLAIN = sft(user("a"), bot("b"))


@pytest.mark.parametrize(
    ("id", "samples", "codes"),
    [
        ("openai", [PLAIN] * 10, []),
        ("openai", [PLAIN] * 9, ["DS401"]),
        ("openai", [*[PLAIN] * 9, sft(user("a"), ASKED, result("r", tool_call_id="c"))], ["DS408"]),
        ("openai", [*[PLAIN] * 9, sft(user("a"), bot("", tool_calls=[call("{bad")]))], ["DS409"]),
        ("openai-dpo", [PAIR] * 9, ["DS401"]),
        ("openai-dpo", [PAIR] * 10, []),
        ("openai-rft", [PROMPT] * 9, ["DS401"]),
        ("openai-rft", [PROMPT] * 10, []),
    ],
)
def test_advises(id: str, samples: list[Row], codes: list[str]) -> None:
    assert advice_of(id, samples) == codes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image_url", "image", "input_audio"]) | JSON},
    optional={"text": st.text(max_size=2) | JSON, "image_url": st.just({"url": "u"}) | JSON, "image": JSON},
)
CALLS = st.lists(
    st.just(function_call("{}")) | st.builds(function_call, st.text(max_size=3) | JSON, st.none()), max_size=2
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "assistant", "tool", "function"]) | JSON,
        "content": st.text(max_size=3) | st.lists(PART, max_size=2) | JSON,
    },
    optional={
        "tool_calls": CALLS | JSON,
        "function_call": JSON,
        "tool_call_id": st.just("c") | JSON,
        "name": JSON,
        "weight": st.integers(0, 1) | JSON,
        "reasoning_content": JSON,
        "more": JSON,
    },
)
MESSAGES_VALUE = st.lists(MESSAGE, max_size=4) | JSON
INPUT = (
    st.fixed_dictionaries({"messages": MESSAGES_VALUE}, optional={"tools": JSON, "parallel_tool_calls": JSON}) | JSON
)


@pytest.mark.parametrize(
    ("id", "task"),
    [("openai", task) for task in ("sft", "preference", "kto", "prompt")]
    + [("openai-dpo", "preference"), ("openai-rft", "prompt")],
)
@given(data=st.data())
def test_any_row_is_read_or_refused_and_writing_is_stable(id: str, task: str, data: st.DataObject) -> None:
    columns = dict.fromkeys([*find_format(id).manifest.columns.values(), "functions", "other"], MESSAGES_VALUE)
    columns |= {name: INPUT for name in columns if name == "input"}
    columns |= {name: st.booleans() for name in columns if name == "label"}
    row = data.draw(st.fixed_dictionaries({}, optional=columns))
    try:
        written = write(id, read(id, row, task))
    except RowError:
        return
    assert write(id, read(id, written, task)) == written


@pytest.mark.parametrize("id", TASKS)
def test_example_comes_back(id: str) -> None:
    rows = find_format(id).examples()
    assert [write(id, read(id, row)) for row in rows] == rows


def test_an_answer_needs_a_question() -> None:
    sample = {"task": "preference", "messages": [], "chosen": [bot("a")], "rejected": [bot("b")]}
    with pytest.raises(RowError) as error:
        write("openai", sample)
    assert (error.value.code, error.value.path) == ("DS302", "messages")
