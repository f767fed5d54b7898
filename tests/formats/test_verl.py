"""Rows of verl and of SageMaker's reinforcement learning: verl, verl-legacy, verl-sft, sagemaker-rlvr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.formats import find_format, options_of
from dsreg.notes import Advice, Notes
from dsreg.parquet_schema import SchemaSurvey
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rows import open_rows, open_writer
from dsreg.source import columns_in

Row = dict[str, Any]
CASES = Path(__file__).parent / "verl_cases"
TASKS = {"verl": "prompt", "verl-legacy": "prompt", "sagemaker-rlvr": "prompt", "verl-sft": "sft"}


def cases(name: str) -> list[Row]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def system(content: str) -> Row:
    return {"role": "system", "content": content}


def user(content: Any, **more: Any) -> Row:
    return {"role": "user", "content": content, **more}


def bot(content: Any, **more: Any) -> Row:
    return {"role": "assistant", "content": content, **more}


def read(id: str, row: Row, columns: dict[str, str] | None = None, extras: dict[str, str] | None = None) -> Row:
    format = find_format(id)
    c = Constants(TASKS[id], columns_in(format, [row], columns or {}), extras)
    sample: Row = format.reader.read_row(row, c)
    return sample


def write(id: str, sample: Row, **options: Any) -> Row:
    format = find_format(id)
    c = Constants(TASKS[id], format.manifest.columns, options=options_of(format, "write", options))
    row: Row = format.writer.write_row(sample, c)
    return row


def prompt(*messages: Row, **more: Any) -> Row:
    return {"task": "prompt", "messages": list(messages), **more}


def truth(text: str, **more: Any) -> Row:
    return {"reward_model": {"style": "rule", "ground_truth": text}, "extra_info": {**more, "answer": text}}


GSM = {"data_source": "openai/gsm8k"}
MATHS = {**GSM, "ability": "math"}
DIALOGUE = [system("You are a helpful math tutor."), user("What is 2+2?")]
# A row, its sample, and the row that is written of it.
ROWS: list[tuple[str, Row, Row, Row]] = [
    (
        "verl",  # the documented row of SageMaker's evaluation
        {**MATHS, "prompt": DIALOGUE, "extra_info": {"answer": "4"}, "reward_model": {"ground_truth": "4"}},
        prompt(*DIALOGUE, answer="4", extra=MATHS),
        {**MATHS, "prompt": DIALOGUE, **truth("4")},
    ),
    (
        "verl-legacy",  # the documented older row
        {**GSM, "prompt": "What is 2+2?", "extra_info": {"answer": "4"}},
        prompt(user("What is 2+2?"), answer="4", extra=GSM),
        {**GSM, "prompt": "What is 2+2?", **truth("4")},
    ),
    (
        "sagemaker-rlvr",  # the documented row of SageMaker's training
        {**MATHS, "prompt": DIALOGUE, "reward_model": {"ground_truth": "4", "style": "rule"}},
        prompt(*DIALOGUE, answer="4", extra=MATHS),
        {**MATHS, "prompt": DIALOGUE, "reward_model": {"style": "rule", "ground_truth": "4"}},
    ),
    (
        "sagemaker-rlvr",  # without style, data_source, ability, ground truth
        {"prompt": [user("q")], "reward_model": {}},
        prompt(user("q")),
        {
            "data_source": "",
            "prompt": [user("q")],
            "ability": "",
            "reward_model": {"style": "rule", "ground_truth": ""},
        },
    ),
    (
        "sagemaker-rlvr",
        {
            **MATHS,
            "prompt": [user("q")],
            "reward_model": {"ground_truth": "4", "style": "llmj"},
            "extra_info": {"n": 1},
        },
        prompt(user("q"), answer="4", extra={**MATHS, "reward_model": {"style": "llmj"}, "extra_info": {"n": 1}}),
        {
            **MATHS,
            "prompt": [user("q")],
            "reward_model": {"style": "llmj", "ground_truth": "4"},
            "extra_info": {"n": 1, "answer": "4"},
        },
    ),
    (
        "verl",  # everything that is carried; ids and free objects become text
        {
            **GSM,
            "prompt": [user("中文")],
            "reward_model": {"ground_truth": 42},
            "extra_info": {"index": 3, "split": "train", "level": 2, "tools_kwargs": {"calc": {"x": 1}}, "none": None},
            "id": 7,
            "difficulty": 0.5,
            "attributes": {"topic": "数"},
            "agent_name": "tool_agent",
            "golden": ["42"],
            "empty": None,
        },
        prompt(
            user("中文"),
            answer=42,
            extra={
                **GSM,
                "id": 7,
                "difficulty": 0.5,
                "attributes": {"topic": "数"},
                "agent_name": "tool_agent",
                "golden": ["42"],
                "extra_info": {"index": 3, "split": "train", "level": 2, "tools_kwargs": {"calc": {"x": 1}}},
            },
        ),
        {
            **GSM,
            "prompt": [user("中文")],
            **truth("42", index=3, split="train", level="2", tools_kwargs='{"calc": {"x": 1}}'),
            "id": "7",
            "difficulty": "0.5",
            "attributes": '{"topic": "数"}',
            "agent_name": "tool_agent",
            "golden": '["42"]',
        },
    ),
    (
        "verl",  # media: placeholders in the text, sources beside it
        {**GSM, "prompt": [user("<image>How many?")], **truth("3"), "images": [{"path": "a.png", "bytes": None}]},
        prompt(
            user([{"type": "image", "source": "a.png"}, {"type": "text", "text": "How many?"}]), answer="3", extra=GSM
        ),
        {**GSM, "prompt": [user("<image>How many?")], **truth("3"), "images": ["a.png"]},
    ),
    (
        "verl-sft",
        {
            "messages": [
                {**user("q"), "tool_calls": None, "tool_call_id": None},
                bot(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
                {"role": "tool", "content": "r", "tool_call_id": "1"},
                bot("z"),
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "x": None}}}],
            "enable_thinking": False,
            "topic": "t",
        },
        {
            "task": "sft",
            "messages": [
                user("q"),
                bot("", tool_calls=[{"id": "1", "name": "f", "arguments": {}}]),
                {"role": "tool", "content": "r", "tool_call_id": "1"},
                bot("z"),
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
            "extra": {"enable_thinking": False, "topic": "t"},
        },
        {
            "messages": [
                user("q"),
                bot("", tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
                {"role": "tool", "content": "r", "tool_call_id": "1"},
                bot("z"),
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": '{"type": "object"}'}}],
            "enable_thinking": False,
        },
    ),
]


@pytest.mark.parametrize(("id", "row", "sample", "written"), ROWS)
def test_rows_and_samples(id: str, row: Row, sample: Row, written: Row) -> None:
    assert read(id, row) == sample
    assert write(id, sample) == written
    assert write(id, read(id, written)) == written


@pytest.mark.parametrize("id", TASKS)
def test_example_rows(id: str) -> None:
    for row in find_format(id).examples():
        assert json.dumps(write(id, read(id, row))) == json.dumps(row)


READ_ERRORS: list[tuple[str, Row, str, str]] = [
    ("verl", {"prompt": "What is 2+2?"}, "DS204", "--format verl-legacy"),
    ("verl", {"prompt": []}, "DS202", "no messages"),
    ("verl", {}, "DS203", "prompt"),
    ("verl", {"prompt": [user("q", name="bob")]}, "DS310", "role and content"),
    ("verl", {"prompt": [user([{"type": "text", "text": "a"}] * 2)]}, "DS216", "several texts"),
    ("verl", {"prompt": [user("q")], "extra_info": "4"}, "DS207", "an object"),
    ("verl", {"prompt": [user("q")], "images": ["a.png"]}, "DS208", "placeholder"),
    ("verl", {"prompt": [user("<image>")], "images": [{"bytes": "AAAA"}]}, "DS305", "bytes"),
    ("sagemaker-rlvr", {"prompt": "q"}, "DS204", "a list"),
    ("verl-legacy", {"prompt": [user("q")]}, "DS204", "expected text"),
    ("verl-sft", {"messages": [bot("a", reasoning_content="t")]}, "DS217", "role, content"),
]


@pytest.mark.parametrize(("id", "row", "code", "words"), READ_ERRORS)
def test_rows_that_cannot_be_read(id: str, row: Row, code: str, words: str) -> None:
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert caught.value.code == code
    assert words in caught.value.message


@pytest.mark.parametrize("id", ["verl", "verl-legacy", "sagemaker-rlvr"])
@pytest.mark.parametrize(("truth", "answer"), [("4", "four"), ("4", ""), ("", "4"), (["4"], "4"), (True, "True")])
def test_two_ground_truths_are_an_error_that_names_both(id: str, truth: Any, answer: Any) -> None:
    question = "q" if id == "verl-legacy" else [user("q")]
    row = {"prompt": question, "reward_model": {"ground_truth": truth}, "extra_info": {"answer": answer}}
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert caught.value.code == "DS307"
    assert caught.value.path == "extra_info.answer"
    assert "reward_model.ground_truth" in caught.value.message


def test_the_same_ground_truth_in_two_types_is_one() -> None:
    row = {"prompt": [user("q")], "reward_model": {"ground_truth": 4}, "extra_info": {"answer": "4"}}
    assert read("verl", row)["answer"] == "4"


def test_ground_truth_and_source_from_columns_of_their_own() -> None:
    row = {"question": "3 boxes of 4?", "solution": "12", "origin": "boxes"}
    columns = {"prompt": "question", "answer": "solution"}
    sample = read("verl-legacy", row, columns, {"origin": "data_source"})
    assert write("verl", sample) == {"data_source": "boxes", "prompt": [user("3 boxes of 4?")], **truth("12")}


def test_an_answer_column_beside_the_ground_truth_is_carried() -> None:
    row = {"prompt": [user("q")], "reward_model": {"ground_truth": "4"}, "answer": "2+2=4"}
    assert read("verl", row) == prompt(user("q"), answer="4", extra={"answer": "2+2=4"})


CALLED = bot("", tool_calls=[{"id": "a", "name": "f", "arguments": {}}])
IMAGE = {"type": "image", "source": "a.png"}
WRITE_ERRORS: list[tuple[str, Row, Row, str, str]] = [
    ("verl", prompt(user("q")), {}, "DS310", "--option data_source=NAME"),
    ("verl", prompt(user("q"), extra=GSM, answer="4") | {"messages": []}, {}, "DS302", "no messages"),
    ("verl", prompt(user("q"), CALLED, extra=GSM), {}, "DS306", "role and content"),
    ("verl", prompt(user("q"), extra={**GSM, "extra_info": {"index": "a"}}), {}, "DS308", "whole number"),
    ("verl", prompt(user("q"), extra={**GSM, "extra_info": {"answer": "5"}}, answer="4"), {}, "DS307", "answer"),
    ("verl", prompt(user("q"), extra={**GSM, "extra_info": "x"}), {}, "DS207", "an object"),
    ("verl", prompt(user("q"), extra={**GSM, "prompt": "x"}), {}, "DS310", "--column attributes=prompt"),
    ("verl", prompt(user("q"), extra={"data_source": "searchR1_nq"}), {}, "DS307", "searchR1"),
    ("verl", prompt(user([{"type": "image", "source": {"uri": "s", "bucketOwner": "1"}}])), {}, "DS310", "scorer"),
    ("verl", prompt(user([{**IMAGE, "source": {"bytes": "s"}}]), extra=GSM), {}, "DS305", "bytes"),
    ("verl-legacy", prompt(system("s"), user("q")), {}, "DS308", "one turn of the user"),
    ("sagemaker-rlvr", prompt(system("s")), {}, "DS302", "a turn of the user"),
    ("sagemaker-rlvr", prompt(user([IMAGE])), {}, "DS305", "text only"),
    ("verl-sft", {"task": "sft", "messages": [user("q")]}, {}, "DS302", "nothing to train"),
    ("verl-sft", {"task": "sft", "messages": [bot("a", weight=0)]}, {}, "DS310", "no place"),
    ("verl-sft", {"task": "sft", "messages": [CALLED]}, {"arguments": "object"}, "DS306", "arguments=text"),
    (
        "verl-sft",
        {"task": "sft", "messages": [bot("a")], "tools": [{"name": "f", "parameters": {"properties": {"x": {}}}}]},
        {"parameters": "object"},
        "DS306",
        "an empty object",
    ),
    (
        "verl-sft",
        {"task": "sft", "messages": [bot("a")], "extra": {"enable_thinking": "no"}},
        {},
        "DS308",
        "true or false",
    ),
]


@pytest.mark.parametrize(("id", "sample", "options", "code", "words"), WRITE_ERRORS)
def test_samples_that_cannot_be_written(id: str, sample: Row, options: Row, code: str, words: str) -> None:
    with pytest.raises(RowError) as caught:
        write(id, sample, **options)
    assert caught.value.code == code
    assert words in caught.value.message


def test_data_source_by_option_fills_only_what_is_missing() -> None:
    assert write("verl", prompt(user("q"), answer="4"), data_source="mine")["data_source"] == "mine"
    assert write("verl", prompt(user("q"), answer="4", extra=GSM), data_source="mine")["data_source"] == "openai/gsm8k"


def test_free_objects_can_be_kept_for_json_lines() -> None:
    info = {"tools_kwargs": {"calc": {"x": 1}}, "level": 2}
    row = write("verl", prompt(user("q"), answer="4", extra={**GSM, "extra_info": info}), objects="kept")
    assert row["extra_info"] == {**info, "answer": "4"}


def test_empty_properties_of_a_tool_are_left_out() -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {}, "required": []}}
    row = write("verl-sft", {"task": "sft", "messages": [bot("a")], "tools": [tool]}, parameters="object")
    assert row["tools"][0]["function"]["parameters"] == {"type": "object", "required": []}


def with_tool(**parameters: Any) -> Row:
    return {"task": "sft", "messages": [bot("a")], "tools": [{"name": "f", "parameters": parameters}]}


@pytest.mark.parametrize(
    ("samples", "parameters"),
    [
        ([with_tool(type="object"), with_tool(type="object")], {"type": "object"}),
        ([with_tool(type="object"), with_tool(type="object", required=["a"])], '{"type": "object"}'),
        ([with_tool(type="object", properties={"x": {}})], '{"type": "object", "properties": {"x": {}}}'),
    ],
)
def test_parameters_are_objects_where_all_rows_have_the_same_tools(samples: list[Row], parameters: Any) -> None:
    format = find_format("verl-sft")
    c, notes = Constants("sft", format.manifest.columns, options=options_of(format, "write", {})), Notes()
    assert format.writer.survey_needed(c)
    for sample in samples:
        format.writer.survey(sample, c, notes)
    format.writer.decide(notes, c)
    row = format.writer.write_row(samples[0], c)
    assert row["tools"][0]["function"]["parameters"] == parameters
    assert format.writer.write_row(read("verl-sft", row), c) == row


@pytest.mark.parametrize("arguments", ["text", "object"])
def test_arguments_and_the_content_beside_a_call(arguments: str) -> None:
    called = bot("", tool_calls=[{"id": "a", "name": "f", "arguments": {"x": 1}}])
    (message,) = write("verl-sft", {"task": "sft", "messages": [called]}, arguments=arguments)["messages"]
    assert message["content"] == ""
    assert message["tool_calls"][0]["function"]["arguments"] == ('{"x": 1}' if arguments == "text" else {"x": 1})


def advice(id: str, samples: list[Row], **options: Any) -> list[Advice]:
    format = find_format(id)
    own = format.part("advise")
    assert own is not None
    c = Constants(TASKS[id], format.manifest.columns, options=options_of(format, "write", options))
    notes = Notes()
    for number, sample in enumerate(samples, 1):
        own.observe(write(id, sample, **options), number, notes, c)
    return list(own.advise(notes, len(samples), c))


def test_advice_on_verl_files() -> None:
    scored = prompt(user("q"), answer="4", extra=GSM)
    assert advice("verl", [scored]) == []
    said = advice(
        "verl", [scored, prompt(user("q"), extra={"data_source": "my/data", "extra_info": {"tools_kwargs": {}}})]
    )
    assert [one.code for one in said] == ["DS416", "DS412", "DS417"]
    assert "`my/data`" in said[0].message and "row 2" in said[2].message


def test_advice_on_differing_tools() -> None:
    one, other = ({"task": "sft", "messages": [bot("a")], "tools": [{"name": name}]} for name in "fg")
    assert advice("verl-sft", [one, one]) == []
    assert [said.code for said in advice("verl-sft", [one, other, other])] == ["DS418"]


# What SageMaker's row check says of a file, and what is done instead of refusing it, or the reason it is refused.
SAGEMAKER = {
    "verl_attr_int": "written: difficulty becomes text",
    "verl_id_int": "written: the id becomes text",
    "verl_extra_null": "written: null means none",
    "verl_both": "DS307: training and evaluation would use different answers",
    "verl_extra_emptyanswer": "DS307: evaluation would use the empty answer",
}


@pytest.mark.parametrize("case", cases("sagemaker_verdicts.jsonl"), ids=lambda case: case["name"])
def test_verdicts_of_sagemaker(case: Row) -> None:
    row = json.loads(case["text"])
    id = "verl-legacy" if isinstance(row["prompt"], str) else "verl"
    accepted = case["verdicts"]["SDKverl"] == "P"
    expected = SAGEMAKER.get(case["name"], "written" if accepted else "DS207")
    try:
        written = write(id, read(id, row), data_source="none")
    except RowError as error:
        assert expected.startswith(error.code)
        return
    assert expected.startswith("written")
    assert {type(written[key]) for key in ("data_source", "ability", "id", "difficulty") if key in written} <= {str}
    assert written["extra_info"]["answer"] == written["reward_model"]["ground_truth"]
    assert isinstance(written["extra_info"]["answer"], str)


# What verl refuses, and is written all the same.
VERL = {
    "verl_rl_bad_gt_date": "Parquet keeps the date as text; it is JSON Lines that loses it",
    "verl_rl_bad_gt_int": "the ground truth becomes text",
    "verl_rl_bad_no_reward": "the ground truth is that of extra_info.answer",
    "verl_rl_bad_unknown_source": "a reward function of one's own scores it: an advisory, DS416",
    "verl_rl_sagemaker_min": "style is written",
    "verl_rl_tools_union": "tools_kwargs are JSON text, so no row gets the keys of another",
}


@pytest.mark.parametrize("case", cases("verl_verdicts.jsonl"), ids=lambda case: f"{case['name']} {case['mode']}")
def test_verdicts_of_verl(case: Row) -> None:
    try:
        for row in case["rows"]:
            write(case["format"], read(case["format"], row))
        accepted = True
    except RowError:
        accepted = False
    if case["name"] in VERL:
        assert accepted, VERL[case["name"]]
    else:
        assert accepted == (case["verdict"] == "accept")


def test_parquet_has_an_explicit_schema_that_holds_dates_and_digits_as_text(tmp_path: Path) -> None:
    rows = [*find_format("verl").examples(), {"prompt": [user("when?")], **GSM, **truth("2024-01-01")}]
    survey = SchemaSurvey(find_format("verl").manifest.parquet)
    for row in rows:
        survey.see(row)
    schema = survey.schema()
    assert str(schema.field("prompt").type) == "list<item: struct<role: string, content: string>>"
    with open_writer(tmp_path / "rows.parquet", "parquet", schema=schema) as writer:
        for row in rows:
            writer.write(row)
    with open_rows(tmp_path / "rows.parquet") as stream:
        again = [write("verl", read("verl", row)) for row in stream]
    assert again == rows


def test_real_rows(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "data/wild/verl_frozen_lake.jsonl").read_text("utf-8").splitlines()]
    written = [write("verl", read("verl", row)) for row in rows]
    assert {row["agent_name"] for row in written} == {"ep_mcp_agent"}
    assert [row["prompt"] for row in written] == [row["prompt"] for row in rows]
