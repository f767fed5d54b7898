"""Rows of plain text are checked by whole columns: the result is that of the way for all rows, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.check import overview, together
from dsreg.check.dataset import Subject, check_entry
from dsreg.check.hints import Words
from dsreg.llamafactory import jsonfile, predict, runs, written
from dsreg.llamafactory.stage import STAGES
from tests.llamafactory.test_conformance import CASES

TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}
ALPACA = {"prompt": "q", "query": "i", "response": "a", "system": "s", "history": "h", "tools": "t", "images": "p"}
ENTRIES: list[dict[str, Any]] = [
    {"columns": {key: ALPACA[key] for key in ("prompt", "query", "response")}},
    {"columns": {key: ALPACA[key] for key in ("prompt", "response", "system", "history")}},
    {"columns": ALPACA},
    {"columns": {"prompt": "q"}},
    {"columns": {"prompt": "q", "chosen": "a", "rejected": "i"}, "ranking": True},
    {"columns": {"prompt": "q", "response": "a", "kto_tag": "k"}},
    {"formatting": "sharegpt", "columns": {"messages": "m"}, "tags": TAGS},
    {"formatting": "sharegpt", "columns": {"messages": "m", "system": "s", "tools": "t"}, "tags": TAGS},
    {"formatting": "sharegpt", "columns": {"messages": "m", "kto_tag": "k"}, "tags": TAGS},
    {
        "formatting": "sharegpt",
        "columns": {"messages": "m", "chosen": "c", "rejected": "r"},
        "ranking": True,
        "tags": TAGS,
    },
    {"formatting": "openai", "columns": {"messages": "m"}, "tags": TAGS},
]

_TEXTS = [
    "one",
    "two\nlines",
    "\u00e9",
    "“",
    "好",
    "",
    " ",
    "\u3000",
    "\x0b\x1c\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000",
    "\u200b",
    "2024-01-01",
    "20",
    'a "q": b',
    ":x",
    "/",
    "\x1f",
    "q",
]
_TEXT = st.sampled_from(_TEXTS)
_ODD = st.sampled_from([None, 1, 2.5, True, [], {}, [["x", "y"]], ["x"], {"q": "x"}, "🙂" * 9, "[]"])
_TURN = st.tuples(st.sampled_from(["human", "gpt", "system", "observation", "function_call", "other"]), _TEXT)


_TOOLS = st.sampled_from(["", "[]", '[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]', "[{}]"])
_CALLS = st.sampled_from(
    [
        *(
            '{"name": "f", "arguments": {}}',
            '[{"name": "f", "arguments": "{}"}]',
            "[]",
            "{}",
            "no",
            '{"name": NaN}',
            "1",
        ),
        *('<tool_call>{"name": "f", "arguments": {}}</tool_call>', "<think>\n?\n</think>\n\n[1]", "[" * 2_000),
    ]
)


def _turn(role: str, text: str) -> dict[str, Any]:
    return {"from": role, "value": text}


@st.composite
def _dialogue(draw: st.DrawFn, odd: bool) -> list[dict[str, Any]]:
    turns = [_turn(("human", "gpt")[at % 2], draw(_TEXT)) for at in range(2 * draw(st.integers(1, 2)))]
    if draw(st.integers(0, 2)) == 0:
        turns += [_turn("function_call", draw(_CALLS)), _turn("observation", draw(_TEXT))]
        turns = turns[:-3] + turns[-2:] + [_turn("gpt", "!")] if draw(st.booleans()) else turns[:-3] + turns[-2:-1]
    if draw(st.integers(0, 3)) == 0:
        turns.insert(0, _turn("system", draw(_TEXT)))
    return turns[:-1] if odd else turns


@st.composite
def _rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of which most are plain, and some odd in one place."""
    ranked, rows = draw(st.booleans()), list[dict[str, Any]]()
    left = draw(st.sets(st.sampled_from("ishtkpx")))
    for _ in range(draw(st.integers(1, 14))):
        row: dict[str, Any] = {
            "q": draw(_TEXT),
            "i": draw(_TEXT),
            "a": draw(_TEXT),
            "s": draw(_TEXT),
            "t": draw(_TOOLS),
        }
        row |= {"h": draw(st.sampled_from([[], [["x", "2024-01-01"]]])), "k": draw(st.booleans()), "p": [], "x": 1}
        row |= {"m": draw(_dialogue(ranked)), "c": _turn("gpt", draw(_TEXT)), "r": _turn("gpt", draw(_TEXT))}
        row = {key: value for key, value in row.items() if key not in left}
        if draw(st.integers(0, 9)) == 0:
            row[draw(st.sampled_from([*row, "new"]))] = draw(_ODD)
        if draw(st.integers(0, 15)) == 0 and isinstance(row["m"], list):
            row["m"] = [*row["m"], _turn(*draw(_TURN))]
        if draw(st.integers(0, 4)) == 0:
            row.pop(draw(st.sampled_from(sorted(row))))
        rows.append(rows[-1] if rows and draw(st.integers(0, 4)) == 0 else row)
    return rows


@st.composite
def _files(draw: st.DrawFn) -> str:
    """JSON Lines in several spellings, sometimes with a line that is none or says a key twice."""
    lines = [
        json.dumps(row, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([None, (",", ":")])))
        for row in draw(_rows())
    ]
    if draw(st.integers(0, 7)) == 0:
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = draw(
            st.sampled_from(
                [
                    lines[at][:-1] + ', "q": "again"}',
                    lines[at].replace('"q"', '"\\u0071"'),
                    lines[at][:-1] + ',"\\u0071":""}',
                    lines[at].replace(": ", " :"),
                    lines[at] + lines[at],
                    lines[at].replace(", ", ",\n", 1),
                    lines[at] + "\r",
                    " " + lines[at],
                    lines[at].replace("one", "\\ud800"),
                    "",
                    "[]",
                ]
            )
        )
    return "\n".join(lines) + draw(st.sampled_from(["\n", "", "\n\n"]))


def both(folder: Path, name: str, raw: dict[str, Any], stage: str) -> tuple[Any, Any]:
    """The result of the check with and without the fast way."""
    found = []
    for fast in (True, False):
        subject = Subject(name, raw, folder, lambda keys: (".".join(keys), None), Words(name, project=False))
        result = check_entry(subject, stage, verdicts=True, fast=fast)
        found.append((result.as_json(verdicts=True), result.rows, result.fits, [f.count for f in result.findings]))
    return found[0], found[1]


@given(
    text=_files(),
    entry=st.sampled_from(ENTRIES),
    stage=st.sampled_from(STAGES),
    sizes=st.tuples(st.sampled_from([100, 600, 10_000]), st.sampled_from([60, 5_000]), st.sampled_from([2, 3, 1_000])),
    limit=st.sampled_from([3, 1_000]),
)
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_same_result(
    text: str, entry: dict[str, Any], stage: str, sizes: tuple[int, int, int], limit: int, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_bytes(text.encode("utf-8"))
    raw = {"file_name": "rows.jsonl", **entry}
    (tmp_path / "dataset_info.json").write_text(json.dumps({"d": raw}), "utf-8")
    chunk, block, batch = sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonfile, "CHUNK", chunk)
        patch.setattr(runs, "BLOCK", block)
        patch.setattr(runs, "BATCH", batch)
        patch.setattr(written, "BATCH", batch)
        patch.setattr(overview, "INDEXED_ROWS", limit)
        patch.setattr(together, "INDEXED_ROWS", limit)
        fast, slow = both(tmp_path, "d", raw, stage)
    assert fast == slow


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_recorded_cases(case: dict[str, Any], tmp_path: Path) -> None:
    for name, text in {**case["files"], "dataset_info.json": case["registry"]}.items():
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(text.replace("$DIR", str(tmp_path)).encode("utf-8"))
    try:
        raw = json.loads((tmp_path / "dataset_info.json").read_text("utf-8-sig"))[case["dataset"]]
    except (ValueError, KeyError, TypeError):
        pytest.skip("the registry has no such entry")
    if isinstance(raw, dict):
        fast, slow = both(tmp_path, case["dataset"], raw, case["stage"])
        assert fast == slow


def test_plain_rows_take_the_fast_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfile, "_read_lines", None)  # what the other way reads with
    monkeypatch.setattr(predict, "_verdicts", _only_runs(predict._verdicts))
    alpaca = [{"q": f"q{n}", "i": "", "a": "好\n" * n, **({"s": "s"} if n % 2 else {})} for n in range(50)]
    chat = [{"m": [_turn("human", "x"), _turn("gpt", f"{n}")]} for n in range(50)]
    called = [_turn("function_call", '{"name": "f", "arguments": {}}'), _turn("observation", "1")]
    tools = [
        {
            "m": [chat[n]["m"][0], *called, chat[n]["m"][1]],
            "s": "",
            "t": '[{"name": "f", "parameters": {"properties": {}}}]',
        }
        for n in range(50)
    ]
    for entry, rows in ((ENTRIES[0], alpaca), (ENTRIES[6], chat), (ENTRIES[7], tools)):
        raw = {"file_name": "rows.jsonl", **entry}
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (tmp_path / "dataset_info.json").write_text(json.dumps({"d": raw}), "utf-8")
        subject = Subject("d", raw, tmp_path, lambda keys: ("", None), Words("d", project=False))
        assert check_entry(subject).counts == {"ok": 50}


def _only_runs(verdicts: Any) -> Any:
    def wrapped(*arguments: Any) -> Any:
        for part in verdicts(*arguments):
            assert isinstance(part, runs.Run)
            yield part

    return wrapped
