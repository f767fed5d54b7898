"""From a source file to a target file: every row is used, set aside by a choice, or rejected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dsreg.api import Project, file_source
from dsreg.errors import OutputError, UsageError
from dsreg.export import Report, TooManyRejects, export
from dsreg.formats import find_format
from dsreg.rowcode.errors import RowError
from dsreg.runner import Choices, make_conversion

Row = dict[str, Any]


def convert(
    path: Path, source: str, target: str, output: Path, *, skip_invalid: bool = False, **choices: Any
) -> Report:
    made, _ = file_source(path, format=source)
    for name in ("skip", "strip"):
        choices[name] = frozenset(choices.get(name, ()))
    conversion = make_conversion(made, find_format(target), Choices(**choices))
    return export(conversion, output, container="jsonl", skip_invalid=skip_invalid)


def jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def turns(*texts: str) -> list[Row]:
    return [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]


KTO = [
    {"messages": turns("q", "good"), "label": True},
    {"messages": turns("q", "bad"), "label": False},
    {"messages": turns("q", "fine"), "label": True},
]
PAIR = {"messages": turns("q"), "chosen": turns("", "c")[1], "rejected": turns("", "r")[1]}
THINKING = {"messages": [*turns("q"), {"role": "assistant", "content": "a", "reasoning_content": "hm"}]}
PLAIN = {"messages": turns("q", "a")}

TAKES: list[tuple[str, list[Row], str, str | None, list[Any], dict[str, int]]] = [
    ("kto to sft", KTO, "sft", "desirable", ["good", "fine"], {"--take desirable": 1}),
    ("kto to sft, the others", KTO, "sft", "undesirable", ["bad"], {"--take undesirable": 2}),
    ("preference to sft", [PAIR], "sft", "chosen", ["c"], {}),
    ("preference to sft, the others", [PAIR], "sft", "rejected", ["r"], {}),
]


@pytest.mark.parametrize(("name", "rows", "task", "take", "answers", "aside"), TAKES, ids=[case[0] for case in TAKES])
def test_a_choice_says_which_answer_counts(
    tmp_path: Path, name: str, rows: list[Row], task: str, take: str, answers: list[str], aside: dict[str, int]
) -> None:
    out = tmp_path / "out.jsonl"
    report = convert(jsonl(tmp_path / "in.jsonl", rows), "openai", "nova-sft", out, take=take)
    assert [row["messages"][-1]["content"][0]["text"] for row in lines(out)] == answers
    assert dict(report.tally.aside) == aside
    assert report.effect


def test_without_the_choice_nothing_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        convert(jsonl(tmp_path / "in.jsonl", KTO), "openai", "nova-sft", tmp_path / "out.jsonl")
    assert caught.value.hint == "--take desirable or --take undesirable"
    assert not (tmp_path / "out.jsonl").exists()


def test_a_pair_becomes_two_labelled_rows(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    report = convert(jsonl(tmp_path / "in.jsonl", [PAIR]), "openai", "kto", out)
    assert [(row["conversations"][-1]["value"], row["kto_tag"]) for row in lines(out)] == [("c", True), ("r", False)]
    assert str(report.tally) == "1 read = 1 used + 0 set aside + 0 rejected; 2 written"


def test_a_dialogue_becomes_text(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    convert(jsonl(tmp_path / "in.jsonl", [{"messages": turns("q", "a", "r", "b")}]), "openai", "pretrain", out)
    assert lines(out) == [{"text": "q\n\na\n\nr\n\nb"}]


def test_what_the_target_cannot_hold_rejects_the_row(tmp_path: Path) -> None:
    with pytest.raises(TooManyRejects) as caught:
        convert(jsonl(tmp_path / "in.jsonl", [PLAIN, THINKING]), "openai", "sharegpt", tmp_path / "out.jsonl")
    report = caught.value.report
    assert [(reject.row, reject.line, reject.code) for reject in report.rejects] == [(2, 2, "DS301")]
    assert list(tmp_path.iterdir()) == [tmp_path / "in.jsonl"], "nothing is written, and nothing left behind"


def test_skip_sets_such_rows_aside(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    report = convert(jsonl(tmp_path / "in.jsonl", [PLAIN, THINKING]), "openai", "sharegpt", out, skip=["thinking"])
    assert str(report.tally) == "2 read = 1 used + 1 set aside (1 --skip thinking) + 0 rejected; 1 written"


def test_strip_takes_the_feature_away(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    convert(jsonl(tmp_path / "in.jsonl", [PLAIN, THINKING]), "openai", "sharegpt", out, strip=["thinking"])
    assert [row["conversations"][-1]["value"] for row in lines(out)] == ["a", "a"]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"skip": ["sistem"]}, "there is no feature `sistem`"),
        ({"strip": ["tool_calls"]}, "`tool_calls` cannot be stripped without breaking the row"),
        ({"take": "best"}, None),
    ],
)
def test_choices_that_do_not_exist(tmp_path: Path, choices: Row, message: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        convert(jsonl(tmp_path / "in.jsonl", KTO), "openai", "nova-sft", tmp_path / "out.jsonl", **choices)
    assert message is None or caught.value.message == message


BAD_LINES = f"""{json.dumps(PLAIN)}
not json
[1]

{{"a": 1}}
"""


def test_skip_invalid_writes_the_good_rows_and_the_rejects(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(BAD_LINES)
    report = convert(source, "openai", "sharegpt", out, skip_invalid=True)
    assert str(report.tally) == "4 read = 1 used + 0 set aside + 3 rejected; 1 written"
    rejects = lines(tmp_path / "out.jsonl.rejects.jsonl")
    assert [(reject["row"], reject["line"], reject["code"]) for reject in rejects] == [
        (2, 2, "DS201"),
        (3, 3, "DS207"),
        (4, 5, "DS203"),
    ]
    assert [reject["raw"] for reject in rejects] == ["not json", [1], {"a": 1}]


def test_a_stale_rejects_file_goes_away(tmp_path: Path) -> None:
    stale = tmp_path / "out.jsonl.rejects.jsonl"
    stale.write_text('{"source":"in.jsonl","row":1}\n')
    convert(jsonl(tmp_path / "in.jsonl", [PLAIN]), "openai", "sharegpt", tmp_path / "out.jsonl", skip_invalid=True)
    assert not stale.exists()


def test_half_a_pair_is_not_written(tmp_path: Path) -> None:
    """A row that becomes two is used whole or not at all."""
    empty = {**PAIR, "chosen": turns("", "")[1]}
    out = tmp_path / "out.jsonl"
    report = convert(jsonl(tmp_path / "in.jsonl", [empty, PAIR]), "openai", "kto", out, skip_invalid=True)
    assert str(report.tally) == "2 read = 1 used + 0 set aside + 1 rejected; 2 written"


def test_columns_without_a_place_are_counted(tmp_path: Path) -> None:
    rows = [{**PLAIN, "id": 1}, {**PLAIN, "id": 2, "topic": "x"}]
    report = convert(jsonl(tmp_path / "in.jsonl", rows), "openai", "nova-sft", tmp_path / "out.jsonl")
    assert dict(report.tally.lost_extras) == {"id": 2, "topic": 1}


def test_pairs_with_equal_answers_and_labels_of_one_kind_are_said(tmp_path: Path) -> None:
    equal = {**PAIR, "rejected": PAIR["chosen"]}
    report = convert(jsonl(tmp_path / "in.jsonl", [PAIR, equal]), "openai", "sharegpt", tmp_path / "pairs.jsonl")
    assert [advice.code for advice in report.advice if advice.code == "DS405"] == ["DS405"]
    report = convert(jsonl(tmp_path / "kto.jsonl", [KTO[0]]), "openai", "sharegpt", tmp_path / "labels.jsonl")
    assert "DS407" in [advice.code for advice in report.advice]


def test_an_output_is_never_the_input_or_somebody_elses(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "in.jsonl", [PLAIN])
    other = tmp_path / "other.jsonl"
    other.write_text("mine")
    for output in (source, other, tmp_path):
        with pytest.raises(OutputError):
            convert(source, "openai", "sharegpt", output)
    assert other.read_text() == "mine"


def test_text_is_carried_exactly(tmp_path: Path) -> None:
    text = "007 \u2028 é e\u0301 \x00 \t\r\n 😀 \ufeff </script> 9007199254740993"
    rows = [{"messages": turns(text, text), "big": 123456789012345678901234567890, "small": -0.0, "s": "1.10"}]
    out = tmp_path / "out.jsonl"
    convert(jsonl(tmp_path / "in.jsonl", rows), "openai", "sharegpt", out)
    row = lines(out)[0]
    assert [turn["value"] for turn in row["conversations"]] == [text, text]
    assert (row["big"], row["s"]) == (123456789012345678901234567890, "1.10")


def test_reasoning_moves_between_its_places(tmp_path: Path) -> None:
    apart = {"messages": [*turns("q"), {"role": "assistant", "content": "a", "reasoning_content": "hm\n1"}]}
    inline = {"messages": turns("q", "<think>\nhm\n1\n</think>\n\na")}
    for name, rows in (("apart", [apart]), ("inline", [inline])):
        jsonl(tmp_path / f"{name}.jsonl", rows)
    out = tmp_path / "out.jsonl"
    convert(tmp_path / "apart.jsonl", "openai", "sharegpt", out, options={"thinking": "inline"})
    assert lines(out)[0]["conversations"][-1]["value"] == inline["messages"][-1]["content"]
    nova = tmp_path / "nova.jsonl"
    convert(tmp_path / "inline.jsonl", "openai", "nova-sft", nova, options={"thinking": "split"})
    assert lines(nova)[0]["messages"][-1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm\n1"}}},
        {"text": "a"},
    ]
    hf = tmp_path / "hf.jsonl"
    convert(tmp_path / "inline.jsonl", "openai", "hf-prompt-completion", hf, options={"thinking": "split"})
    assert lines(hf)[0]["completion"][0]["reasoning_content"] == "hm\n1"


def test_targets_that_fit_are_those_reached_without_a_choice(tmp_path: Path) -> None:
    """Through a step between tasks as well, and the project's own."""
    own = tmp_path / "templates/formats/mine"
    shutil.copytree(find_format("openai").folder, own)
    source, _ = file_source(jsonl(tmp_path / "in.jsonl", [PLAIN]), format="openai")
    for root, mine in ((None, False), (tmp_path, True)):
        with pytest.raises(UsageError, match="sft rows cannot become nova-dpo") as caught:
            make_conversion(source, find_format("nova-dpo"), None, root)
        said = set(caught.value.hint.removeprefix("targets that fit: ").split(", "))
        assert said >= {"alpaca", "pretrain", "verl"} and ("mine" in said) is mine
        assert not said & {"kto", "nova-dpo", "hf-preference"}


def test_targets_that_need_a_choice_do_not_fit(tmp_path: Path) -> None:
    source, _ = file_source(jsonl(tmp_path / "in.jsonl", KTO), format="openai")
    with pytest.raises(UsageError) as caught:
        make_conversion(source, find_format("nova-dpo"))
    said = set(caught.value.hint.removeprefix("targets that fit: ").split(", "))
    assert "pretrain" in said and "kto" in said and not said & {"nova-sft", "verl"}


BROKEN = [
    ("not json", "DS201"),
    ('{"instruction": "a", "instruction": "b", "output": "c"}', "DS205"),
    ("[1]", "DS207"),
    ("1", "DS207"),
]


@pytest.mark.parametrize(("line", "code"), BROKEN)
def test_samples_of_a_line_that_is_no_row(tmp_path: Path, line: str, code: str) -> None:
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/mine.toml").write_text('format = "alpaca"\nfile_name = "mine.jsonl"\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine.jsonl").write_text('{"instruction": "q", "output": "a"}\n' + line + "\n")
    samples = Project.find(tmp_path)["mine"].samples()
    assert next(samples)["messages"][0]["content"] == "q"
    with pytest.raises(RowError) as caught:
        next(samples)
    assert caught.value.code == code


@pytest.mark.parametrize(("path", "text"), [("output", "DS204 output: expected text"), ("", "DS204 expected text")])
def test_an_error_of_a_row_can_be_read(path: str, text: str) -> None:
    assert str(RowError("DS204", path, "expected text")) == text
