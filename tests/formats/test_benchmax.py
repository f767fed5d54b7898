"""Rows of benchmax: for reinforcement learning, and benchmax-sft-v1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.formats import find_format, options_of
from dsreg.notes import Notes
from dsreg.rowcode.canonical import canonical_example_id
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

Row = dict[str, Any]
TASKS = {"benchmax": "prompt", "benchmax-sft": "sft"}
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "benchmax_cases" / "verdicts.jsonl").read_text("utf-8").splitlines()
]


def user(content: Any, **more: Any) -> Row:
    return {"role": "user", "content": content, **more}


def bot(content: Any = None, **more: Any) -> Row:
    return {"role": "assistant", **({} if content is None else {"content": content}), **more}


def read(id: str, row: Row) -> Row:
    format = find_format(id)
    sample: Row = format.reader.read_row(row, Constants(TASKS[id], format.manifest.columns))
    return sample


def write(id: str, sample: Row, /, **options: Any) -> Row:
    format = find_format(id)
    c = Constants(TASKS[id], format.manifest.columns, options=options_of(format, "write", options))
    row: Row = format.writer.write_row(sample, c)
    return row


def prompt(*messages: Row, **more: Any) -> Row:
    return {"task": "prompt", "messages": list(messages), **more}


# The ids that benchmax 0.2.5 gives.
IDS = [
    (
        '{"ground_truth":"4","prompt_messages":[{"content":"What is 2+2?","role":"user"}]}',
        "bad4f010523ac6e7a6cb052464732a48e1be6f8bd305befbb521b49d6f94985a",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"What is 2+2?"}],"ground_truth":4}',
        "ab03ae47ea03d8d03eeff4d4169b27718a2629306fb40ba0d84dd3a3c253ab58",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"What is 2+2?"}],"ground_truth":4.0}',
        "ab03ae47ea03d8d03eeff4d4169b27718a2629306fb40ba0d84dd3a3c253ab58",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"What is 2+2?"}],"ground_truth":null}',
        "5a987ded8f8625718ca791943c24d6a47922e03572f7d1c6c187e620cfc5aee5",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"What is 2+2?"}]}',
        "519016c60ec14ff847b77abb7fc500148d6407f18960379b20882c13f24b9cd1",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"你好 émoji 🚀"}],"locale":"zh-CN"}',
        "97148afbc7435e9052283f8830eca3e9b1bb37b7e8096046c50e44547a71d188",
    ),
    (
        '{"prompt_messages":[{"role":"user","content":"fix the formula in cell B5"}],'
        '"answer_position":"B5","expected":"42","spreadsheet_path":"/data/input.xlsx"}',
        "3fb4c044d79e4bf390cd8ff0b9a84910289a03cacbf3458a9216271e8357550d",
    ),
    (
        r'{"prompt_messages":[{"role":"user","content":"line1\nline2\t\"q\" \\ / \u2028 \u0000"}],'
        r'"w":[true,1,1.5,-0.0,1e-7,null,{}],"":""}',
        "3052c4e054bd82dbda53dfe121fb73fb42fe6a92bbfe9407172aba4ed72607ae",
    ),
    ('{"😀":1,"\\uFFFD":2,"a":3}', "42130ff7c57a0bde03d4ad409e86ade2b33957d6102b6bb6aa4d72f9138b1252"),
    ('"just a string"', "ceba93acd024a5bf4927210eb41fda8e354f2cdb013f57763a6a783671f5d8de"),
    ("[]", "980858618eaa0131222491dbf6df340c52abd45e6c32364655cd8ddd39719c7e"),
    ('{"x":9007199254740991.0}', "1d9cd9e9711ea0a9f5dc5f30b1c65ba464fe152b31c856fbea52ca69bf31f958"),
]


@pytest.mark.parametrize(("text", "id"), IDS)
def test_canonical_ids(text: str, id: str) -> None:
    assert canonical_example_id(json.loads(text)) == id


NO_ID = [
    *(float("nan"), float("inf"), -float("inf"), 2**53, -(2**53), 1e16, 10**5000),
    *(b"x", {1}, {1: 2}, "\ud800", {"\ud800": 1}),
]


@pytest.mark.parametrize("value", NO_ID, ids=[f"{type(value).__name__}{n}" for n, value in enumerate(NO_ID)])
def test_values_without_a_canonical_id(value: Any) -> None:
    with pytest.raises(RowError) as caught:
        canonical_example_id({"x": [value]})
    assert caught.value.code == "DS310"


def test_the_id_is_over_the_payload_whatever_the_shape() -> None:
    sample = prompt(user("What is 2+2?"), answer="4", extra={"id": "mine"})
    for shape in ("prompt_messages", "messages", "prompt"):
        row = write("benchmax", sample, shape=shape, id="canonical")
        assert row["id"] == IDS[0][1]
        assert write("benchmax", read("benchmax", row), shape=shape, id="canonical") == row
    assert write("benchmax", sample)["id"] == "mine"


CHAT = [user("search for climate change"), bot("searching..."), user("summarize the top result")]
CALL_ROW = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
CALL = {"id": "a", "name": "f", "arguments": {"x": 1}}
READ: list[tuple[Row, Row]] = [
    ({"prompt": "capital of France?", "ground_truth": "Paris"}, prompt(user("capital of France?"), answer="Paris")),
    ({"messages": CHAT, "ground_truth": "..."}, prompt(*CHAT, answer="...")),
    ({"prompt": CHAT}, prompt(*CHAT)),
    (
        {"prompt_messages": [user("q", name="bob")], "prompt": "other", "ground_truth": ["a"], "n": 1, "empty": None},
        prompt(user("q", name="bob"), answer=["a"], extra={"n": 1, "prompt": "other"}),
    ),
    (  # castform's trace export fills every key of every message
        {"prompt_messages": [user("q", tool_calls=[], tool_call_id="", name="")], "ground_truth": bot("x")},
        prompt(user("q"), answer=bot("x")),
    ),
    (
        {"messages": [user("q"), bot(tool_calls=[CALL_ROW]), {"role": "tool", "content": "r", "tool_call_id": "a"}]},
        prompt(user("q"), bot("", tool_calls=[CALL]), {"role": "tool", "content": "r", "tool_call_id": "a"}),
    ),
]


@pytest.mark.parametrize(("row", "sample"), READ)
def test_rows_are_read(row: Row, sample: Row) -> None:
    assert read("benchmax", row) == sample
    written = write("benchmax", sample)
    assert next(iter(written)) == "prompt_messages"
    assert read("benchmax", written) == sample


@pytest.mark.parametrize("id", TASKS)
def test_example_rows(id: str) -> None:
    for row in find_format(id).examples():
        assert json.dumps(write(id, read(id, row))) == json.dumps(row)


def test_shapes() -> None:
    sample = prompt(user("What is 2+2?"), answer="4", extra={"level": 1})
    rest = {"ground_truth": "4", "level": 1}
    assert write("benchmax", sample) == {"prompt_messages": [user("What is 2+2?")], **rest}
    assert write("benchmax", sample, shape="messages") == {"messages": [user("What is 2+2?")], **rest}
    assert write("benchmax", sample, shape="prompt") == {"prompt": "What is 2+2?", **rest}


@pytest.mark.parametrize("row", [{}, {"prompt": None}, {"prompt_messages": []}, {"messages": "x", "prompt": []}])
def test_rows_without_a_prompt(row: Row) -> None:
    if row.get("messages"):
        assert read("benchmax", row) == prompt(user("x"), extra={"prompt": []})
        return
    with pytest.raises(RowError) as caught:
        read("benchmax", row)
    assert caught.value.code in ("DS202", "DS203")


BENCHMAX_ERRORS: list[tuple[Row, Row, str, str]] = [
    (prompt(), {}, "DS302", "a message"),
    (prompt(user("q"), extra={"n": 2**53}), {}, "DS310", "2^53"),
    (prompt(user("q"), extra={"n": 2**53}), {"id": "canonical"}, "DS310", "2^53"),
    (prompt(user("q"), extra={"ground_truth": 1}), {}, "DS310", "attributes=ground_truth"),
    (prompt(user("q"), answer=4), {"shape": "prompt"}, "DS307", "shape=prompt_messages"),
    (prompt(user("q")), {"shape": "prompt"}, "DS307", "shape=prompt_messages"),
    (prompt(user(""), answer="4"), {"shape": "prompt"}, "DS303", "not empty"),
    (prompt(*CHAT, answer="4"), {"shape": "prompt"}, "DS308", "one turn"),
    (prompt(user("q", name="bob"), answer="4"), {"shape": "prompt"}, "DS308", "one turn"),
]


@pytest.mark.parametrize(("sample", "options", "code", "words"), BENCHMAX_ERRORS)
def test_samples_that_benchmax_does_not_take(sample: Row, options: Row, code: str, words: str) -> None:
    with pytest.raises(RowError) as caught:
        write("benchmax", sample, **options)
    assert caught.value.code == code
    assert words in caught.value.message


@pytest.mark.parametrize(("rows", "codes"), [(199, ["DS401"]), (999, ["DS401"]), (1000, [])])
def test_advice_on_sizes(rows: int, codes: list[str]) -> None:
    own = find_format("benchmax").part("advise")
    assert own is not None
    assert [said.code for said in own.advise(Notes(), rows, Constants("prompt"))] == codes


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
RESULT = {"role": "tool", "content": "", "tool_call_id": "a"}
RESULT_B = {**RESULT, "tool_call_id": "b"}
SYSTEM = {"role": "system", "content": "s"}


def sft(*messages: Row, **more: Any) -> Row:
    return {"task": "sft", "messages": list(messages), **more}


def called(*ids: str, **more: Any) -> Row:
    return bot("", tool_calls=[{**CALL, "id": id, **more} for id in ids])


def tool(**more: Any) -> Row:
    return {"type": "function", "function": {**TOOL["function"], **more}}  # type: ignore[dict-item]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


SFT_ERRORS: list[tuple[str, Row, Row, str]] = [
    ("no messages", sft(), {}, "DS302"),
    ("too many messages", sft(*[user("q"), bot("a")] * 513), {}, "DS302"),
    ("empty text of the user", sft(user(""), bot("a")), {}, "DS303"),
    ("empty system prompt", sft({"role": "system", "content": ""}, bot("a")), {}, "DS303"),
    ("answer with neither text nor call", sft(user("q"), bot("")), {}, "DS303"),
    ("name of the user", sft(user("q", name="bob"), bot("a")), {}, "DS310"),
    ("weight of the user", sft(user("q", weight=1), bot("a")), {}, "DS310"),
    ("reasoning", sft(user("q"), bot("a", thinking="t")), {}, "DS310"),
    ("parts", sft(user([{"type": "text", "text": "q"}]), bot("a")), {}, "DS305"),
    ("nothing to train", sft(user("q"), bot("a", weight=0)), {}, "DS302"),
    ("call without tools", sft(user("q"), called("a"), RESULT, bot("x")), {}, "DS306"),
    ("call of another tool", sft(called("a", name="g"), RESULT, tools=[TOOL]), {}, "DS306"),
    ("arguments that are no object", sft(called("a", arguments="[1]"), RESULT, tools=[TOOL]), {}, "DS210"),
    ("id twice in a turn", sft(called("a", "a"), RESULT, RESULT, tools=[TOOL]), {}, "DS306"),
    ("id twice in a row", sft(called("a"), RESULT, called("a"), RESULT, tools=[TOOL]), {}, "DS306"),
    ("empty id", sft(called(""), {**RESULT, "tool_call_id": ""}, tools=[TOOL]), {}, "DS306"),
    ("ends in a call", sft(user("q"), called("a"), tools=[TOOL]), {}, "DS306"),
    ("turn before the result", sft(called("a"), user("q"), RESULT, bot("x"), tools=[TOOL]), {}, "DS306"),
    ("result without a call", sft(user("q"), RESULT, bot("x"), tools=[TOOL]), {}, "DS306"),
    ("results in another order", sft(called("b", "a"), RESULT, RESULT_B, tools=[TOOL]), {}, "DS306"),
    ("tool twice", sft(bot("a"), tools=[TOOL, TOOL]), {}, "DS306"),
    ("129 tools", sft(bot("a"), tools=[tool(name=f"f{n}") for n in range(129)]), {}, "DS306"),
    ("strict", sft(bot("a"), tools=[tool(strict=True)]), {}, "DS306"),
    ("no parameters", sft(bot("a"), tools=[{"name": "f"}]), {}, "DS306"),
    ("parameters of another type", sft(bot("a"), tools=[tool(parameters={"type": "array"})]), {}, "DS306"),
    ("description that is no text", sft(bot("a"), tools=[tool(description=1)]), {}, "DS306"),
    ("further key of a tool", sft(bot("a"), tools=[{**TOOL, "strict": True}]), {}, "DS306"),
    ("metadata that is no object", sft(bot("a"), extra={"metadata": "x"}), {}, "DS310"),
    ("reserved metadata", sft(bot("a"), extra={"metadata": {"_castform_x": 1}}), {}, "DS310"),
    ("metadata called tools", sft(bot("a"), extra={"metadata": {"tools": 1}}), {}, "DS310"),
    ("metadata twice", sft(bot("a"), extra={"metadata": {"n": 1}, "n": 2}), {"metadata": "extras"}, "DS310"),
    ("metadata too large", sft(bot("a"), extra={"metadata": {"n": "x" * 65536}}), {}, "DS310"),
    ("metadata with NaN", sft(bot("a"), extra={"metadata": {"n": float("inf")}}), {}, "DS310"),
    ("row too large", sft(bot("字" * 350_000)), {}, "DS310"),
    ("row too deep", sft(bot("a"), extra={"metadata": deep(64)}), {}, "DS310"),
    ("half a surrogate pair", sft(bot("\ud800")), {}, "DS310"),
]


@pytest.mark.parametrize(
    ("sample", "options", "code"), [case[1:] for case in SFT_ERRORS], ids=[c[0] for c in SFT_ERRORS]
)
def test_samples_that_the_contract_refuses(sample: Row, options: Row, code: str) -> None:
    with pytest.raises(RowError) as caught:
        write("benchmax-sft", sample, **options)
    assert caught.value.code == code


SFT_GOOD: list[tuple[Row, Row]] = [
    (sft(bot("a"), SYSTEM, user("q")), {"messages": [bot("a"), SYSTEM, user("q")]}),
    (sft(bot("a", weight=0), bot("b", weight=1)), {"messages": [bot("a", weight=0), bot("b", weight=1)]}),
    (
        sft(user("q"), called("a"), {"role": "tool", "content": "", "name": "f"}, tools=[tool(description=None)]),
        {"messages": [user("q"), bot(tool_calls=[CALL_ROW]), RESULT], "tools": [TOOL]},
    ),
    (sft(bot("a"), extra={"metadata": deep(62)}), {"messages": [bot("a")], "metadata": deep(62)}),
    (sft(bot("a"), extra={"topic": "t"}), {"messages": [bot("a")]}),
]


@pytest.mark.parametrize(("sample", "row"), SFT_GOOD)
def test_samples_that_the_contract_takes(sample: Row, row: Row) -> None:
    written = write("benchmax-sft", sample)
    assert written == row
    assert write("benchmax-sft", read("benchmax-sft", written)) == written


def test_further_columns_become_metadata_on_request() -> None:
    sample = sft(bot("a"), extra={"metadata": {"n": 1}, "topic": "t"})
    assert write("benchmax-sft", sample)["metadata"] == {"n": 1}
    assert write("benchmax-sft", sample, metadata="extras")["metadata"] == {"n": 1, "topic": "t"}


# What benchmax refuses, and is written all the same.
DEVIATIONS = {
    "bm_seed_bad_int": "a ground truth that is no text is only castform's scaffold's concern: shape=prompt refuses it",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_recorded_verdicts(case: Row) -> None:
    try:
        for row in case["rows"]:
            write(case["format"], read(case["format"], row))
        accepted = True
    except RowError:
        accepted = False
    if case["name"] in DEVIATIONS:
        assert accepted
        with pytest.raises(RowError, match="shape=prompt"):
            write(case["format"], read(case["format"], case["rows"][0]), shape="prompt")
    else:
        assert accepted == (case["verdict"] == "accept")


def test_each_row_of_the_refused_file() -> None:
    """Two of the five are unambiguous, and are not refused on reading; one of them cannot be written."""
    (case,) = [case for case in CASES if case["name"] == "bm_sft_bad"]
    codes = []
    for row in case["rows"]:
        try:
            write("benchmax-sft", read("benchmax-sft", row))
            codes.append("written")
        except RowError as error:
            codes.append(error.code)
    assert codes == ["DS217", "DS306", "DS204", "DS203", "written"]


def test_real_rows(shared: Path) -> None:
    text = (shared / "data/wild/benchmax_standardized_example.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    samples = [read("benchmax", row) for row in rows]
    assert [sample["answer"] for sample in samples] == [row["ground_truth"] for row in rows]
    assert samples[2]["messages"][0]["role"] == "system"
