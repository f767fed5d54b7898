"""What was given wins; what cannot be told is refused with the choices."""

from __future__ import annotations

from typing import Any

import pytest

from dsreg.detection import detect
from dsreg.errors import NotFoundError, UsageError
from dsreg.source import CHAT_TAGS

Row = dict[str, Any]
TALK = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
CHAT = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
PAIR = {"prompt": "a", "chosen": "b", "rejected": "c"}


def test_a_given_format_is_taken() -> None:
    found = detect([PAIR], format="alpaca")
    assert found.columns == {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"}
    assert found.ranking and not found.llamafactory_copy
    assert found.reasons[0] == "the format is alpaca, as given"


def test_given_columns_win_over_names() -> None:
    row = {"instruction": "a", "output": "b", "better": "c"}
    found = detect([row], columns={"response": "better"})
    assert found.columns == {"prompt": "instruction", "response": "better"}
    assert "response is `better`, as given" in found.reasons


def test_an_empty_given_column_is_not_used() -> None:
    row = {"instruction": "a", "input": "x", "output": "b"}
    assert detect([row], columns={"query": ""}).columns == {"prompt": "instruction", "response": "output"}


def test_given_extras_are_kept_beside_the_columns() -> None:
    row = {"instruction": "a", "output": "b", "topic": "c"}
    found = detect([row], columns={"category": "topic"})
    assert found.columns == {"prompt": "instruction", "response": "output", "category": "topic"}


def test_given_tags_win_and_make_chats_sharegpt() -> None:
    talk = [{"from": "Customer", "value": "a"}, {"from": "gpt", "value": "b"}]
    found = detect([{"conversations": talk}], tags={"user_tag": "Customer"})
    assert (found.format, found.tags["user_tag"], found.tags["assistant_tag"]) == ("sharegpt", "Customer", "gpt")
    odd = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "memo", "content": "c"}]
    assert detect([{"messages": odd}], tags={"observation_tag": "memo"}).format == "sharegpt"
    assert detect([{"messages": CHAT}], tags=CHAT_TAGS).format == "openai"


def test_ranking_decides_between_an_answer_and_a_pair() -> None:
    row = {"instruction": "a", "output": "o", "chosen": "b", "rejected": "c"}
    assert detect([row]).task == "preference"
    plain = detect([row], ranking=False)
    assert (plain.task, plain.ranking) == ("sft", False)
    assert plain.columns == {"prompt": "instruction", "response": "output"}


def test_ranking_or_a_column_decides_between_a_tag_and_a_pair() -> None:
    row = {"instruction": "a", "output": "o", "chosen": "b", "rejected": "c", "kto_tag": True}
    with pytest.raises(UsageError, match="can only be one") as refused:
        detect([row])
    assert "--ranking" in refused.value.hint and "--column kto_tag=kto_tag" in refused.value.hint
    assert detect([row], ranking=True).task == "preference"
    assert detect([row], ranking=False).task == "kto"
    assert detect([row], columns={"kto_tag": "kto_tag"}).task == "kto"


def test_a_format_that_was_named_needs_no_rows() -> None:
    found = detect([], format="openai")
    assert (found.task, found.columns, found.tags) == ("sft", {"messages": "messages"}, CHAT_TAGS)


# rows, what was given, what the error says, what its hint says
REFUSED: dict[str, tuple[list[Any], dict[str, Any], str, str]] = {
    "no rows": ([], {}, "no rows", "--format"),
    "no objects": ([1, None, []], {}, "no row is a JSON object", ""),
    "empty objects": ([{}, {}], {}, "no columns", ""),
    "nothing known": (
        [{"a": 1, "b": ["x"]}],
        {},
        r"cannot be told; the columns are: `a` \(number\), `b` \(list of texts\)",
        "--format",
    ),
    "a question without an answer": (
        [{"question": "a", "gold": "b"}],
        {},
        r"alpaca \(sft\) with prompt=question, which lacks response",
        "--column",
    ),
    "two unnamed answers": ([{"prompt": "a", "answer1": "b", "answer2": "c"}], {}, "`answer1`", "--column"),
    "two answers by name": (
        [{"question": "a", "response": "b", "answer": "c"}],
        {},
        "response of alpaca could be `response` or `answer`",
        "--column response=response or --column response=answer",
    ),
    "prompts alone": ([{"prompt": "a"}], {}, "alpaca .prompt. with prompt=prompt", "--format"),
    "one column of text": ([{"response": "a"}], {}, "cannot be told", "--format pretrain --column text=response"),
    "mixed rows": (
        [{"text": "a"}, {"messages": CHAT}, {"prompt": "a", "completion": "b"}],
        {},
        "3 different sets of columns in 3 rows",
        "",
    ),
    "unknown roles": (
        [{"conversations": [{"from": "Kunde", "value": "a"}, {"from": "Agent", "value": "b"}]}],
        {},
        "`Kunde` ×1, `Agent` ×1",
        "--tag user_tag=Kunde --tag assistant_tag=Agent",
    ),
    "columns of lists": ([{"instruction": ["a", "b"], "output": ["c", "d"]}], {}, "a list a column", "orient"),
    "columns of objects": (
        [{"instruction": {"0": "a", "1": "b"}, "output": {"0": "c", "1": "d"}}],
        {},
        "a list a column",
        "orient",
    ),
    "wrapped": ([{"data": [{"instruction": "a", "output": "b"}]}], {}, "the list `data`", """jq -c '.["data"][]'"""),
    "wrapped, with a format": ([{"data": [{"instruction": "a"}]}], {"format": "alpaca"}, "the list `data`", "jq"),
    "nested": ([{"id": 1, "row": {"prompt": "a", "answer": "b"}}] * 2, {}, "inside the object `row`", "jq"),
    "a registry": ([{"cafe": {"file_name": "cafe.json"}}], {}, "dataset_info.json", "dsreg init"),
    "messages as text": (
        [{"messages": '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]'}],
        {},
        "JSON text of lists of turns",
        "JSON Lines",
    ),
    "messages as text, with a format": (
        [{"conversations": '[{"from": "human", "value": "a"}]'}],
        {"format": "sharegpt"},
        "JSON text of lists of turns",
        "JSON Lines",
    ),
    "ranked outputs": (
        [{"instruction": "a", "input": "", "output": ["b", "c", "d"]}, {"instruction": "a", "output": ["b", "c"]}],
        {},
        "`output` holds lists of texts",
        '"chosen": "good", "rejected": "bad"',
    ),
    "ranked outputs, with a format": (
        [{"instruction": "a", "output": ["b", "c"]}],
        {"format": "alpaca"},
        "`output` holds lists of texts",
        "--ranking",
    ),
    "answers in lists": ([{"instruction": "a", "chosen": ["b"], "rejected": ["c"]}], {}, "`chosen` holds lists", ""),
    "a column that is not there": (
        [{"question": "a", "answer": "b"}],
        {"columns": {"prompt": "qestion"}},
        "no column `qestion` for prompt",
        "--column prompt=question",
    ),
    "a column of no format": (
        [{"text": "a"}],
        {"columns": {"promt": "text"}},
        "no format has",
        "did you mean `prompt`",
    ),
    "a column the format lacks": (
        [{"text": "a"}],
        {"format": "pretrain", "columns": {"prompt": "text"}},
        "pretrain has no column `prompt`",
        "",
    ),
    "a format that lacks a column": (
        [{"instruction": "a"}],
        {"format": "sharegpt"},
        "nothing stands for `messages`",
        "--column messages=COLUMN",
    ),
    "a target": ([{"conversations": TALK}], {"format": "kto"}, "only a target", ""),
    "turns that are not OpenAI's": (
        [{"messages": TALK}],
        {"format": "openai"},
        "`messages` has `from` and `value` and `human` and `gpt`",
        "--format sharegpt",
    ),
    "ranking without pairs": (
        [{"instruction": "a", "output": "b"}],
        {"format": "alpaca", "ranking": True},
        "pairs",
        "",
    ),
    "a tag that is none": ([{"conversations": TALK}], {"tags": {"usertag": "x"}}, "no tag `usertag`", "user_tag"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused_with_the_choices(name: str) -> None:
    rows, given, message, hint = REFUSED[name]
    with pytest.raises(UsageError, match=message) as refused:
        detect(rows, **given)
    assert hint in refused.value.hint


def test_an_unknown_format_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="alpacca"):
        detect([{"text": "a"}], format="alpacca")


def test_names_from_the_data_are_safe_in_hints() -> None:
    column = "a'; rm -rf ~; '"
    with pytest.raises(UsageError) as refused:
        detect([{column: [{"instruction": "a"}]}])
    assert """'"'"'""" in refused.value.hint
    with pytest.raises(UsageError) as refused:
        detect([{"\x1b[31m": "a"}])
    assert "\x1b" not in refused.value.message + refused.value.hint
