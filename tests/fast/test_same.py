"""The fast way is never different: for rows of any kind, it writes and reports what the portable way does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.export import Report, export
from dsreg.formats import built_in, find_format, ways
from dsreg.runner import Choices, make_conversion
from dsreg.source import make_source

Row = dict[str, Any]


class Kind(NamedTuple):
    """A format and a task: the columns of its rows, and a plain row."""

    format: str
    task: str
    columns: dict[str, str]
    row: Row


def turns(*texts: str) -> list[Row]:
    return [{"from": ("human", "gpt")[i % 2], "value": text} for i, text in enumerate(texts)]


def chat(*texts: str) -> list[Row]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


ALPACA = {"prompt": "instruction", "query": "input", "system": "system", "history": "history", "tools": "tools"}
SHAREGPT = {"messages": "conversations", "system": "system", "tools": "tools", "images": "images"}
PROMPT = {"instruction": "Why?", "input": "Sky", "system": "Be brief.", "history": [["a", "b"]]}
GPT, OTHER = {"from": "gpt", "value": "Good."}, {"from": "gpt", "value": "Bad."}
SAID, ELSE = {"role": "assistant", "content": "Good."}, {"role": "assistant", "content": "Bad."}
PAIR = {"chosen": "chosen", "rejected": "rejected"}
HF = {"prompt": "prompt", "system": "system"}
KINDS = [
    Kind("alpaca", "sft", {**ALPACA, "response": "output"}, {**PROMPT, "output": "Blue."}),
    Kind("alpaca", "preference", {**ALPACA, **PAIR}, {**PROMPT, "chosen": "Blue.", "rejected": "Red"}),
    Kind(
        "alpaca",
        "kto",
        {**ALPACA, "response": "output", "kto_tag": "ok"},
        {**PROMPT, "output": "Blue.", "ok": True},
    ),
    Kind("sharegpt", "sft", SHAREGPT, {"conversations": turns("Hi", "Hello", "Why?", "So"), "system": ""}),
    Kind(
        "sharegpt",
        "preference",
        {**SHAREGPT, **PAIR},
        {"conversations": turns("Hi", "Hello", "Why?"), "chosen": GPT, "rejected": OTHER},
    ),
    Kind("sharegpt", "kto", {**SHAREGPT, "kto_tag": "ok"}, {"conversations": turns("Hi", "Hello"), "ok": False}),
    Kind("openai", "sft", {"messages": "messages", "tools": "tools"}, {"messages": chat("Hi", "Hello", "So?", "Yes")}),
    Kind(
        "openai",
        "preference",
        {"messages": "messages", **PAIR},
        {"messages": chat("Hi"), "chosen": SAID, "rejected": ELSE},
    ),
    Kind("hf-preference", "preference", {**HF, **PAIR}, {"prompt": "Hi", "chosen": "Good.", "rejected": "Bad."}),
    Kind("hf-prompt-completion", "sft", {**HF, "completion": "completion"}, {"prompt": "Hi", "completion": "Hello"}),
    Kind(
        "hf-kto",
        "kto",
        {**HF, "completion": "completion", "label": "label"},
        {"prompt": "Hi", "completion": "Hello", "label": True},
    ),
    Kind("sagemaker-sft", "sft", {**HF, "completion": "completion"}, {"prompt": "Hi", "completion": "Hello"}),
    Kind("sagemaker-dpo", "preference", {**HF, **PAIR}, {"prompt": "Hi", "chosen": "Good.", "rejected": "Bad."}),
    Kind("pretrain", "pretrain", {"text": "text"}, {"text": "Once upon a time"}),
]
TEXTS = [
    "", " ", "\t", "\u3000", "\u00a0\n", "x", "你好，世界", "a\nb", 'he said "no"', "back\\slash\\", "\u2028", "😀 ok",
    "System: no", "user: hi", "An answer: 4", "bot:x", "<image>", "<UNK>", "<un\u212a>", "[eos]", "[EOS]",
    "x < y [1]: z", '{"text":""}', '"output": 1', '"value":', "12345678901234567890123", "-1234567890123456789",
    "null", "<think>a</think>b",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, 7, -3, 1.5, 10**25, [], {}, ["a"], [["q", "a"], ["r", "b"]], [["q"]], [["", "a"]], [[1, 2]],
    {"a": 1},     chat("Hi", "Yes"), [{"type": "text", "text": "part"}], turns("a"), GPT, {**GPT, "weight": 1}, SAID,
    [{"from": "system", "value": "Be kind."}, *turns("Hi", "Yes")], turns("Hi", "Yes", "No"), chat("Hi"),
    [{"from": "function_call", "value": '{"name": "f", "arguments": {}}'}, *turns("x")],
    [*turns("Hi"), {"from": "human"}],
    [{"role": "system", "content": "Be kind."}, *chat("Hi", "Yes")], [{"from": "human", "value": 3}, GPT],
    [{"role": "user", "content": None}, SAID], [{"role": "user", "content": "", "name": "Bo"}, SAID], [1], [[]],
]  # fmt: skip
EXTRAS = ["id", "text", "meta", "tools", "images", "weird key", "category", "label", "na\u00efve", 'q"uote', "messages"]
SPOILED = [
    b"", b"   ", b"{", b"[1]", b"null", b'"text"', b"{}", b'{"instruction": NaN}', b'{"a":1}{"b":2}', b"# no",
    b"\xff\xfe", b'{"text": "\\ud800"}', b'{"text": "caf\xe9"}', b'{"prompt":"\x01"}', b"{},",
    b'{"text" :\r "a", "text" : "b"}',
    b'{"conversations":', b'{"from":"human","value":"Hi"}',
    b'{"instr\\u0075ction":"a","instruction":"b","output":"c"}',
]  # fmt: skip
STYLES: list[dict[str, Any]] = [
    {"separators": (",", ":"), "ensure_ascii": False},
    {"ensure_ascii": False},
    {},
    {"separators": (" , ", " : ")},
]


@st.composite
def lines(draw: st.DrawFn, kind: Kind) -> bytes:
    """One line of a file: a plain row, one that was changed in some way, or no row at all."""
    random = draw(st.randoms(use_true_random=False))
    return line(random, kind)


def line(random: Random, kind: Kind) -> bytes:
    if random.random() < 0.04:
        return random.choice(SPOILED)
    row = deepcopy(kind.row)
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        change(random, kind, row)
    if random.random() < 0.2:
        row = dict(random.sample(list(row.items()), len(row)))
    text = json.dumps(row, **random.choice(STYLES))
    if random.random() < 0.08 and len(row) > 0:  # a column that stands there twice
        again = random.choice(list(row))
        value = random.choice(["x", "Blue.", None])
        text = f"{text[:-1]}, {json.dumps(again)}{random.choice((':', ': ', ' :'))}{json.dumps(value)}}}"
    if random.random() < 0.06:
        text = text.replace("e", "\\u0065", 1) if random.random() < 0.5 else text.replace(":", "\\u003a")
    return text.encode("utf-8", "surrogatepass") + (b"\r" if random.random() < 0.03 else b"")


def change(random: Random, kind: Kind, row: Row) -> None:
    """One change to a row: another text, another type, a column more or less."""
    column = random.choice([*row, *kind.columns.values()])
    match random.choice(("text", "text", "turn", "turn", "value", "extra", "drop")):
        case "text":
            row[column] = random.choice(TEXTS)
        case "turn":
            found = [turn for value in row.values() for turn in (value if isinstance(value, list) else [value])]
            for turn in random.sample(found, min(1, len(found))):
                if isinstance(turn, dict) and turn:
                    turn[random.choice(list(turn))] = random.choice(TEXTS)
        case "value":
            row[column] = deepcopy(random.choice(VALUES))
        case "extra":
            row[random.choice(EXTRAS)] = deepcopy(random.choice([*VALUES, *TEXTS]))
        case "drop":
            row.pop(column, None)


def targets(kind: Kind) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """All targets with a text-only core that rows of this kind can become, with the choices to make."""
    for target in built_in().values():
        if target.manifest.text.write is None:
            continue
        for way in ways(kind.task, target):
            for take in [step.take or None for step in way.steps] or [None]:
                yield target.id, take, {}
                if "style" in target.manifest.options:
                    yield target.id, take, {"style": "conversational"}


def run(kind: Kind, data: Path, target: str, take: str | None, options: Row, *, fast: bool, **more: Any) -> Report:
    source = make_source("data", find_format(kind.format), [data], kind.columns, ranking=kind.task == "preference")
    conversion = make_conversion(source, find_format(target), Choices(take=take, options=options))
    output = data.with_name(f"out-{fast}.jsonl")
    return export(conversion, output, skip_invalid=True, ours=True, fast=fast, **more)


def outcome(report: Report) -> Any:
    """Everything about a conversion but its place."""
    assert report.output is not None
    told = {**report.as_json(), "output": "", "rejects_path": bool(report.rejects_path)}
    rejects = report.rejects_path.read_text() if report.rejects_path else ""
    rows = [json.loads(line) for line in report.output.read_bytes().split(b"\n") if line.strip(b"[], ")]
    notes = report.tally.notes
    return told, rejects, rows, dict(notes.counts), notes.first


def same(kind: Kind, data: Path, random: Random, count: int, **more: Any) -> None:
    """Compare the two ways to some of the targets."""
    found = list(targets(kind))
    for target, take, options in random.sample(found, min(count, len(found))):
        results: list[Any] = []
        for fast in (False, True):
            try:
                results.append(outcome(run(kind, data, target, take, options, fast=fast, **more)))
            except Exception as error:
                results.append((type(error), str(error)))
        assert results[0] == results[1], f"{kind.format} to {target} {take} {options}"


NAMES = [f"{kind.format}-{kind.task}" for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_lines(kind: Kind, data: st.DataObject, tmp_path: Path) -> None:
    random = data.draw(st.randoms(use_true_random=False))
    rows = data.draw(st.lists(lines(kind), min_size=1, max_size=12))
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"\n".join(rows) + b"\n")
    same(kind, path, random, 2, container="jsonl")


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_many_lines(kind: Kind, tmp_path: Path) -> None:
    """Several blocks: numbers of rows and lines, and a stretch of rows none of which is plain."""
    random = Random(kind.format + kind.task)
    plain = json.dumps(kind.row).encode()
    rows = [line(random, kind) if random.random() < 0.2 or 300 < i < 900 else plain for i in range(1200)]
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"\n".join(rows))
    same(kind, path, random, 5, container="jsonl")


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_as_many_rows_as_lines_but_not_one_on_each(kind: Kind, tmp_path: Path) -> None:
    """Two rows on one line, and a line without any that makes up for it."""
    plain = json.dumps(kind.row)
    path = tmp_path / "data.jsonl"
    for blank in ("", " " * 2000):
        for lines_ in ([plain, plain + plain, blank, plain], [blank, plain + plain, plain], [plain + plain, blank]):
            path.write_text("\n".join(lines_) + "\n")
            same(kind, path, Random(7), 1, container="jsonl")


GAPS = ["\n", "\n", "\n", "\n", " ", "", "\r\n", "\n\n", " \n", "\n ", "\t\n", "\n" + " " * 70]
INSIDE = [("{", "{\n"), (",", ",\n"), (":", ": "), ("}", "\n}"), ('{"', '{ "'), ("}", " }")]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_rows_that_are_not_one_for_each_line(kind: Kind, tmp_path: Path) -> None:
    """Rows that share a line or go on over its end, whose lengths may make up for each other."""
    random = Random(kind.format + kind.task)
    path = tmp_path / "data.jsonl"
    for _ in range(12):
        text = ""
        for _ in range(random.choice((2, 3, 5, 40))):
            row = json.dumps(kind.row, separators=(",", ":"))
            if random.random() < 0.2:
                row = row.replace(*random.choice(INSIDE), random.choice((1, 2, -1)))
            if random.random() < 0.1:
                row = json.dumps({key: value for key, value in kind.row.items() if random.random() < 0.8})
            text += row + random.choice(GAPS)
        path.write_text(text, newline="")
        same(kind, path, random, 1, container="jsonl")


@pytest.mark.parametrize(
    "text", ['"Hi"', '""', '"  "', '"\\n\\u00a0"', '"\\u3000x"', "7", "-7", "null", "true", "{}", '["a"]']
)
@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_each_text_of_a_row(kind: Kind, text: str, tmp_path: Path) -> None:
    """What stands where a text should, in every place of a row where one can: a search has to know all of them."""
    plain = json.dumps(kind.row, separators=(",", ":"))
    places = [i for i in range(len(plain)) if plain.startswith(':"', i)]
    rows = []
    for place in places:
        end = plain.index('"', place + 2) + 1
        rows.append(plain[: place + 1] + text + plain[end:])
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join([plain, *rows, plain]))
    same(kind, path, Random(text), 2, container="jsonl")


WORDS = ["System:", "User:", "Bot:", "Assistant:", "Thought:", "[EOS]", "<image>", "<video>", "<unk>", "<un\u212a>"]


def test_reserved_words_in_any_case(tmp_path: Path) -> None:
    """Words that Nova reserves, alone, side by side, and in words that only look like them."""
    random = Random(5)
    kind, path = KINDS[0], tmp_path / "data.jsonl"
    rows = []
    for _ in range(400):
        word = random.choice(WORDS)
        cut = random.choice((0, 0, 0, 1, 2))
        text = random.choice(("a ", "", "sub", "<", "[e", "er:")) + word[cut:] + random.choice(("", " b", word, "x:"))
        text = "".join(random.choice((letter.lower(), letter.upper(), letter)) for letter in text)
        rows.append(json.dumps({**kind.row, "output": text}, ensure_ascii=random.random() < 0.2))
    path.write_text("\n".join(rows))
    same(kind, path, random, 12, container="jsonl")


@pytest.mark.parametrize("name", ["\x02", 'a"b', "a\\b", "\x9b", "\u202e"])
def test_tags_and_columns_of_any_name(name: str, tmp_path: Path) -> None:
    """The compiled parser takes no key that JSON writes with an escape: such data goes the portable way."""
    path = tmp_path / "data.jsonl"
    for column, tag in (("conversations", name), (name, "value")):
        said = [{"from": speaker, tag: "Hi"} for speaker in ("human", "gpt")]
        path.write_text(json.dumps({column: said}) + "\n")
        columns, tags = {"messages": column}, {"content_tag": tag}
        source = make_source("data", find_format("sharegpt"), [path], columns, tags=tags)
        made = make_conversion(source, find_format("openai"))
        out = tmp_path / "out.jsonl"
        results = [export(made, out, skip_invalid=True, ours=True, fast=fast) for fast in (False, True)]
        assert results[0].as_json() == results[1].as_json()


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@pytest.mark.parametrize("container", ["jsonl", "json"])
def test_plain_rows_go_the_fast_way(
    kind: Kind, container: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where both ways give the same, only this tells that the fast one is there at all."""
    rows = [kind.row] * 700
    path = tmp_path / f"data.{container}"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if container == "jsonl" else json.dumps(rows))

    def portable(*args: Any) -> None:
        raise AssertionError("a plain row went the portable way")

    monkeypatch.setattr("dsreg.fast.run.Run._use", portable)
    target = {"sft": "sharegpt", "preference": "openai", "kto": "kto", "pretrain": "nova-cpt"}[kind.task]
    report = run(kind, path, target, None, {}, fast=True, container="jsonl")
    assert report.tally.written == len(rows)


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@pytest.mark.parametrize("layout", ["compact", "spaced", "indented", "mixed"])
def test_arrays(kind: Kind, layout: str, tmp_path: Path) -> None:
    random = Random(kind.format + kind.task)
    rows: list[Any] = []
    while len(rows) < 600:
        row = deepcopy(kind.row)
        if random.random() < 0.1:
            change(random, kind, row)
        rows.append(row)
    if layout == "compact":
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    elif layout == "spaced":
        text = json.dumps(rows)
    elif layout == "indented":
        text = json.dumps(rows, indent=2, ensure_ascii=False)
    else:
        rest = [line(random, kind).decode("utf-8", "replace") for _ in range(300)]
        good = [text for text in rest if is_json(text)]
        text = "[" + ",\n".join([json.dumps(row) for row in rows] + good + [json.dumps(kind.row)] * 300) + "]\n"
    path = tmp_path / "data.json"
    path.write_text(text, "utf-8")
    same(kind, path, random, 2, container="json")


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_most_kinds_have_a_fast_way(tmp_path: Path) -> None:
    """So that these tests do compare two ways."""
    from dsreg.fast import plan_for

    found = set()
    for kind in KINDS:
        path = tmp_path / "data.jsonl"
        path.write_text(json.dumps(kind.row))
        for target, take, options in targets(kind):
            source = make_source("d", find_format(kind.format), [path], kind.columns, ranking=kind.task == "preference")
            made = make_conversion(source, find_format(target), Choices(take=take, options=options))
            if plan_for(made) is not None:
                found.add((kind.format, target))
    assert len(found) > 40, sorted(found)


SYSTEM = [{"from": "system", "value": "Be kind."}, *turns("Hi", "Hello")]
TWICE = json.dumps({"conversations": SYSTEM, "ok": True})[:-1] + ', "ok": false}'
LATE = [{"conversations": turns("Hi", "Hello"), "ok": True}] * 300 + [{"conversations": SYSTEM, "ok": True}]


@pytest.mark.parametrize(
    "rows", [[TWICE, json.dumps(LATE[0])], [json.dumps(row) for row in LATE]], ids=["rejected", "late"]
)
def test_style_of_a_file(rows: list[str], tmp_path: Path) -> None:
    """A row that is rejected does not decide about the style; one far behind the first rows does."""
    kind = next(kind for kind in KINDS if kind.format == "sharegpt" and kind.task == "kto")
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(rows))
    first, second = (outcome(run(kind, path, "hf-kto", None, {}, fast=fast)) for fast in (False, True))
    assert first == second
    assert isinstance(second[2][0]["prompt"], str) == (rows[0] == TWICE)
