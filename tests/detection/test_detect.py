"""What small rows of every format are taken for."""

from __future__ import annotations

from typing import Any

import pytest

from dsreg.detection import Detection, detect
from dsreg.formats import built_in
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.source import CHAT_TAGS

Row = dict[str, Any]


def turns(*pairs: tuple[str, str]) -> list[Row]:
    return [{"from": role, "value": text} for role, text in pairs]


def chat(*pairs: tuple[str, Any]) -> list[Row]:
    return [{"role": role, "content": content} for role, content in pairs]


ASK, TELL = ("user", "6 × 7?"), ("assistant", "42")
TALK = turns(("human", "Hallo"), ("gpt", "Guten Tag"))
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
}
BLOCKS = chat(("user", [{"text": "Hi"}]), ("assistant", [{"text": "Hello"}]))
CANDIDATES = [
    {"content": [{"text": "Hello"}], "preferenceLabel": "preferred"},
    {"content": [{"text": "What?"}], "preferenceLabel": "non-preferred"},
]

# row, format, task, columns
CASES: dict[str, tuple[Row, str, str, dict[str, str]]] = {
    "alpaca": (
        {"instruction": "Add", "input": "1 1", "output": "2"},
        "alpaca",
        "sft",
        {"prompt": "instruction", "query": "input", "response": "output"},
    ),
    "alpaca with all its columns": (
        {"instruction": "a", "output": "b", "system": "", "history": [["c", "d"]], "tools": "", "images": []},
        "alpaca",
        "sft",
        {
            "prompt": "instruction",
            "response": "output",
            "system": "system",
            "history": "history",
            "tools": "tools",
            "images": "images",
        },
    ),
    "question and answer": (
        {"question": "a", "answer": "b"},
        "alpaca",
        "sft",
        {"prompt": "question", "response": "answer"},
    ),
    "LlamaFactory's own column names": (
        {"prompt": "a", "query": "b", "response": "c", "system": "d"},
        "alpaca",
        "sft",
        {"prompt": "prompt", "query": "query", "response": "response", "system": "system"},
    ),
    "instruction, context, response": (
        {"instruction": "a", "context": "b", "response": "c", "category": "qa"},
        "alpaca",
        "sft",
        {"prompt": "instruction", "query": "context", "response": "response"},
    ),
    "input and output": ({"input": "a", "output": "b"}, "alpaca", "sft", {"prompt": "input", "response": "output"}),
    "query with history": (
        {"query": "a", "response": "b", "history": [["c", "d"]]},
        "alpaca",
        "sft",
        {"prompt": "query", "response": "response", "history": "history"},
    ),
    "alpaca pairs": (
        {"instruction": "a", "input": "", "chosen": "b", "rejected": "c"},
        "alpaca",
        "preference",
        {"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"},
    ),
    "alpaca pairs beside an output, which is only carried": (
        {"instruction": "a", "output": "o", "chosen": "b", "rejected": "c"},
        "alpaca",
        "preference",
        {"prompt": "instruction", "chosen": "chosen", "rejected": "rejected"},
    ),
    "pairs j and k": (
        {"question": "a", "response_j": "b", "response_k": "c"},
        "alpaca",
        "preference",
        {"prompt": "question", "chosen": "response_j", "rejected": "response_k"},
    ),
    "alpaca kto": (
        {"instruction": "a", "output": "b", "tag": True},
        "alpaca",
        "kto",
        {"prompt": "instruction", "response": "output", "kto_tag": "tag"},
    ),
    "a label of numbers is no KTO tag": (
        {"instruction": "a", "output": "b", "label": 1},
        "alpaca",
        "sft",
        {"prompt": "instruction", "response": "output"},
    ),
    "instructions alone": ({"instruction": "a"}, "alpaca", "prompt", {"prompt": "instruction"}),
    "sharegpt": ({"conversations": TALK}, "sharegpt", "sft", {"messages": "conversations"}),
    "sharegpt under another name": ({"thread": TALK, "id": "7"}, "sharegpt", "sft", {"messages": "thread"}),
    "sharegpt with tools": (
        {"conversations": TALK, "tools": "[]", "system": "s"},
        "sharegpt",
        "sft",
        {"messages": "conversations", "system": "system", "tools": "tools"},
    ),
    "sharegpt pairs": (
        {"conversations": TALK[:1], "chosen": TALK[1], "rejected": {"from": "gpt", "value": "What?"}},
        "sharegpt",
        "preference",
        {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
    ),
    "sharegpt kto": (
        {"conversations": TALK, "kto_tag": False},
        "sharegpt",
        "kto",
        {"messages": "conversations", "kto_tag": "kto_tag"},
    ),
    "chats with a system column": (
        {"messages": chat(ASK, TELL), "system": "Count."},
        "sharegpt",
        "sft",
        {"messages": "messages", "system": "system"},
    ),
    "openai": ({"messages": chat(ASK, TELL)}, "openai", "sft", {"messages": "messages"}),
    "openai under another name": ({"conversations": chat(ASK, TELL)}, "openai", "sft", {"messages": "conversations"}),
    "openai kto": (
        {"messages": chat(ASK, TELL), "label": True},
        "openai",
        "kto",
        {"messages": "messages", "kto_tag": "label"},
    ),
    "openai pairs": (
        {"messages": chat(ASK), "chosen": chat(TELL)[0], "rejected": chat(("assistant", "41"))[0]},
        "openai",
        "preference",
        {"messages": "messages", "chosen": "chosen", "rejected": "rejected"},
    ),
    "openai with an answer": (
        {"messages": chat(ASK), "answer": "42"},
        "openai",
        "prompt",
        {"messages": "messages", "answer": "answer"},
    ),
    "an answer beside a whole chat is only carried": (
        {"messages": chat(ASK, TELL), "answer": "42"},
        "openai",
        "sft",
        {"messages": "messages"},
    ),
    "text": ({"text": "Once"}, "pretrain", "pretrain", {"text": "text"}),
    "content of an article": ({"id": 1, "title": "A", "content": "B"}, "pretrain", "pretrain", {"text": "content"}),
    "prompt and completion": (
        {"prompt": "a", "completion": "b"},
        "hf-prompt-completion",
        "sft",
        {"prompt": "prompt", "completion": "completion"},
    ),
    "prompt and completion of messages": (
        {"prompt": chat(ASK), "completion": chat(TELL)},
        "hf-prompt-completion",
        "sft",
        {"prompt": "prompt", "completion": "completion"},
    ),
    "system, prompt and completion": (
        {"system": "s", "prompt": "a", "completion": "b"},
        "sagemaker-sft",
        "sft",
        {"prompt": "prompt", "completion": "completion", "system": "system"},
    ),
    "prompt, chosen, rejected": (
        {"prompt": "a", "chosen": "b", "rejected": "c"},
        "hf-preference",
        "preference",
        {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
    ),
    "messages chosen and rejected": (
        {"prompt": chat(ASK), "chosen": chat(TELL), "rejected": chat(("assistant", "41"))},
        "hf-preference",
        "preference",
        {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
    ),
    "whole dialogues chosen and rejected": (
        {"chosen": chat(ASK, TELL), "rejected": chat(ASK, ("assistant", "41"))},
        "hf-preference",
        "preference",
        {"chosen": "chosen", "rejected": "rejected"},
    ),
    "system, prompt, chosen, rejected": (
        {"system": "s", "prompt": "a", "chosen": "b", "rejected": "c"},
        "sagemaker-dpo",
        "preference",
        {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected", "system": "system"},
    ),
    "prompt, completion, label": (
        {"prompt": "a", "completion": "b", "label": False},
        "hf-kto",
        "kto",
        {"prompt": "prompt", "completion": "completion", "label": "label"},
    ),
    "query and response": (
        {"query": "a", "response": "b", "category": "c"},
        "sagemaker-eval",
        "prompt",
        {"query": "query", "response": "response", "category": "category"},
    ),
    "query": ({"query": "a"}, "sagemaker-eval", "prompt", {"query": "query"}),
    "nova": (
        {"schemaVersion": "bedrock-conversation-2024", "system": [{"text": "s"}], "messages": BLOCKS},
        "nova-sft",
        "sft",
        {"system": "system", "messages": "messages", "schemaVersion": "schemaVersion"},
    ),
    "nova pairs": (
        {"messages": [BLOCKS[0], {"role": "assistant", "candidates": CANDIDATES}]},
        "nova-dpo",
        "preference",
        {"messages": "messages"},
    ),
    "nova pairs after an answer": (
        {"messages": [*BLOCKS, BLOCKS[0], {"role": "assistant", "candidates": CANDIDATES}]},
        "nova-dpo",
        "preference",
        {"messages": "messages"},
    ),
    "messages with a reference answer": (
        {"messages": chat(ASK), "reference_answer": {"answer": "42"}, "difficulty": "easy"},
        "nova-rlvr",
        "prompt",
        {"messages": "messages", "answer": "reference_answer"},
    ),
    "messages with a solution": (
        {"messages": chat(ASK), "solution": "42"},
        "openai-rft",
        "prompt",
        {"messages": "messages", "answer": "solution"},
    ),
    "openai preference": (
        {"input": {"messages": chat(ASK)}, "preferred_output": chat(TELL), "non_preferred_output": chat(TELL)},
        "openai-dpo",
        "preference",
        {
            "input": "input",
            "preferred_output": "preferred_output",
            "non_preferred_output": "non_preferred_output",
        },
    ),
    "openai preference, older names": (
        {"input": {"messages": chat(ASK)}, "preferred_completion": chat(TELL), "non_preferred_completion": chat(TELL)},
        "openai-dpo",
        "preference",
        {
            "input": "input",
            "preferred_completion": "preferred_completion",
            "non_preferred_completion": "non_preferred_completion",
        },
    ),
    "verl": (
        {"data_source": "d", "prompt": chat(ASK), "ability": "math", "reward_model": {"ground_truth": "42"}},
        "verl",
        "prompt",
        {"prompt": "prompt", "reward_model": "reward_model"},
    ),
    "verl with the answer in extra_info only": (
        {"data_source": "d", "prompt": chat(ASK), "extra_info": {"answer": "42"}},
        "verl",
        "prompt",
        {"prompt": "prompt", "extra_info": "extra_info"},
    ),
    "verl's older prompts": (
        {"data_source": "d", "prompt": "6 × 7?", "extra_info": {"answer": "42"}},
        "verl-legacy",
        "prompt",
        {"prompt": "prompt", "extra_info": "extra_info"},
    ),
    "benchmax": ({"prompt": "6 × 7?", "ground_truth": "42"}, "benchmax", "prompt", {}),
    "benchmax messages": ({"messages": chat(ASK), "ground_truth": 42}, "benchmax", "prompt", {}),
    "benchmax prompt messages": (
        {"prompt_messages": chat(ASK), "ground_truth": ["42"], "task": "x"},
        "benchmax",
        "prompt",
        {},
    ),
}


def installed(format: str) -> None:
    if format not in built_in():
        pytest.skip(f"there is no format {format}")


@pytest.mark.parametrize("name", CASES)
def test_rows_are_told_by_their_columns(name: str) -> None:
    row, format, task, columns = CASES[name]
    installed(format)
    found = detect([row, row])
    assert (found.format, found.task) == (format, task)
    if columns:
        assert found.columns == columns
    assert not [reason for reason in found.reasons if "cannot be read" in reason]
    assert len(set(found.reasons)) == len(found.reasons)


@pytest.mark.parametrize("name", CASES)
def test_alternatives_read_the_rows_as_well(name: str) -> None:
    row, format, _, _ = CASES[name]
    installed(format)
    for alternative in detect([row]).alternatives:
        other, _, why = alternative.partition(": ")
        assert other != format and why
        again = detect([row], format=other)
        assert again.format == other
        assert not [reason for reason in again.reasons if "cannot be read" in reason]


@pytest.mark.parametrize("id", sorted(built_in()))
def test_examples_of_a_format_are_read_by_its_name(id: str) -> None:
    format = built_in()[id]
    if not format.reads:
        pytest.skip("only a target")
    found = detect(format.examples(), format=id)
    assert found.format == id
    assert not [reason for reason in found.reasons if "cannot be read" in reason]


# Formats whose rows are also those of another, which goes before.
SAME_ROWS = {
    "nova-cpt": {"pretrain"},
    "nova-eval": {"sagemaker-eval"},
    "sagemaker-rlvr": {"verl"},
    "sagemaker-dpo": {"hf-preference"},
    "sagemaker-sft": {"hf-prompt-completion"},
    "verl-sft": {"openai"},
    "benchmax-sft": {"openai"},
    "openai-rft": {"nova-rlvr"},
}


@pytest.mark.parametrize("id", sorted(built_in()))
def test_examples_of_a_format_are_told_without_its_name(id: str) -> None:
    format = built_in()[id]
    rows = format.examples()
    if not format.reads or id == "kto":
        pytest.skip("only a target")
    found = detect(rows)
    assert found.format in {id} | SAME_ROWS.get(id, set())
    if found.format != id:
        assert id in [alternative.partition(":")[0] for alternative in found.alternatives]


TAG_CASES: dict[str, tuple[list[Row], dict[str, str]]] = {
    "human and gpt": (TALK, TURN_TAGS),
    "user and assistant": (
        turns(("user", "a"), ("assistant", "b")),
        {**CHAT_TAGS, "role_tag": "from", "content_tag": "value"},
    ),
    "role and content with human and gpt": (
        chat(("human", "a"), ("gpt", "b")),
        {**TURN_TAGS, "role_tag": "role", "content_tag": "content"},
    ),
    "User and Bot": (
        [{"speaker": "User", "text": "a"}, {"speaker": "Bot", "text": "b"}],
        {**TURN_TAGS, "role_tag": "speaker", "content_tag": "text", "user_tag": "User", "assistant_tag": "Bot"},
    ),
    "model": (turns(("user", "a"), ("model", "b")), {**TURN_TAGS, "user_tag": "user", "assistant_tag": "model"}),
    "tool turns": (
        turns(("human", "a"), ("tool_call", "{}"), ("tool_response", "c"), ("gpt", "d")),
        {**TURN_TAGS, "function_tag": "tool_call", "observation_tag": "tool_response"},
    ),
    "chat with function calls as turns": (
        chat(("user", "a"), ("function_call", "{}"), ("observation", "c"), ("assistant", "d")),
        {**CHAT_TAGS, "observation_tag": "observation"},
    ),
}


@pytest.mark.parametrize("name", TAG_CASES)
def test_all_seven_tags_follow_from_the_roles(name: str) -> None:
    dialogue, tags = TAG_CASES[name]
    found = detect([{"conversations": dialogue}])
    assert (found.format, found.tags) == ("sharegpt", tags)


def test_openai_rows_have_all_seven_tags() -> None:
    assert detect([{"messages": chat(ASK, TELL)}]).tags == CHAT_TAGS
    assert detect([{"instruction": "a", "output": "b"}]).tags == {}


def test_the_majority_of_mixed_roles_wins_and_the_rest_is_reported() -> None:
    rows = [{"conversations": turns((user, "a"), (bot, "b"))} for user, bot in (("human", "gpt"),) * 3]
    rows.insert(1, {"conversations": turns(("user", "c"), ("assistant", "d"))})
    rows.append({"conversations": turns(("hummany", "e"), ("gpt", "f"))})
    found = detect(rows)
    assert found.tags == TURN_TAGS
    odd = next(reason for reason in found.reasons if "hummany" in reason and "correct" in reason)
    assert "`user` (row 2)" in odd and "`assistant` (row 2)" in odd and "`hummany` (row 5)" in odd


PART = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": "a.png"}}]
COPY_CASES: dict[str, tuple[Row, bool]] = {
    "plain chat": ({"messages": chat(ASK, TELL)}, False),
    "tool calls": ({"messages": [*chat(ASK), CALL, {"role": "tool", "tool_call_id": "c1", "content": "9"}]}, True),
    "content parts": ({"messages": chat(("user", PART), TELL)}, True),
    "two names for the system": ({"messages": chat(("system", "s"), ("developer", "d"), ASK, TELL)}, True),
    "developer only": ({"messages": chat(("developer", "d"), ASK, TELL)}, False),
    "answers as lists": ({"messages": chat(ASK), "chosen": chat(TELL), "rejected": chat(TELL)}, True),
    "tools as objects": ({"conversations": TALK, "tools": [{"name": "clock"}]}, True),
    "tools as text": ({"conversations": TALK, "tools": '[{"name": "clock"}]'}, False),
    "alpaca": ({"instruction": "a", "output": "b"}, False),
    "text": ({"text": "a"}, False),
    "nova": ({"messages": BLOCKS}, True),
}


@pytest.mark.parametrize("name", COPY_CASES)
def test_what_llamafactory_cannot_read_needs_a_copy_and_the_reasons_say_so(name: str) -> None:
    row, copy = COPY_CASES[name]
    found = detect([row])
    assert found.llamafactory_copy is copy
    assert any("needs a copy" in reason for reason in found.reasons) is copy


def test_ranking_is_for_layouts_of_llamafactory() -> None:
    pair = {"chosen": "b", "rejected": "c"}
    assert detect([{"instruction": "a", **pair}]).ranking
    installed("hf-preference")
    assert not detect([{"prompt": "a", **pair}]).ranking


def test_reasons_start_with_the_format_and_tell_what_was_taken_by_name() -> None:
    found: Detection = detect([{"question": "a", "answer": "b", "id": 7}])
    assert found.reasons[0].startswith("alpaca: ")
    assert "prompt is `question`: by its name" in found.reasons
    assert "response is `answer`: by its name" in found.reasons
    assert any("`id`" in reason and "carried" in reason for reason in found.reasons)


def test_rows_that_cannot_be_read_are_counted_with_the_first_cause() -> None:
    rows: list[Any] = [{"instruction": "a", "output": "b"}] * 3 + [{}, {"instruction": "a", "output": 7}, "row"]
    reasons = detect(rows).reasons
    assert any("2 of 5 rows seen cannot be read: rows 4, 5; the first: DS203" in reason for reason in reasons)
    assert any("1 of 6 rows are no objects" in reason for reason in reasons)


def test_columns_that_hold_only_null_make_no_pairs() -> None:
    rows = [{"instruction": "a", "output": "b", "chosen": None, "rejected": None, "label": None}] * 2
    found = detect(rows)
    assert (found.task, found.columns) == ("sft", {"prompt": "instruction", "response": "output"})
