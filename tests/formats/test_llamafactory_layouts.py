"""Golden rows of the layouts that LlamaFactory reads: alpaca, sharegpt, kto, pretrain."""

from __future__ import annotations

from typing import Any

import pytest

from dsreg.formats import find_format, options_of
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.source import CHAT_TAGS

Row = dict[str, Any]


def user(text: str) -> Row:
    return {"role": "user", "content": text}


def assistant(text: str) -> Row:
    return {"role": "assistant", "content": text}


def system(text: str) -> Row:
    return {"role": "system", "content": text}


def human(text: str) -> Row:
    return {"from": "human", "value": text}


def gpt(text: str) -> Row:
    return {"from": "gpt", "value": text}


def read(
    format_id: str,
    row: Row,
    *,
    task: str = "sft",
    columns: dict[str, str] | None = None,
    tags: dict[str, str] | None = None,
    **options: Any,
) -> Row:
    format = find_format(format_id)
    used = columns or format.manifest.columns
    constants = Constants(task, used, {}, tags or TURN_TAGS, options_of(format, "read", options))
    sample: Row = format.reader.read_row(row, constants)
    return sample


def write(format_id: str, sample: Row, **options: Any) -> Row:
    format = find_format(format_id)
    constants = Constants(sample["task"], format.manifest.columns, options=options_of(format, "write", options))
    row: Row = format.writer.write_row(sample, constants)
    return row


ALPACA = {"instruction": "q", "input": "", "output": "a"}
ALPACA_READ: list[tuple[str, Row, str, Row]] = [
    ("only an instruction", ALPACA, "sft", {"messages": [user("q"), assistant("a")]}),
    ("instruction and input are joined", {**ALPACA, "input": "x"}, "sft", {"messages": [user("q\nx"), assistant("a")]}),
    (
        "an empty instruction",
        {**ALPACA, "instruction": "", "input": "x"},
        "sft",
        {"messages": [user("x"), assistant("a")]},
    ),
    ("both empty is the empty text", {**ALPACA, "instruction": ""}, "sft", {"messages": [user(""), assistant("a")]}),
    ("white space is kept", {**ALPACA, "instruction": " q\n"}, "sft", {"messages": [user(" q\n"), assistant("a")]}),
    ("an empty answer is an answer", {**ALPACA, "output": ""}, "sft", {"messages": [user("q"), assistant("")]}),
    (
        "system and history",
        {**ALPACA, "system": "s", "history": [["q0", "a0"]]},
        "sft",
        {"messages": [system("s"), user("q0"), assistant("a0"), user("q"), assistant("a")]},
    ),
    ("empty means none", {**ALPACA, "system": None, "history": []}, "sft", {"messages": [user("q"), assistant("a")]}),
    (
        "preference",
        {"instruction": "q", "chosen": "c", "rejected": "r"},
        "preference",
        {"messages": [user("q")], "chosen": [assistant("c")], "rejected": [assistant("r")]},
    ),
    (
        "kto",
        {**ALPACA, "kto_tag": False},
        "kto",
        {"messages": [user("q")], "completion": [assistant("a")], "label": False},
    ),
    ("a ground truth of any type", {**ALPACA, "output": 42}, "prompt", {"messages": [user("q")], "answer": 42}),
    (
        "images at their placeholders",
        {**ALPACA, "instruction": "see <image>!", "images": ["a.png"]},
        "sft",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see "},
                        {"type": "image", "source": "a.png"},
                        {"type": "text", "text": "!"},
                    ],
                },
                assistant("a"),
            ]
        },
    ),
    (
        "a placeholder without media is text",
        {**ALPACA, "instruction": "<image>", "images": []},
        "sft",
        {"messages": [user("<image>"), assistant("a")]},
    ),
    (
        "other columns are carried",
        {**ALPACA, "id": "007", "topic": None},
        "sft",
        {"messages": [user("q"), assistant("a")], "extra": {"id": "007", "topic": None}},
    ),
]


@pytest.mark.parametrize(("name", "row", "task", "wanted"), ALPACA_READ, ids=[case[0] for case in ALPACA_READ])
def test_alpaca_is_read(name: str, row: Row, task: str, wanted: Row) -> None:
    assert read("alpaca", row, task=task) == {"task": task, **wanted}


CALL = '{"name": "f", "arguments": {"x": 1}}'
CALLED = {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1_0", "name": "f", "arguments": {"x": 1}}]}
SHAREGPT_READ: list[tuple[str, Row, str, Row]] = [
    ("turns", {"conversations": [human("q"), gpt("a")]}, "sft", {"messages": [user("q"), assistant("a")]}),
    (
        "a system column",
        {"conversations": [human("q"), gpt("a")], "system": "s"},
        "sft",
        {"messages": [system("s"), user("q"), assistant("a")]},
    ),
    (
        "a system turn anywhere is kept where it is",
        {"conversations": [human("q"), {"from": "system", "value": "s"}, gpt("a")]},
        "sft",
        {"messages": [user("q"), system("s"), assistant("a")]},
    ),
    (
        "a call and its observation",
        {
            "conversations": [
                human("q"),
                {"from": "function_call", "value": CALL},
                {"from": "observation", "value": "r"},
                gpt("a"),
            ],
            "tools": '[{"name": "f"}]',
        },
        "sft",
        {
            "messages": [
                user("q"),
                CALLED,
                {"role": "tool", "content": "r", "tool_call_id": "call_1_0", "name": "f"},
                assistant("a"),
            ],
            "tools": [{"name": "f"}],
        },
    ),
    (
        "parallel calls and a list of results",
        {
            "conversations": [
                human("q"),
                {"from": "function_call", "value": f"[{CALL}, {CALL}]"},
                {"from": "observation", "value": '["r0", "r1"]'},
                gpt("a"),
            ]
        },
        "sft",
        {
            "messages": [
                user("q"),
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "call_1_0", "name": "f", "arguments": {"x": 1}},
                        {"id": "call_1_1", "name": "f", "arguments": {"x": 1}},
                    ],
                },
                {"role": "tool", "content": "r0", "tool_call_id": "call_1_0", "name": "f"},
                {"role": "tool", "content": "r1", "tool_call_id": "call_1_1", "name": "f"},
                assistant("a"),
            ]
        },
    ),
    (
        "preference",
        {"conversations": [human("q")], "chosen": gpt("c"), "rejected": gpt("r")},
        "preference",
        {"messages": [user("q")], "chosen": [assistant("c")], "rejected": [assistant("r")]},
    ),
    (
        "kto",
        {"conversations": [human("q"), gpt("a")], "kto_tag": True},
        "kto",
        {"messages": [user("q")], "completion": [assistant("a")], "label": True},
    ),
    (
        "blank tools are none",
        {"conversations": [human("q"), gpt("a")], "tools": " "},
        "sft",
        {"messages": [user("q"), assistant("a")]},
    ),
    (
        "a weight is carried",
        {"conversations": [human("q"), {**gpt("a"), "weight": 0}]},
        "sft",
        {"messages": [user("q"), {**assistant("a"), "weight": 0}]},
    ),
]


@pytest.mark.parametrize(("name", "row", "task", "wanted"), SHAREGPT_READ, ids=[case[0] for case in SHAREGPT_READ])
def test_sharegpt_is_read(name: str, row: Row, task: str, wanted: Row) -> None:
    assert read("sharegpt", row, task=task) == {"task": task, **wanted}


def test_sharegpt_is_read_by_any_tags() -> None:
    row = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    sample = read("sharegpt", row, columns={"messages": "messages"}, tags=CHAT_TAGS)
    assert sample["messages"] == [user("q"), assistant("a")]


def test_text_is_read() -> None:
    assert read("pretrain", {"text": "t", "id": 1}, task="pretrain") == {
        "task": "pretrain",
        "text": "t",
        "extra": {"id": 1},
    }


ROW_ERRORS: list[tuple[str, str, Row, str, str, str]] = [
    ("no answer", "alpaca", {"instruction": "q"}, "sft", "DS203", "output"),
    ("an object as answer", "alpaca", {**ALPACA, "output": {}}, "sft", "DS204", "output"),
    ("null as answer", "alpaca", {**ALPACA, "output": None}, "sft", "DS204", "output"),
    ("a number as input", "alpaca", {**ALPACA, "input": 0}, "sft", "DS204", "input"),
    ("history of three", "alpaca", {**ALPACA, "history": [["a", "b", "c"]]}, "sft", "DS204", "history[0]"),
    ("a label as number", "alpaca", {**ALPACA, "kto_tag": 1}, "kto", "DS212", "kto_tag"),
    ("too few placeholders", "alpaca", {**ALPACA, "images": ["a.png"]}, "sft", "DS208", "instruction"),
    ("null among the images", "alpaca", {**ALPACA, "images": [None]}, "sft", "DS208", "images[0]"),
    ("tools that are no JSON", "alpaca", {**ALPACA, "tools": "[{"}, "sft", "DS209", "tools"),
    ("no turns", "sharegpt", {"conversations": None}, "sft", "DS204", "conversations"),
    (
        "a role without tag",
        "sharegpt",
        {"conversations": [{"from": "bot", "value": "x"}]},
        "sft",
        "DS206",
        "conversations[0].from",
    ),
    (
        "a role that is a list",
        "sharegpt",
        {"conversations": [{"from": [], "value": "x"}]},
        "sft",
        "DS206",
        "conversations[0].from",
    ),
    (
        "null as text",
        "sharegpt",
        {"conversations": [{"from": "gpt", "value": None}]},
        "sft",
        "DS204",
        "conversations[0].value",
    ),
    (
        "a call with a raw line break",
        "sharegpt",
        {"conversations": [human("q"), {"from": "function_call", "value": '{"name": "f\n"}'}]},
        "sft",
        "DS210",
        "conversations[1].value",
    ),
    (
        "a system column and another system turn",
        "sharegpt",
        {"conversations": [{"from": "system", "value": "t"}, human("q"), gpt("a")], "system": "s"},
        "sft",
        "DS211",
        "system",
    ),
    (
        "chosen as text",
        "sharegpt",
        {"conversations": [human("q")], "chosen": "c", "rejected": "r"},
        "preference",
        "DS204",
        "chosen",
    ),
    (
        "rejected by the user",
        "sharegpt",
        {"conversations": [human("q")], "chosen": gpt("c"), "rejected": human("r")},
        "preference",
        "DS202",
        "rejected",
    ),
    ("text as a number", "pretrain", {"text": 5}, "pretrain", "DS204", "text"),
]


@pytest.mark.parametrize(
    ("name", "format_id", "row", "task", "code", "path"), ROW_ERRORS, ids=[case[0] for case in ROW_ERRORS]
)
def test_a_row_that_cannot_be_read(name: str, format_id: str, row: Row, task: str, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        read(format_id, row, task=task)
    assert (caught.value.code, caught.value.path) == (code, path)


def test_two_system_texts_by_choice() -> None:
    row = {"conversations": [{"from": "system", "value": "turn"}, human("q"), gpt("a")], "system": "column"}
    assert read("sharegpt", row, two_systems="turn")["messages"][0] == system("turn")
    assert read("sharegpt", row, two_systems="join")["messages"][0] == system("column\nturn")


DIALOGUE = [system("s"), user("q0"), assistant("a0"), user("q"), assistant("a")]
WRITTEN: list[tuple[str, str, Row, Row]] = [
    (
        "alpaca: history and system",
        "alpaca",
        {"task": "sft", "messages": DIALOGUE},
        {"instruction": "q", "input": "", "system": "s", "history": [["q0", "a0"]], "output": "a"},
    ),
    (
        "alpaca: preference",
        "alpaca",
        {"task": "preference", "messages": [user("q")], "chosen": [assistant("c")], "rejected": [assistant("r")]},
        {"instruction": "q", "input": "", "system": "", "history": [], "chosen": "c", "rejected": "r"},
    ),
    (
        "sharegpt: system as a column",
        "sharegpt",
        {"task": "sft", "messages": DIALOGUE},
        {"conversations": [human("q0"), gpt("a0"), human("q"), gpt("a")], "system": "s", "tools": ""},
    ),
    (
        "sharegpt: parallel calls and their results in one turn each",
        "sharegpt",
        {
            "task": "sft",
            "messages": [
                user("q"),
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "1", "name": "f", "arguments": {}},
                        {"id": "2", "name": "g", "arguments": {}},
                    ],
                },
                {"role": "tool", "content": "1", "tool_call_id": "1"},
                {"role": "tool", "content": "二", "tool_call_id": "2"},
                assistant("a"),
            ],
        },
        {
            "conversations": [
                human("q"),
                {"from": "function_call", "value": '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'},
                {"from": "observation", "value": '["1", "二"]'},
                gpt("a"),
            ],
            "system": "",
            "tools": "",
        },
    ),
    (
        "kto",
        "kto",
        {"task": "kto", "messages": [user("q")], "completion": [assistant("a")], "label": True},
        {"conversations": [human("q"), gpt("a")], "kto_tag": True, "system": ""},
    ),
    ("pretrain", "pretrain", {"task": "pretrain", "text": "t", "extra": {"id": 1}}, {"id": 1, "text": "t"}),
]


@pytest.mark.parametrize(("name", "format_id", "sample", "wanted"), WRITTEN, ids=[case[0] for case in WRITTEN])
def test_rows_are_written(name: str, format_id: str, sample: Row, wanted: Row) -> None:
    assert write(format_id, sample) == wanted


REFUSED: list[tuple[str, str, list[Row], str]] = [
    ("two users in a row", "sharegpt", [user("a"), user("b"), assistant("c")], "messages[1]"),
    ("the assistant first", "sharegpt", [assistant("a"), user("b")], "messages[0]"),
    ("the user last", "sharegpt", [user("a"), assistant("b"), user("c")], "messages"),
    ("nothing but a system text", "sharegpt", [system("s")], "messages"),
    ("a late system message", "sharegpt", [user("a"), system("s"), assistant("b")], "messages[1]"),
    ("alpaca: two users", "alpaca", [user("a"), user("b"), assistant("c")], "messages[1]"),
    ("alpaca: the user last", "alpaca", [user("a"), assistant("b"), user("c")], "messages"),
]


@pytest.mark.parametrize(("name", "format_id", "messages", "path"), REFUSED, ids=[case[0] for case in REFUSED])
def test_turns_that_llamafactory_would_drop_are_refused(
    name: str, format_id: str, messages: list[Row], path: str
) -> None:
    with pytest.raises(RowError) as caught:
        write(format_id, {"task": "sft", "messages": messages})
    assert (caught.value.code, caught.value.path) == ("DS302", path)


def test_a_literal_placeholder_beside_an_image_is_refused() -> None:
    content = [{"type": "text", "text": "<image>"}, {"type": "image", "source": "a.png"}]
    with pytest.raises(RowError) as caught:
        write("sharegpt", {"task": "sft", "messages": [{"role": "user", "content": content}, assistant("a")]})
    assert caught.value.code == "DS305"


def test_a_desirable_answer_without_text_is_refused() -> None:
    with pytest.raises(RowError) as caught:
        write("kto", {"task": "kto", "messages": [user("q")], "completion": [assistant("")], "label": True})
    assert caught.value.code == "DS303"
