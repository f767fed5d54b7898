"""Rows of Amazon Nova: nova-sft, nova-dpo, nova-rlvr, nova-cpt, nova-eval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.formats import find_format, options_of
from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.nova_text import RESERVED_IN_ANY_CASE, RESERVED_WORDS, is_doubtful

Row = dict[str, Any]
TASKS = {"nova-sft": "sft", "nova-dpo": "preference", "nova-rlvr": "prompt", "nova-cpt": "pretrain"}
TASKS |= {"nova-eval": "prompt"}
S3 = {"uri": "s3://bucket/a.png", "bucketOwner": "111122223333"}


def system(content: Any) -> Row:
    return {"role": "system", "content": content}


def user(content: Any, **more: Any) -> Row:
    return {"role": "user", "content": content, **more}


def bot(content: Any, **more: Any) -> Row:
    return {"role": "assistant", "content": content, **more}


def turn(role: str, *blocks: Row | str) -> Row:
    return {"role": role, "content": [{"text": block} if isinstance(block, str) else block for block in blocks]}


def nova(*turns: Row, **more: Any) -> Row:
    return {"schemaVersion": "bedrock-conversation-2024", **more, "messages": list(turns)}


def candidates(chosen: str, rejected: str) -> Row:
    sides = {"preferred": chosen, "non-preferred": rejected}
    answers = [{"content": [{"text": text}], "preferenceLabel": label} for label, text in sides.items()]
    return {"role": "assistant", "candidates": answers}


def read(id: str, row: Row, task: str = "") -> Row:
    format = find_format(id)
    c = Constants(task or TASKS[id], format.manifest.columns, options=options_of(format, "read", {}))
    sample: Row = format.reader.read_row(row, c)
    return sample


def constants(id: str, task: str = "", **options: Any) -> Constants:
    format = find_format(id)
    return Constants(task or TASKS[id], format.manifest.columns, options=options_of(format, "write", options))


def write(id: str, sample: Row, **options: Any) -> Row:
    row: Row = find_format(id).writer.write_row(sample, constants(id, sample["task"], **options))
    return row


def sample_of(id: str, *messages: Row, **more: Any) -> Row:
    return {"task": TASKS[id], "messages": list(messages), **more}


def sft(*messages: Row, **more: Any) -> Row:
    return sample_of("nova-sft", *messages, **more)


def prompt(*messages: Row, **more: Any) -> Row:
    return sample_of("nova-rlvr", *messages, **more)


FUNCTION = {"name": "clock", "description": "The time in a city", "parameters": {"type": "object", "properties": {}}}
TOOL = {"type": "function", "function": FUNCTION}
SPEC = {"toolSpec": {"name": "clock", "description": "The time in a city", "inputSchema": {"json": {"type": "object"}}}}
CONFIG = {
    "tools": [
        {
            "toolSpec": {
                "name": "clock",
                "description": "The time in a city",
                "inputSchema": {"json": FUNCTION["parameters"]},
            }
        }
    ]
}


def call(id: str, city: str = "Lima") -> Row:
    return {"id": id, "name": "clock", "arguments": {"city": city}}


def use(id: str, city: str = "Lima") -> Row:
    return {"toolUse": {"toolUseId": id, "name": "clock", "input": {"city": city}}}


def result(id: str, text: str) -> Row:
    return {"toolResult": {"toolUseId": id, "content": [{"text": text}]}}


def tool(id: str, text: str) -> Row:
    return {"role": "tool", "content": text, "tool_call_id": id}


def image(uri: str = S3["uri"], form: str = "png") -> Row:
    return {"image": {"format": form, "source": {"s3Location": {"uri": uri, "bucketOwner": S3["bucketOwner"]}}}}


# A row, and the sample it is read as; it is written back as it was.
BOTH_WAYS: list[tuple[str, Row, Row]] = [
    ("nova-sft", nova(turn("user", "你好"), turn("assistant", "你好！")), sft(user("你好"), bot("你好！"))),
    (
        "nova-sft",
        nova(turn("user", "Hi"), turn("assistant", "Hello"), system=[{"text": "Be kind."}]),
        sft(system("Be kind."), user("Hi"), bot("Hello")),
    ),
    (
        "nova-sft",
        nova(
            turn("user", "Time in Lima and Oslo?"),
            turn("assistant", "Let me see.", use("a"), use("b", "Oslo")),
            turn("user", result("a", "09:41"), result("b", "15:41")),
            turn("assistant", "9:41 and 15:41."),
            toolConfig=CONFIG,
        ),
        sft(
            user("Time in Lima and Oslo?"),
            bot("Let me see.", tool_calls=[call("a"), call("b", "Oslo")]),
            tool("a", "09:41"),
            tool("b", "15:41"),
            bot("9:41 and 15:41."),
            tools=[TOOL],
        ),
    ),
    (
        "nova-sft",
        nova(
            turn("user", "What is it?", image()),
            turn("assistant", {"reasoningContent": {"reasoningText": {"text": "Wings."}}}, "A bird."),
        ),
        sft(
            user([{"type": "text", "text": "What is it?"}, {"type": "image", "source": {**S3, "format": "png"}}]),
            bot("A bird.", thinking="Wings."),
        ),
    ),
    (
        "nova-dpo",
        nova(turn("user", "q"), turn("assistant", "a"), turn("user", "r"), candidates("good", "bad")),
        {
            "task": "preference",
            "messages": [user("q"), bot("a"), user("r")],
            "chosen": [bot("good")],
            "rejected": [bot("bad")],
        },
    ),
    (
        "nova-rlvr",  # seeds: the documented row
        {
            "messages": [system("You are a helpful assistant."), user("Hello!")],
            "reference_answer": {"answer": "49"},
        },
        prompt(system("You are a helpful assistant."), user("Hello!"), answer="49"),
    ),
    (
        "nova-rlvr",
        {"messages": [user("q")], "reference_answer": {"city": "Rome"}, "tools": [TOOL], "id": "7", "difficulty": 3},
        prompt(user("q"), answer={"city": "Rome"}, tools=[TOOL], extra={"id": "7", "difficulty": 3}),
    ),
    ("nova-cpt", {"text": "潮汐"}, {"task": "pretrain", "text": "潮汐"}),
    (
        "nova-eval",
        {"query": "q", "response": "r", "system": "s"},
        {"task": "prompt", "messages": [system("s"), user("q")], "answer": "r"},
    ),
    (
        "nova-eval",
        {"query": "q", "response": "r", "images": [{"data": "data:image/png;base64,AAAA"}]},
        {
            "task": "prompt",
            "messages": [
                user([{"type": "image", "source": "data:image/png;base64,AAAA"}, {"type": "text", "text": "q"}])
            ],
            "answer": "r",
        },
    ),
]


@pytest.mark.parametrize(("id", "row", "sample"), BOTH_WAYS)
def test_rows_are_read_and_written_back(id: str, row: Row, sample: Row) -> None:
    assert read(id, row) == sample
    assert write(id, sample) == row


READ_ERRORS: list[tuple[str, Row, str, str]] = [
    ("nova-sft", nova(turn("user", "a"), system="s"), "DS204", "system"),
    ("nova-sft", nova({"role": "user", "content": "a"}), "DS204", "messages[0].content"),
    ("nova-sft", nova(turn("tool", "a")), "DS206", "messages[0].role"),
    ("nova-sft", nova(turn("user")), "DS303", "messages[0].content"),
    ("nova-sft", nova(turn("user", {"text": "a", "image": {}})), "DS216", "messages[0].content[0]"),
    ("nova-sft", nova(turn("user", use("a"))), "DS216", "messages[0].content[0]"),
    ("nova-sft", nova(turn("user", "a"), toolConfig={"tools": []}), "DS209", "toolConfig.tools"),
    ("nova-sft", nova(turn("user", "a"), toolConfig={"tools": [SPEC], "toolChoice": {}}), "DS217", "toolConfig."),
    ("nova-sft", nova(turn("user", {"image": {"source": {"bytes": "AAAA"}}})), "DS305", "messages[0].content[0]"),
    ("nova-sft", nova(turn("user", result("a", "x"), "and more")), "DS216", "messages[0].content"),
    ("nova-sft", {"schemaVersion": 1, "messages": []}, "DS204", "schemaVersion"),
    ("nova-dpo", nova(), "DS202", "messages"),
    ("nova-dpo", nova(turn("user", "q"), turn("assistant", "a")), "DS202", "messages[1]"),
    ("nova-rlvr", {"messages": [user("q", name="bob")]}, "DS310", "messages[0].name"),
    ("nova-rlvr", {"messages": [tool("a", "q")]}, "DS302", "messages[0].role"),
    ("nova-eval", {"query": ["q"]}, "DS204", "query"),
]


@pytest.mark.parametrize(("id", "row", "code", "path"), READ_ERRORS)
def test_rows_that_cannot_be_read(id: str, row: Row, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert caught.value.code == code
    assert caught.value.path.startswith(path)


def test_labels_are_read_in_any_letter_case() -> None:
    row = nova(turn("user", "q"), candidates("good", "bad"))
    row["messages"][1]["candidates"][0]["preferenceLabel"] = "Preferred"
    assert read("nova-dpo", row)["chosen"] == [bot("good")]


def test_answers_of_rlvr() -> None:
    answers = [{"answer": "x"}, {"answer": ""}, {"answer": {"a": 1}}, "x", 4, None]
    found = [read("nova-rlvr", {"messages": [user("q")], "reference_answer": value}).get("answer") for value in answers]
    assert found == ["x", {"answer": ""}, {"answer": {"a": 1}}, "x", 4, None]


PICTURE = [{"type": "image", "source": {**S3}}, {"type": "text", "text": "?"}]
WRITE_ERRORS: list[tuple[str, Row, Row, str, str]] = [
    # One system prompt, before the dialogue.
    ("nova-sft", sft(system("a"), system("b"), user("q"), bot("a")), {}, "DS302", "another"),
    ("nova-sft", sft(user("q"), system("b"), bot("a")), {}, "DS302", "a later one"),
    ("nova-sft", sft(system([{"type": "text", "text": "a"}] * 2), user("q"), bot("a")), {}, "DS302", "several texts"),
    # The order of turns.
    ("nova-sft", sft(bot("a")), {}, "DS302", "`assistant` follows the start"),
    ("nova-sft", sft(system("s"), bot("a")), {}, "DS302", "`assistant` follows the start"),
    ("nova-sft", sft(user("a"), user("b"), bot("c")), {}, "DS302", "`user` follows `user`"),
    ("nova-sft", sft(user("a"), bot("b"), user("c")), {}, "DS302", "ends in an assistant's turn"),
    ("nova-sft", sft(), {}, "DS302", "ends in an assistant's turn"),
    # Text.
    ("nova-sft", sft(user(""), bot("a")), {}, "DS303", "empty"),
    ("nova-sft", sft(user([]), bot("a")), {}, "DS303", "empty"),
    ("nova-sft", sft(user("a"), bot("", thinking="t")), {}, "DS303", "empty"),
    ("nova-sft", sft(user("a"), bot("b", thinking="")), {}, "DS303", "empty"),
    ("nova-sft", sft(user("Hi"), bot("Bot: Hello")), {}, "DS304", "'Bot:' at 0"),
    ("nova-sft", sft(user("Look: <image>"), bot("Hello")), {}, "DS304", "'<image>' at 6"),
    ("nova-sft", sft(system("End with [EOS]"), user("Hi"), bot("Hello")), {}, "DS304", "'[EOS]' at 9"),
    # Tools.
    ("nova-sft", sft(user("q"), bot("", tool_calls=[call("a"), call("a")]), tools=[TOOL]), {}, "DS306", "used twice"),
    (
        "nova-sft",
        sft(user("q"), bot("", tool_calls=[call("a")]), tool("b", "x"), bot("y")),
        {},
        "DS306",
        "no open call",
    ),
    ("nova-sft", sft(user("q"), bot("a"), tool("", "x"), bot("y")), {}, "DS306", "no open call"),
    (
        "nova-sft",
        sft(user("q"), bot("", tool_calls=[{**call("a"), "name": "other"}]), tools=[TOOL]),
        {},
        "DS306",
        "called but not defined",
    ),
    (
        "nova-sft",
        sft(user("q"), bot("", tool_calls=[{**call("a"), "arguments": "{city"}])),
        {},
        "DS210",
        "no JSON object",
    ),
    ("nova-sft", sft(user("q"), bot("a"), tools=[TOOL, TOOL]), {}, "DS306", "defined twice"),
    ("nova-sft", sft(user("q"), bot("a"), tools=[{**FUNCTION, "description": ""}]), {}, "DS306", "description"),
    ("nova-sft", sft(user("q"), bot("a"), tools=[{**FUNCTION, "parameters": {}}]), {}, "DS306", "parameters"),
    ("nova-sft", sft(user("q"), bot("a"), tools=[{**FUNCTION, "examples": [1]}]), {}, "DS306", "examples"),
    # Media.
    ("nova-sft", sft(user([{"type": "image", "source": "a.png"}]), bot("a")), {}, "DS305", "media_prefix"),
    ("nova-sft", sft(user([{"type": "image", "source": "s3://b/a.png"}]), bot("a")), {}, "DS305", "bucket_owner"),
    ("nova-sft", sft(user([{"type": "image", "source": "s3://b/a b.png"}]), bot("a")), {}, "DS305", "letters"),
    ("nova-sft", sft(user([{"type": "audio", "source": "s3://b/a.mp3"}]), bot("a")), {}, "DS305", "no audios"),
    ("nova-sft", sft(user("q"), bot(PICTURE)), {}, "DS305", "user's turn"),
    ("nova-sft", sft(user(PICTURE[:1] * 11), bot("a")), {}, "DS305", "11 images"),
    # What the older models do not take.
    ("nova-sft", sft(user("q"), bot("a"), tools=[TOOL]), {"model": "lite-1"}, "DS306", "lite-1 is not trained"),
    ("nova-sft", sft(user("q"), bot("", tool_calls=[call("a")])), {"model": "pro"}, "DS306", "pro is not trained"),
    ("nova-sft", sft(user("q"), bot("a", thinking="t")), {"model": "lite-1"}, "DS310", "--strip thinking"),
    ("nova-sft", sft(user(PICTURE), bot("a")), {"model": "micro"}, "DS305", "micro takes no images"),
    (
        "nova-sft",
        sft(user([{"type": "document", "source": {**S3, "format": "pdf"}}]), bot("a")),
        {"model": "pro"},
        "DS305",
        "pro takes no documents",
    ),
    # Preference pairs.
    (
        "nova-dpo",
        {"task": "preference", "messages": [user("q"), bot("a")], "chosen": [bot("x")], "rejected": [bot("y")]},
        {},
        "DS302",
        "ends in a user's turn",
    ),
    (
        "nova-dpo",
        {"task": "preference", "messages": [user("q")], "chosen": [bot("x")], "rejected": [bot("")]},
        {},
        "DS303",
        "empty",
    ),
    (
        "nova-dpo",
        {"task": "preference", "messages": [user("q")], "chosen": [bot("x")], "rejected": [bot(PICTURE)]},
        {},
        "DS305",
        "text only",
    ),
    (
        "nova-dpo",
        {
            "task": "preference",
            "messages": [user("q")],
            "chosen": [bot("", tool_calls=[call("a")])],
            "rejected": [bot("y")],
        },
        {},
        "DS308",
        "without tool calls",
    ),
    # Reinforcement.
    ("nova-rlvr", prompt(user("q")), {}, "DS307", "has none"),
    ("nova-rlvr", prompt(user("q"), answer=""), {}, "DS307", "has none"),
    ("nova-rlvr", prompt(user("q"), answer={"a": 1}), {"reference_answer": "string"}, "DS307", "no text"),
    ("nova-rlvr", prompt(user(" \n"), answer="a"), {}, "DS303", "blank"),
    ("nova-rlvr", prompt(system("s"), answer="a"), {}, "DS302", "a turn of the user"),
    ("nova-rlvr", prompt(user("q"), system("s"), answer="a"), {}, "DS302", "only stand first"),
    ("nova-rlvr", prompt(user(PICTURE), answer="a"), {}, "DS305", "text only"),
    ("nova-rlvr", prompt(user("q"), bot("", tool_calls=[call("a")]), answer="a"), {}, "DS306", "role and content"),
    ("nova-rlvr", prompt(user("q"), answer="a", extra={"tools": 1}), {}, "DS310", "Nova's own"),
    ("nova-rlvr", prompt(user("q"), answer="a", extra={"id": ""}), {}, "DS310", "empty"),
    # Evaluation.
    (
        "nova-eval",
        {"task": "prompt", "messages": [user("q"), bot("a"), user("r")], "answer": "x"},
        {},
        "DS308",
        "one q",
    ),
    ("nova-eval", {"task": "prompt", "messages": [user("q")], "answer": {"a": 1}}, {}, "DS307", "text"),
    ("nova-eval", {"task": "prompt", "messages": [user(PICTURE)], "answer": "a"}, {}, "DS305", "data URIs"),
    ("nova-cpt", {"task": "pretrain", "text": " \n"}, {}, "DS303", "blank"),
]


@pytest.mark.parametrize(("id", "sample", "options", "code", "words"), WRITE_ERRORS)
def test_samples_that_nova_does_not_take(id: str, sample: Row, options: Row, code: str, words: str) -> None:
    with pytest.raises(RowError) as caught:
        write(id, sample, **options)
    assert caught.value.code == code
    assert words in caught.value.message


def test_reserved_words_can_be_let_through() -> None:
    sample = sft(user("User: hi"), bot("ok"))
    assert write("nova-sft", sample, reserved="warn") == nova(turn("user", "User: hi"), turn("assistant", "ok"))


def test_a_system_prompt_that_is_empty_means_none() -> None:
    assert "system" not in write("nova-sft", sft(system(""), user("q"), bot("a")))


def test_media_get_a_place_and_an_owner_from_options() -> None:
    sample = sft(user([{"type": "image", "source": "birds/heron.JPG"}]), bot("A heron."))
    options = {"media_prefix": "s3://bucket/media/", "bucket_owner": S3["bucketOwner"]}
    block = write("nova-sft", sample, **options)["messages"][0]["content"][0]
    assert block == image("s3://bucket/media/birds/heron.JPG", "jpeg")


def test_webp_is_for_the_older_models() -> None:
    sample = sft(user([{"type": "image", "source": {**S3, "uri": "s3://b/a.webp"}}]), bot("a"))
    assert write("nova-sft", sample, model="lite-1")["messages"][0]["content"] == [image("s3://b/a.webp", "webp")]
    with pytest.raises(RowError, match="webp"):
        write("nova-sft", sample)


def test_a_result_without_an_id_answers_the_first_call_that_waits() -> None:
    sample = sft(
        user("q"),
        bot("", tool_calls=[call("a"), call("b")]),
        tool("a", "1"),
        {"role": "tool", "content": "2"},
        bot("c"),
    )
    assert write("nova-sft", sample)["messages"][2]["content"] == [result("a", "1"), result("b", "2")]


def test_strict_and_nulls_of_a_tool_are_left_out() -> None:
    sample = sft(user("q"), bot("a"), tools=[{**FUNCTION, "strict": True, "examples": None}])
    assert write("nova-sft", sample)["toolConfig"] == CONFIG


def test_reference_answer_as_text() -> None:
    assert write("nova-rlvr", prompt(user("q"), answer="49"), reference_answer="string")["reference_answer"] == "49"
    assert write("nova-rlvr", prompt(user("q"), answer=49))["reference_answer"] == {"answer": 49}


def test_evaluation_takes_the_answer_of_a_dialogue() -> None:
    sample = {"task": "sft", "messages": [system("s"), user("q"), bot("a")]}
    assert write("nova-eval", sample) == {"query": "q", "response": "a", "system": "s"}
    assert read("nova-eval", {"query": "q", "response": "a", "system": "s"}, "sft") == sample


def advice(id: str, samples: list[Row], **options: Any) -> list[Advice]:
    """All advisories on the rows that these samples become."""
    format = find_format(id)
    own = format.part("advise")
    assert own is not None
    c = constants(id, **options)
    notes = Notes()
    for number, sample in enumerate(samples, 1):
        own.observe(format.writer.write_row(sample, c), number, notes, c)
    return list(own.advise(notes, len(samples), c))


PLAIN = sft(user("q"), bot("a"))
REWARDED = prompt(user("q"), answer="a")
PAIR = {"task": "preference", "messages": [user("q")], "chosen": [bot("x")], "rejected": [bot("y")]}


@pytest.mark.parametrize(
    ("id", "samples", "options", "codes"),
    [
        ("nova-sft", [PLAIN] * 7, {}, ["DS401"]),
        ("nova-sft", [PLAIN] * 199, {}, ["DS401"]),
        ("nova-sft", [PLAIN] * 200, {}, []),
        ("nova-sft", [PLAIN] * 8, {"model": "lite-1"}, []),
        ("nova-sft", [PLAIN] * 20_001, {"model": "pro"}, ["DS401"]),
        ("nova-sft", [PLAIN] * 200 + [sft(system("s"), user("q"), bot("a"))], {}, ["DS402"]),
        ("nova-sft", [sft(user("Chatbot: hi"), bot("a"))] * 200, {}, ["DS403"]),
        ("nova-sft", [sft(user(" "), bot("a"))] * 200, {}, ["DS414"]),
        ("nova-sft", [sft(user(PICTURE), bot("a"), tools=[TOOL])] * 200, {}, ["DS415"]),
        ("nova-dpo", [PAIR] * 999, {}, ["DS401"]),
        ("nova-dpo", [PAIR] * 1000, {}, []),
        ("nova-dpo", [{**PAIR, "tools": [TOOL]}] * 1000, {}, ["DS415"]),
        ("nova-dpo", [{**PAIR, "rejected": [bot("my chatbot: no")]}] * 1000, {}, ["DS403"]),
        ("nova-rlvr", [REWARDED] * 100, {}, []),
        ("nova-rlvr", [REWARDED] * 99, {}, ["DS401"]),
        ("nova-rlvr", [{**REWARDED, "extra": {"id": "7"}}] + [REWARDED] * 99, {}, ["DS402"]),
    ],
)
def test_advice_on_files(id: str, samples: list[Row], options: Row, codes: list[str]) -> None:
    assert [said.code for said in advice(id, samples, **options)] == codes


def test_advice_names_counts_row_offset_and_the_way_out() -> None:
    said = advice(
        "nova-sft",
        [
            *[PLAIN] * 300,
            sft(system("s"), user("An operating system: Linux"), bot("a")),
            sft(user("SysTem: x"), bot("a")),
        ],
    )
    mixed, reserved = said
    assert mixed.message.startswith("1 of 302 rows have `system`")
    assert mixed.hint == "--skip system leaves out the rows that have it, --strip system takes it out of them"
    assert "2 texts hold 'system:'" in reserved.message
    assert "row 301 at messages[0], offset 13" in reserved.message


def test_a_homogeneous_file_is_demanded_only_when_asked() -> None:
    writer = find_format("nova-sft").writer
    assert not writer.survey_needed(constants("nova-sft"))
    c = constants("nova-sft", homogeneous="true")
    assert writer.survey_needed(c)
    notes = Notes()
    writer.survey(PLAIN, c, notes)
    writer.decide(notes, c)
    writer.survey(sft(user("q"), bot("a", thinking="t")), c, notes)
    with pytest.raises(RowError, match=r"1 of 2 rows have `reasoningContent`.*--strip thinking") as caught:
        writer.decide(notes, c)
    assert caught.value.code == "DS402"


@pytest.mark.parametrize("id", TASKS)
def test_example_rows(id: str) -> None:
    for row in find_format(id).examples():
        assert json.dumps(write(id, read(id, row))) == json.dumps(row)


def test_real_rows_of_aws(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "data/wild/nova_converse_sft.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 8
    assert [write("nova-sft", read("nova-sft", row)) for row in rows] == rows


@given(st.lists(st.sampled_from([*RESERVED_WORDS, *RESERVED_IN_ANY_CASE, "Use", "r:", "İ", "<", "[", " ", "\n"])))
def test_no_text_is_passed_that_holds_a_reserved_word_or_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    for spelt in (text, text.upper(), text.title(), text.swapcase()):
        if not spelt.strip() or any(word in spelt or word in spelt.lower() for word in RESERVED_IN_ANY_CASE):
            assert is_doubtful(spelt)


def test_no_character_turns_into_one_of_a_reserved_word() -> None:
    marks = set("mrt:<iuv[e")
    alike = {chr(code) for code in range(0x110000) if marks & set(chr(code).lower())}
    assert alike == marks | {mark.upper() for mark in marks} | {"İ"}
    assert "<İ".lower().startswith("<i̇") and not is_doubtful("<İmage>")


def test_tools_that_rows_share_are_laid_out_once_and_lists_are_each_rows_own() -> None:
    writer, c = find_format("nova-sft").writer, constants("nova-sft")
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    shared = [tool]
    sample = {"task": "sft", "messages": [user("a"), bot("b")], "tools": shared}
    first, second = writer.write_row(sample, c), writer.write_row(sample, c)
    assert first == second
    assert first["toolConfig"]["tools"] is not second["toolConfig"]["tools"]
    for i in range(1000):  # more lists than are remembered, each of its own
        row = writer.write_row({**sample, "tools": [{**tool, "name": f"f{i}"}]}, c)
        assert row["toolConfig"]["tools"][0]["toolSpec"]["name"] == f"f{i}"
    assert writer.write_row(sample, c) == first
