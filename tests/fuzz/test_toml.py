"""A person's TOML keeps its comments, order and layout; what an edit says is exactly what was meant."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dsreg.errors import RegistryError
from dsreg.tomledit import edited

KEYS = ["format", "file_name", "ranking", "num_samples", "split", "odd key", 'q"k', "ü", "a.b", "subset"]
VALUES: dict[str, Any] = {
    '"text"': "text",
    "'C:\\x'": "C:\\x",
    '"\\u00e9\\n"': "é\n",
    '"""long\ntext"""': "long\ntext",
    "true": True,
    "1_000": 1000,
    "0x1F": 31,
    "-0.0": -0.0,
    "1e3": 1000.0,
    "[1, 2, # two\n  3]": [1, 2, 3],
    '{a = 1, "b c" = "x"}': {"a": 1, "b c": "x"},
    "9223372036854775807": 2**63 - 1,
    "[]": [],
}
COMMENTS = ["", "  # why", ' # ünï \\ "quote" = [x]', "\t#"]
TABLES = ["columns", "tags", "card", '"odd table"', "target.openai", "target.'nova sft'"]


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A TOML file as people write it, and the line of each key of its top and of `columns`."""
    lines, places = [draw(st.sampled_from(["# mine\n", "\n", ""]))], {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=6)):
        name = key if key.isascii() and key.replace("_", "").isalnum() else json.dumps(key, ensure_ascii=False)
        text = f"{name}{draw(st.sampled_from([' = ', '=', '   =  ']))}{draw(st.sampled_from(sorted(VALUES)))}"
        line = f"{text}{draw(st.sampled_from(COMMENTS))}\n"
        lines.append(draw(st.sampled_from(["", "", "\n", "# about the next\n"])) + line)
        places[key] = line
    for table in draw(st.lists(st.sampled_from(TABLES), unique=True, max_size=3)):
        lines.append(f"\n[{table}]{draw(st.sampled_from(COMMENTS))}\n")
        for key in draw(st.lists(st.sampled_from(["prompt", "response", "x y"]), unique=True, max_size=3)):
            value = json.dumps(draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)), ensure_ascii=False)
            lines.append(f"{json.dumps(key)} = {value}{draw(st.sampled_from(COMMENTS))}\n".replace("\x7f", "-"))
    return "".join(lines), places


def without(text: str, line: str) -> str:
    """A text with one line taken out."""
    before, _, after = text.partition(line)
    return before + after


@settings(max_examples=150)
@given(files(), st.data())
def test_an_edit_of_one_key_leaves_every_other_line(file: tuple[str, dict[str, str]], data: st.DataObject) -> None:
    text, places = file
    values = tomllib.loads(text)
    key = data.draw(st.sampled_from(sorted(places)))
    value = data.draw(st.sampled_from(list(VALUES.values())) | st.text(max_size=5) | st.integers(-(2**63), 2**63 - 1))
    try:
        found = edited(text.encode(), {**values, key: value}, "x.toml").decode()
    except RegistryError:
        assert isinstance(value, str | dict | list) or isinstance(values[key], dict), "plain values always fit"
        return
    assert json.dumps(tomllib.loads(found), sort_keys=True) == json.dumps({**values, key: value}, sort_keys=True)
    kept = [line for line in without(text, places[key]).split("\n") if line.strip()]
    lines = found.split("\n")
    at = 0
    for line in kept:  # all of them, in their order
        assert line in lines[at:], (line, found)
        at = lines.index(line, at) + 1


@settings(max_examples=100)
@given(files(), st.data())
def test_a_key_that_comes_and_goes_leaves_no_trace_in_comments(
    file: tuple[str, dict[str, str]], data: st.DataObject
) -> None:
    text, places = file
    values = tomllib.loads(text)
    gone = data.draw(st.sampled_from(sorted(places)))
    try:
        more = edited(text.encode(), {**values, "added": True}, "x.toml")
        again = edited(more, values, "x.toml").decode()
        less = edited(text.encode(), {k: v for k, v in values.items() if k != gone}, "x.toml").decode()
    except RegistryError:
        return
    assert tomllib.loads(again) == values and gone not in tomllib.loads(less)
    for line in text.split("\n"):
        if line.strip():
            assert line in again.split("\n")
            assert line in less.split("\n") or line in places[gone].split("\n")
