"""Rows of SageMaker: sagemaker-eval, sagemaker-sft, sagemaker-dpo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.formats import choose_way, find_format, options_of
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

Row = dict[str, Any]
CASES = Path(__file__).parent / "sagemaker_cases"
TASKS = {"sagemaker-eval": "prompt", "sagemaker-sft": "sft", "sagemaker-dpo": "preference"}


def user(content: Any) -> Row:
    return {"role": "user", "content": content}


def bot(content: str, **more: Any) -> Row:
    return {"role": "assistant", "content": content, **more}


def system(content: str) -> Row:
    return {"role": "system", "content": content}


def read(id: str, row: Row, task: str = "", columns: dict[str, str] | None = None) -> Row:
    format = find_format(id)
    sample: Row = format.reader.read_row(row, Constants(task or TASKS[id], columns or format.manifest.columns))
    return sample


def write(id: str, sample: Row) -> Row:
    format = find_format(id)
    c = Constants(sample["task"], format.manifest.columns, options=options_of(format, "write", {}))
    row: Row = format.writer.write_row(sample, c)
    return row


def only_row(name: str) -> Row:
    row: Row = json.loads((CASES / name).read_text("utf-8").splitlines()[0])
    return row


GRAMMAR = {
    "system": "You are an English major: ",
    "query": "What is the symbol that ends the sentence as a question",
    "response": "?",
    "category": "Grammar",
}
READ: list[tuple[str, Row, Row]] = [
    (
        "sagemaker-eval",
        GRAMMAR,
        {
            "messages": [system(GRAMMAR["system"]), user(GRAMMAR["query"])],
            "answer": "?",
            "extra": {"category": "Grammar"},
        },
    ),
    ("sagemaker-eval", {"query": "q"}, {"messages": [user("q")]}),
    ("sagemaker-eval", {"query": "q", "response": None, "system": ""}, {"messages": [user("q")]}),
    (
        "sagemaker-eval",
        {"query": "q", "response": "", "id": 7},
        {"messages": [user("q")], "answer": "", "extra": {"id": 7}},
    ),
    ("sagemaker-sft", {"prompt": "p", "completion": "c"}, {"messages": [user("p"), bot("c")]}),
    (
        "sagemaker-sft",
        {"prompt": "p", "completion": "c", "system": "s"},
        {"messages": [system("s"), user("p"), bot("c")]},
    ),
    (
        "sagemaker-sft",
        {"messages": [system("s"), user("p"), bot("c")]},
        {"messages": [system("s"), user("p"), bot("c")]},
    ),
    (
        "sagemaker-dpo",
        {"prompt": "p", "chosen": "a", "rejected": "b", "system": "s"},
        {"messages": [system("s"), user("p")], "chosen": [bot("a")], "rejected": [bot("b")]},
    ),
    (
        "sagemaker-dpo",
        {"chosen": [system("s"), user("p"), bot("a")], "rejected": [system("s"), user("p"), bot("b")]},
        {"messages": [system("s"), user("p")], "chosen": [bot("a")], "rejected": [bot("b")]},
    ),
]


@pytest.mark.parametrize(("id", "row", "sample"), READ)
def test_reads(id: str, row: Row, sample: Row) -> None:
    assert read(id, row) == {"task": TASKS[id], **sample}


def test_reads_evaluation_rows_as_training_rows_when_asked() -> None:
    sample = read("sagemaker-eval", {"query": "q", "response": "r"}, task="sft")
    assert sample == {"task": "sft", "messages": [user("q"), bot("r")]}
    assert write("sagemaker-eval", sample) == {"query": "q", "response": "r"}


def test_reads_mapped_columns() -> None:
    """`--column response=solution --column category=topic`: the format's name stands for the data's column."""
    columns = {"query": "question", "response": "solution", "category": "topic"}
    sample = read("sagemaker-eval", {"question": "q", "solution": "a", "topic": "t"}, columns=columns)
    assert write("sagemaker-eval", sample) == {"query": "q", "response": "a", "category": "t"}


# The documented evaluation layouts, and the row of query and response that each stands for.
QUESTION = "What color is the sky?"
EVALUATION: list[tuple[str, Row, str | None, Row]] = [
    (
        "openai",
        {"messages": [system("s"), user("Hello!"), bot("Hello to you!")]},
        None,
        {"system": "s", "query": "Hello!", "response": "Hello to you!"},
    ),
    ("openai", {"messages": [user("Hello!"), bot("Hi")]}, None, {"query": "Hello!", "response": "Hi"}),
    ("sagemaker-eval", GRAMMAR, None, GRAMMAR),
    ("hf-prompt-completion", {"prompt": "p", "completion": "?"}, None, {"query": "p", "response": "?"}),
    (
        "hf-prompt-completion",
        {"prompt": [user("p")], "completion": [bot("?")]},
        None,
        {"query": "p", "response": "?"},
    ),
    (
        "hf-preference",
        {"prompt": "The sky is", "chosen": "blue", "rejected": "green"},
        "chosen",
        {"query": "The sky is", "response": "blue"},
    ),
    (
        "hf-preference",
        {"prompt": [user(QUESTION)], "chosen": [bot("It is blue.")], "rejected": [bot("It is green.")]},
        "chosen",
        {"query": QUESTION, "response": "It is blue."},
    ),
]


@pytest.mark.parametrize(("id", "row", "take", "evaluation"), EVALUATION)
def test_ground_truth_of_the_documented_layouts(id: str, row: Row, take: str | None, evaluation: Row) -> None:
    source = find_format(id)
    columns = {name: column for name, column in source.manifest.columns.items() if column in row}
    task = source.task_of(columns)
    sample = source.reader.read_row(row, Constants(task, columns))
    _, step = choose_way(task, find_format("sagemaker-eval"), take)
    samples = step.adapt(sample) if step else [sample]
    assert [write("sagemaker-eval", sample) for sample in samples] == [evaluation]


@pytest.mark.parametrize(
    ("id", "row"),
    [
        ("sagemaker-sft", {"prompt": "", "completion": ""}),
        ("sagemaker-dpo", {"prompt": "", "chosen": "", "rejected": ""}),
    ],
)
def test_the_bare_skeleton_is_a_row(id: str, row: Row) -> None:
    assert write(id, read(id, row)) == row


REFUSED: list[tuple[str, Row, str, str]] = [
    ("sagemaker-eval", {"response": "r"}, "DS203", "query"),
    ("sagemaker-eval", {"query": [user("q")]}, "DS204", "query"),
    ("sagemaker-eval", {"query": "q", "response": 4}, "DS204", "response"),
    ("sagemaker-eval", {"query": "q", "category": ["a"]}, "DS204", "category"),
    ("sagemaker-sft", {"prompt": "p"}, "DS203", "completion"),
    ("sagemaker-sft", {"prompt": "p", "completion": ["c"]}, "DS204", "completion"),
    ("sagemaker-sft", {"prompt": "p", "messages": [user("p"), bot("c")]}, "DS203", "messages"),
    ("sagemaker-sft", {"messages": [system("s"), user("p"), bot("c")], "system": "t"}, "DS211", "system"),
    ("sagemaker-dpo", {"prompt": "p", "chosen": "a", "rejected": None}, "DS204", "rejected"),
    ("sagemaker-dpo", {"chosen": [user("p"), bot("a")], "rejected": [user("q"), bot("b")]}, "DS202", "chosen"),
]


@pytest.mark.parametrize(("id", "row", "code", "path"), REFUSED)
def test_refuses_on_reading(id: str, row: Row, code: str, path: str) -> None:
    with pytest.raises(RowError) as caught:
        read(id, row)
    assert (caught.value.code, caught.value.path) == (code, path)


CALL = {"id": "c", "name": "f", "arguments": {}}
PROMPT: Row = {"task": "prompt", "messages": [user("q")]}
SFT: Row = {"task": "sft", "messages": [user("p"), bot("c")]}
PAIR: Row = {"task": "preference", "messages": [user("p")], "chosen": [bot("a")], "rejected": [bot("b")]}
WRITTEN: list[tuple[str, Row, Row]] = [
    ("sagemaker-eval", PROMPT, {"query": "q"}),
    ("sagemaker-eval", {**PROMPT, "answer": ""}, {"query": "q", "response": ""}),
    ("sagemaker-eval", {**PROMPT, "answer": None, "extra": {"id": 1}}, {"query": "q"}),
    ("sagemaker-eval", SFT, {"query": "p", "response": "c"}),
    ("sagemaker-sft", {**SFT, "extra": {"id": 7}}, {"prompt": "p", "completion": "c"}),
    (
        "sagemaker-dpo",
        {**PAIR, "messages": [system("s"), user("p")], "extra": {"source": "x"}},
        {"system": "s", "prompt": "p", "chosen": "a", "rejected": "b"},
    ),
]


@pytest.mark.parametrize(("id", "sample", "row"), WRITTEN)
def test_writes_exactly_the_keys_of_the_contract(id: str, sample: Row, row: Row) -> None:
    assert write(id, sample) == row


UNWRITABLE: list[tuple[str, Row, str]] = [
    ("sagemaker-eval", {**PROMPT, "answer": 4}, "DS307"),
    ("sagemaker-eval", {**PROMPT, "answer": {"value": "4"}}, "DS307"),
    ("sagemaker-eval", {**PROMPT, "messages": []}, "DS302"),
    ("sagemaker-eval", {**PROMPT, "messages": [user("a"), bot("b"), user("c")]}, "DS302"),
    ("sagemaker-eval", {**PROMPT, "extra": {"category": 3}}, "DS310"),
    ("sagemaker-eval", {**SFT, "messages": [user("p")]}, "DS302"),
    ("sagemaker-sft", {**SFT, "messages": [user("p"), bot("", tool_calls=[CALL])]}, "DS302"),
    ("sagemaker-sft", {**SFT, "messages": [user("a"), bot("b"), user("c"), bot("d")]}, "DS302"),
    ("sagemaker-sft", {**SFT, "messages": [user([{"type": "text", "text": "a"}]), bot("b")]}, "DS305"),
    ("sagemaker-sft", {**SFT, "messages": []}, "DS302"),
    ("sagemaker-dpo", {**PAIR, "chosen": [bot("a"), bot("b")]}, "DS302"),
    ("sagemaker-dpo", {**PAIR, "messages": [user("a"), system("s")]}, "DS302"),
]


@pytest.mark.parametrize(("id", "sample", "code"), UNWRITABLE)
def test_refuses_on_writing(id: str, sample: Row, code: str) -> None:
    with pytest.raises(RowError) as caught:
        write(id, sample)
    assert caught.value.code == code


# The verdict of sagemaker-train 1.27.0 on each file, and the code it is refused with here: None is read.
VERDICTS = [
    ("sagemaker-sft", "os_sft.jsonl", "accept", None),
    ("sagemaker-sft", "os_sft_conv.jsonl", "refuse", "DS204"),
    ("sagemaker-sft", "os_dpo.jsonl", "refuse", "DS203"),
    ("sagemaker-dpo", "os_dpo.jsonl", "accept", None),
    ("sagemaker-dpo", "os_dpo_conv.jsonl", "refuse", "DS204"),
    ("sagemaker-dpo", "os_dpo_mixed.jsonl", "refuse", "DS204"),
    ("sagemaker-dpo", "os_dpo_noprompt.jsonl", "refuse", "DS203"),
    ("sagemaker-dpo", "os_sft.jsonl", "refuse", "DS203"),
    ("sagemaker-eval", "eval_query_and_prompt.jsonl", "accept", None),
    ("sagemaker-eval", "eval_messages_and_query.jsonl", "accept", None),
    ("sagemaker-eval", "eval_messages_ref.jsonl", "refuse", "DS203"),
]
# Where the validator and the documentation part: the documentation is followed.
DEVIATIONS = [
    ("sagemaker-dpo", "os_dpo_lists.jsonl", "refuse", None, "documented as whole dialogues; written as texts"),
    ("sagemaker-sft", "os_sft_io.jsonl", "accept", "DS203", "undocumented: map the columns input and output"),
    ("sagemaker-sft", "os_alpaca.jsonl", "accept", "DS203", "passes by accident and loses the instruction"),
]


@pytest.mark.parametrize(("id", "name", "code"), [(case[0], case[1], case[3]) for case in (*VERDICTS, *DEVIATIONS)])
def test_recorded_verdicts(id: str, name: str, code: str | None) -> None:
    if code is None:
        sample = read(id, only_row(name))
        assert all(isinstance(value, str) for value in write(id, sample).values())
    else:
        with pytest.raises(RowError) as caught:
            read(id, only_row(name))
        assert caught.value.code == code


def test_input_and_output_are_read_when_mapped() -> None:
    sample = read("sagemaker-sft", only_row("os_sft_io.jsonl"), columns={"prompt": "input", "completion": "output"})
    assert write("sagemaker-sft", sample) == {"prompt": "p", "completion": "c"}


def test_a_key_too_many_is_left_out() -> None:
    """A job refuses rows that carry more than the keys of the contract (amazon-bedrock-workshop#266)."""
    sample = read("sagemaker-sft", only_row("bug51.jsonl"))
    assert sample["extra"] == {"id": 7}
    assert write("sagemaker-sft", sample) == {"prompt": "Sum up: rain.", "completion": "It rains."}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | JSON, "content": st.text(max_size=3) | JSON}
)
VALUE = st.text(max_size=4) | st.lists(MESSAGE, max_size=4) | JSON


@pytest.mark.parametrize("id", TASKS)
@given(data=st.data())
def test_any_row_is_read_or_refused_and_writing_is_stable(id: str, data: st.DataObject) -> None:
    columns = find_format(id).manifest.columns
    row = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys([*columns, "other"], VALUE)))
    try:
        written = write(id, read(id, row))
    except RowError:
        return
    assert write(id, read(id, written)) == written


@pytest.mark.parametrize("id", TASKS)
def test_example_comes_back(id: str) -> None:
    rows = find_format(id).examples()
    assert [write(id, read(id, row)) for row in rows] == rows
