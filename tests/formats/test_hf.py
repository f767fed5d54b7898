"""Rows of Hugging Face and TRL: hf-prompt-completion, hf-preference, hf-kto."""

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
CASES = Path(__file__).parent / "hf_cases"
TASKS = {"hf-prompt-completion": "sft", "hf-preference": "preference", "hf-kto": "kto"}


def user(content: str) -> Row:
    return {"role": "user", "content": content}


def bot(content: str, **more: Any) -> Row:
    return {"role": "assistant", "content": content, **more}


def system(content: str) -> Row:
    return {"role": "system", "content": content}


def read(id: str, row: Row) -> Row:
    format = find_format(id)
    c = Constants(TASKS[id], format.manifest.columns, options=options_of(format, "read", {}))
    sample: Row = format.reader.read_row(row, c)
    return sample


def write_all(id: str, samples: list[Row], style: str = "auto") -> list[Row]:
    """Write as a conversion does: a survey if the writer wants one, then the rows."""
    format = find_format(id)
    writer = format.writer
    c = Constants(TASKS[id], format.manifest.columns, options=options_of(format, "write", {"style": style}))
    if writer.survey_needed(c):
        notes = Notes()
        for sample in samples:
            writer.survey(sample, c, notes)
        writer.decide(notes, c)
    return [writer.write_row(sample, c) for sample in samples]


def sft(*messages: Row, **more: Any) -> Row:
    return {"task": "sft", "messages": list(messages), **more}


def rows_of(name: str) -> list[Row]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


CALL = {"id": "call_1_0", "name": "clock", "arguments": {"city": "Lima"}}
CALL_ROW = {"id": "call_1_0", "type": "function", "function": {"name": "clock", "arguments": {"city": "Lima"}}}
TOOL = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}

READ = [
    (
        "hf-prompt-completion",
        {"prompt": "What ends a question?", "completion": "?"},
        sft(user("What ends a question?"), bot("?")),
    ),
    (
        "hf-prompt-completion",
        {"prompt": [user("你好")], "completion": [bot("你好！")], "topic": "greeting"},
        sft(user("你好"), bot("你好！"), extra={"topic": "greeting"}),
    ),
    (
        "hf-prompt-completion",
        {"system": "Be kind.", "prompt": "Hi", "completion": "Hello"},
        sft(system("Be kind."), user("Hi"), bot("Hello")),
    ),
    (
        "hf-prompt-completion",
        {"system": None, "tools": None, "prompt": "Hi", "completion": ""},
        sft(user("Hi"), bot("")),
    ),
    (
        "hf-prompt-completion",
        {"prompt": [user("Time?")], "completion": [bot("", tool_calls=[CALL_ROW])], "tools": json.dumps([TOOL])},
        sft(user("Time?"), bot("", tool_calls=[CALL]), tools=[TOOL]),
    ),
    (
        "hf-preference",
        {"prompt": "The sky is", "chosen": "blue", "rejected": "green"},
        {"messages": [user("The sky is")], "chosen": [bot("blue")], "rejected": [bot("green")]},
    ),
    (
        "hf-preference",
        {"prompt": [user("Sky?")], "chosen": [bot("It is blue.")], "rejected": [bot("It is green.")]},
        {"messages": [user("Sky?")], "chosen": [bot("It is blue.")], "rejected": [bot("It is green.")]},
    ),
    (
        "hf-preference",  # implicit: the space before the first difference goes to the answers
        {"chosen": "The sky is blue", "rejected": "The sky is green"},
        {"messages": [user("The sky is")], "chosen": [bot(" blue")], "rejected": [bot(" green")]},
    ),
    (
        "hf-preference",  # identical texts: the last character is left as the answer, as TRL does it
        {"chosen": "abc", "rejected": "abc"},
        {"messages": [user("ab")], "chosen": [bot("c")], "rejected": [bot("c")]},
    ),
    (
        "hf-preference",
        {
            "prompt": None,
            "chosen": [system("s"), user("a"), bot("b"), user("c"), bot("d")],
            "rejected": [system("s"), user("a"), bot("b"), user("c"), bot("e")],
        },
        {"messages": [system("s"), user("a"), bot("b"), user("c")], "chosen": [bot("d")], "rejected": [bot("e")]},
    ),
    (
        "hf-preference",  # one answer begins like the other: each keeps one message at least
        {"chosen": [user("a"), bot("b")], "rejected": [user("a"), bot("b"), bot("c")]},
        {"messages": [user("a")], "chosen": [bot("b")], "rejected": [bot("b"), bot("c")]},
    ),
    (
        "hf-kto",
        {"prompt": "a", "completion": "b", "label": True},
        {"messages": [user("a")], "completion": [bot("b")], "label": True},
    ),
    (
        "hf-kto",  # TRL takes the numbers too
        {"prompt": [user("a")], "completion": [bot("b")], "label": 0},
        {"messages": [user("a")], "completion": [bot("b")], "label": False},
    ),
]


@pytest.mark.parametrize(("id", "row", "sample"), READ)
def test_reads(id: str, row: Row, sample: Row) -> None:
    assert read(id, row) == {"task": TASKS[id], **sample}


REFUSED = [
    ("hf-prompt-completion", {"prompt": "a"}, "DS203", "completion"),
    ("hf-prompt-completion", {"prompt": "a", "completion": None}, "DS204", "completion"),
    ("hf-prompt-completion", {"prompt": "a", "completion": 7}, "DS204", "completion"),
    ("hf-prompt-completion", {"prompt": [user("a")], "completion": "b"}, "DS204", "prompt"),
    ("hf-prompt-completion", {"prompt": "a", "completion": [bot("b")]}, "DS204", "completion"),
    ("hf-prompt-completion", {"prompt": [], "completion": [bot("b")]}, "DS202", "prompt"),
    ("hf-prompt-completion", {"prompt": [user("a")], "completion": []}, "DS202", "completion"),
    ("hf-prompt-completion", {"prompt": [user("a")], "completion": [user("b")]}, "DS202", "completion"),
    (
        "hf-prompt-completion",
        {"prompt": [{"from": "human", "value": "a"}], "completion": [bot("b")]},
        "DS204",
        "prompt[0].role",
    ),
    ("hf-prompt-completion", {"prompt": "a", "completion": "b", "system": 3}, "DS204", "system"),
    (
        "hf-prompt-completion",
        {"prompt": [system("x"), user("a")], "completion": [bot("b")], "system": "y"},
        "DS211",
        "system",
    ),
    ("hf-prompt-completion", {"prompt": "a", "completion": "b", "tools": "[{"}, "DS209", "tools"),
    ("hf-preference", {"prompt": "p", "chosen": [bot("a")], "rejected": "b"}, "DS204", "chosen"),
    ("hf-preference", {"prompt": [user("a")], "chosen": bot("b"), "rejected": bot("c")}, "DS204", "chosen"),
    ("hf-preference", {"prompt": [user("a")], "chosen": [], "rejected": [bot("c")]}, "DS202", "chosen"),
    (
        "hf-preference",
        {"prompt": [user("a")], "chosen": [bot("b")], "rejected": [user("c")]},
        "DS202",
        "rejected[0].role",
    ),
    ("hf-preference", {"chosen": [bot("b")], "rejected": [bot("c")]}, "DS202", "chosen"),
    (
        "hf-preference",
        {"chosen": [user("a"), bot("b")], "rejected": [user("a"), user("c")]},
        "DS202",
        "rejected[1].role",
    ),
    ("hf-preference", {"chosen": "b"}, "DS203", "rejected"),
    ("hf-preference", {"chosen": "b", "rejected": None}, "DS204", "rejected"),
    ("hf-kto", {"prompt": "a", "completion": "b"}, "DS203", "label"),
    ("hf-kto", {"prompt": "a", "completion": "b", "label": "true"}, "DS212", "label"),
    ("hf-kto", {"prompt": "a", "completion": "b", "label": None}, "DS212", "label"),
    ("hf-kto", {"prompt": "a", "completion": "b", "label": 2}, "DS212", "label"),
    ("hf-kto", {"prompt": "a", "chosen": "b", "rejected": "c"}, "DS203", "completion"),
]


@pytest.mark.parametrize(("id", "row", "code", "path"), REFUSED)
def test_refuses_on_reading(id: str, row: Row, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert (caught.value.code, caught.value.path) == (code, path)


PLAIN = sft(user("a"), bot("b"))
LONG = sft(system("s"), user("a"), bot("b"), user("c"), bot("d"))


@pytest.mark.parametrize(
    ("style", "samples", "rows"),
    [
        ("auto", [PLAIN, PLAIN], [{"prompt": "a", "completion": "b"}] * 2),
        (
            "auto",
            [PLAIN, LONG],
            [
                {"prompt": [user("a")], "completion": [bot("b")]},
                {"prompt": [system("s"), user("a"), bot("b"), user("c")], "completion": [bot("d")]},
            ],
        ),
        ("conversational", [PLAIN], [{"prompt": [user("a")], "completion": [bot("b")]}]),
        ("standard", [PLAIN], [{"prompt": "a", "completion": "b"}]),
    ],
)
def test_one_style_for_the_file(style: str, samples: list[Row], rows: list[Row]) -> None:
    assert write_all("hf-prompt-completion", samples, style) == rows


def test_preference_and_kto_follow_the_same_style() -> None:
    pair = {"task": "preference", "messages": [user("a")], "chosen": [bot("b")], "rejected": [bot("c")]}
    assert write_all("hf-preference", [pair]) == [{"prompt": "a", "chosen": "b", "rejected": "c"}]
    long = {**pair, "messages": [user("x"), bot("y"), user("z")]}
    assert [type(row["chosen"]) for row in write_all("hf-preference", [pair, long])] == [list, list]
    rated = {"task": "kto", "messages": [user("a")], "completion": [bot("b")], "label": False}
    assert write_all("hf-kto", [rated]) == [{"prompt": "a", "completion": "b", "label": False}]
    called = {**rated, "completion": [bot("", tool_calls=[CALL])]}
    assert [type(row["prompt"]) for row in write_all("hf-kto", [rated, called])] == [list, list]


def test_calls_for_chat_templates() -> None:
    """Arguments are objects, the text beside a call is empty and not null, tools a list, on every row or on none."""
    sample = sft(
        user("Time?"),
        bot("", tool_calls=[CALL]),
        {"role": "tool", "content": "9:41", "tool_call_id": "call_1_0"},
        bot("It is 9:41."),
        tools=[TOOL["function"]],
    )
    with_tools, without = write_all("hf-prompt-completion", [sample, PLAIN])
    assert with_tools == {
        "prompt": [user("Time?")],
        "completion": [
            {"role": "assistant", "content": "", "tool_calls": [CALL_ROW]},
            {"role": "tool", "content": "9:41", "tool_call_id": "call_1_0"},
            bot("It is 9:41."),
        ],
        "tools": [TOOL],
    }
    assert without == {"prompt": [user("a")], "completion": [bot("b")], "tools": None}


def test_columns_that_trl_misreads_when_empty_are_left_out() -> None:
    extra: Row = {"images": [], "chat_template_kwargs": None, "tools": "", "id": None, "score": 0}
    (row,) = write_all("hf-prompt-completion", [{**PLAIN, "extra": extra}])
    assert row == {"id": None, "score": 0, "prompt": "a", "completion": "b"}


@pytest.mark.parametrize("style", ["auto", "standard", "conversational"])
def test_every_row_has_the_same_keys(style: str) -> None:
    extras: list[Row] = [{"id": "1"}, {}, {"topic": "x", "id": None}]
    rows = write_all("hf-prompt-completion", [{**PLAIN, "extra": extra} for extra in extras] + [PLAIN], style)
    assert [row["id"] for row in rows] == ["1", None, None, None]
    assert {tuple(row) for row in rows} == {("id", "topic", "prompt", "completion")}


@pytest.mark.parametrize(
    ("sample", "style", "code"),
    [
        (LONG, "standard", "DS308"),
        ({**PLAIN, "tools": [TOOL]}, "standard", "DS308"),
        (sft(user("a")), "auto", "DS302"),
        (sft(), "auto", "DS302"),
        (sft(bot("b")), "auto", "DS302"),
        (sft(user("a"), bot("", tool_calls=[{**CALL, "arguments": "{bad"}])), "auto", "DS306"),
        ({**PLAIN, "tools": [{"type": "web_search", "function": None}]}, "auto", "DS306"),
    ],
)
def test_refuses_on_writing(sample: Row, style: str, code: str) -> None:
    with pytest.raises(RowError) as caught:
        write_all("hf-prompt-completion", [sample], style)
    assert caught.value.code == code


# TRL's own verdict on each file (TRL 1.16), and what happens here: None is read.
VERDICTS = [
    ("hf-prompt-completion", "trl_sft_pc.jsonl", "accept", None),
    ("hf-prompt-completion", "trl_sft_pc_mixed.jsonl", "reject", "DS204"),
    ("hf-prompt-completion", "trl_sft_null_completion.jsonl", "reject", "DS204"),
    ("hf-preference", "trl_dpo_explicit.jsonl", "accept", None),
    ("hf-preference", "trl_dpo_implicit.jsonl", "accept", None),
    ("hf-preference", "trl_dpo_conv_implicit.jsonl", "accept", None),
    ("hf-preference", "trl_dpo_chosen_obj.jsonl", "reject", "DS204"),
    ("hf-preference", "trl_dpo_prompt_str_conv_full.jsonl", "reject", "DS204"),
    ("hf-preference", "bug31.jsonl", "reject", "DS202"),
    ("hf-kto", "trl_kto.jsonl", "accept", None),
    ("hf-kto", "trl_kto_conv.jsonl", "accept", None),
    ("hf-kto", "trl_kto_lf.jsonl", "reject", "DS203"),
    ("hf-kto", "trl_kto_str_label.jsonl", "reject", "DS212"),
]
# Files that TRL takes and that are refused here.
DEVIATIONS = {("hf-kto", "trl_kto_paired.jsonl"): "pairs are the business of hf-preference, and the message says so"}


@pytest.mark.parametrize(("id", "name", "verdict", "code"), VERDICTS)
def test_recorded_verdicts(id: str, name: str, verdict: str, code: str | None) -> None:
    first, *others = rows_of(name)
    if verdict == "accept":
        samples = [read(id, row) for row in (first, *others)]
        assert [read(id, row) for row in write_all(id, samples)] == samples
    else:
        with pytest.raises(RowError) as caught:
            read(id, first)
        assert caught.value.code == code


@pytest.mark.parametrize(("id", "name"), DEVIATIONS)
def test_deviations_say_what_to_do(id: str, name: str) -> None:
    with pytest.raises(RowError, match="hf-preference"):
        read(id, rows_of(name)[0])


def advice_of(samples: list[Row]) -> list[tuple[str, str]]:
    format = find_format("hf-prompt-completion")
    part = format.part("advise")
    assert part is not None
    c, notes = Constants("sft"), Notes()
    rows = write_all(format.id, samples)
    for number, row in enumerate(rows, 1):
        part.observe(row, number, notes, c)
    return [(advice.code, advice.message) for advice in part.advise(notes, len(rows), c)]


def test_advises_on_answers_that_are_no_longer_trained() -> None:
    ((code, message),) = advice_of([PLAIN, LONG, LONG])
    assert code == "DS404"
    assert message.startswith("2 earlier answers") and message.endswith("2 rows, first row 2")


def test_advises_on_texts_that_get_no_chat_template() -> None:
    assert [code for code, _ in advice_of([PLAIN])] == ["DS410"]


def test_advises_on_columns_of_several_types() -> None:
    answers: list[Any] = ["007", None, 7, ["7"]]
    advice = advice_of([LONG] + [{**PLAIN, "extra": {"answer": answer, "id": "x"}} for answer in answers])
    assert [message for code, message in advice if code == "DS411"] == [
        "column `answer` is text (first row 2) and a number (first row 4) and a list (first row 5): "
        '`datasets` turns texts like "007" there into numbers'
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "developer"]) | JSON, "content": st.text() | JSON},
    optional={
        "tool_calls": st.just([CALL_ROW]) | JSON,
        "tool_call_id": st.just("call_1_0") | JSON,
        "name": st.text(max_size=2) | JSON,
        "reasoning_content": st.text(max_size=2) | JSON,
    },
)
SIDE = st.text(max_size=5) | st.lists(MESSAGE, max_size=4) | JSON
ANY_ROW = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("prompt", "chosen", "rejected", "completion"), SIDE),
        "label": st.booleans() | JSON,
        "system": st.text(max_size=2) | JSON,
        "tools": st.just([TOOL]) | JSON,
        "other": JSON,
    },
)


@pytest.mark.parametrize("id", TASKS)
@given(row=ANY_ROW)
def test_any_row_is_read_or_refused_and_writing_is_stable(id: str, row: Row) -> None:
    try:
        written = write_all(id, [read(id, row)])
    except RowError:
        return
    assert write_all(id, [read(id, written[0])]) == written


@pytest.mark.parametrize("id", TASKS)
def test_example_comes_back(id: str) -> None:
    rows = find_format(id).examples()
    assert write_all(id, [read(id, row) for row in rows]) == rows
