from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dsreg.errors import RegistryError
from dsreg.jsonedit import Document, same_json

ENTRY = {
    "file_name": "new.json",
    "formatting": "sharegpt",
    "columns": {"messages": "messages"},
    "tags": {"role_tag": "role", "content_tag": "content"},
}


def edit(text: str, name: str, value: Any) -> str:
    document = Document(text, "dataset_info.json")
    document.set_member(name, value)
    return document.text()


def without(text: str, name: str) -> str:
    document = Document(text, "dataset_info.json")
    document.remove_member(name)
    return document.text()


STYLES = {
    "two spaces": (
        '{\n  "a": {\n    "x": 1\n  }\n}\n',
        '{\n  "a": {\n    "x": 1\n  },\n  "b": {\n    "y": 2\n  }\n}\n',
    ),
    "four spaces, no end": (
        '{\n    "a": {\n        "x": 1\n    }\n}',
        '{\n    "a": {\n        "x": 1\n    },\n    "b": {\n        "y": 2\n    }\n}',
    ),
    "tabs": ('{\n\t"a": {\n\t\t"x": 1\n\t}\n}\n', '{\n\t"a": {\n\t\t"x": 1\n\t},\n\t"b": {\n\t\t"y": 2\n\t}\n}\n'),
    "CRLF": (
        '{\r\n  "a": {\r\n    "x": 1\r\n  }\r\n}\r\n',
        '{\r\n  "a": {\r\n    "x": 1\r\n  },\r\n  "b": {\r\n    "y": 2\r\n  }\r\n}\r\n',
    ),
    "minified": ('{"a":{"x":1}}', '{"a":{"x":1},"b":{"y":2}}'),
    "one line": ('{"a": {"x": 1}, "c": {}}', '{"a": {"x": 1}, "c": {}, "b": {"y": 2}}'),
    "inline entries": (
        '{\n  "a": { "x": 1 },\n  "c": { "x": 1 }\n}\n',
        '{\n  "a": { "x": 1 },\n  "c": { "x": 1 },\n  "b": { "y": 2 }\n}\n',
    ),
    "blank lines between": (
        '{\n  "a": {\n    "x": 1\n  },\n\n  "c": {\n    "x": 1\n  }\n}\n',
        '{\n  "a": {\n    "x": 1\n  },\n\n  "c": {\n    "x": 1\n  },\n\n  "b": {\n    "y": 2\n  }\n}\n',
    ),
    "comma first": (
        '{ "a": {"x": 1}\n, "c": {"x": 1}\n, "d": {"x": 1}\n}',
        '{ "a": {"x": 1}\n, "c": {"x": 1}\n, "d": {"x": 1}\n, "b": {"y": 2}\n}',
    ),
    "no indentation": ('{\n"a": {\n"x": 1\n}\n}', '{\n"a": {\n"x": 1\n},\n"b": {\n"y": 2\n}\n}'),
    "spaced colons": (
        '{\n  "a" : {\n    "x" : 1\n  }\n}\n',
        '{\n  "a" : {\n    "x" : 1\n  },\n  "b" : {\n    "y" : 2\n  }\n}\n',
    ),
    "empty": ("{}", '{\n  "b": {\n    "y": 2\n  }\n}'),
    "byte order mark": ('\ufeff{"a":{"x":1}}', '\ufeff{"a":{"x":1},"b":{"y":2}}'),
}


@pytest.mark.parametrize("before, after", STYLES.values(), ids=STYLES)
def test_a_new_member_takes_the_style_of_the_file_and_goes_without_a_trace(before: str, after: str) -> None:
    assert edit(before, "b", {"y": 2}) == after
    assert without(after, "b") == before


@pytest.mark.parametrize("space", ["\n", " ", "\n\n", "\r\n", "\n  ", "\t"])
def test_an_empty_object_is_empty_in_the_same_way_again(space: str) -> None:
    before = "{" + space + "}\n"
    assert without(edit(before, "b", ENTRY), "b") == before


def test_only_the_nested_member_that_differs_is_touched() -> None:
    before = (
        '{"//":  "note",\n "a" : { "file_name":"\\u0061.json",\n\n'
        ' "columns": {"prompt" :"q",  "response":"r"} , "z": 1.50 }}'
    )
    value = {"file_name": "a.json", "columns": {"prompt": "question", "response": "r"}, "z": 1.5}
    assert edit(before, "a", value) == before.replace('"q"', '"question"')


def test_a_member_added_to_and_removed_from_an_entry_leaves_the_rest() -> None:
    before = '{\n  "a": {\n    "file_name": "a.json"\n  }\n}\n'
    after = edit(before, "a", {"file_name": "a.json", "columns": {"prompt": "q"}})
    assert after == ('{\n  "a": {\n    "file_name": "a.json",\n    "columns": {\n      "prompt": "q"\n    }\n  }\n}\n')
    assert edit(after, "a", {"file_name": "a.json"}) == before


def test_setting_what_is_there_changes_nothing() -> None:
    text = '{"a": {"x": 1.0, "y": "\\u00e9"}}'
    assert edit(text, "a", {"y": "é", "x": 1.0}) == text


@pytest.mark.parametrize("old, new", [(1, True), (1, 1.0), (0, False), ("1", 1)])
def test_values_that_python_takes_for_equal_are_told_apart(old: Any, new: Any) -> None:
    assert not same_json(old, new)
    assert json.loads(edit(json.dumps({"a": {"x": old}}), "a", {"x": new}))["a"]["x"] is not old


def test_of_a_repeated_name_the_last_counts_and_both_go() -> None:
    text = '{"a": {"x": 1}, "b": 2, "a": {"x": 3}}'
    assert Document(text, "f").duplicates == ["a"]
    assert edit(text, "a", {"x": 4}) == '{"a": {"x": 1}, "b": 2, "a": {"x": 4}}'
    assert without(text, "a") == '{"b": 2}'


def test_a_repeated_key_inside_an_entry_survives_until_it_is_removed() -> None:
    text = '{"a": {"x": 1, "x": 2, "y": 3}}'
    assert edit(text, "a", {"x": 5, "y": 3}) == '{"a": {"x": 1, "x": 5, "y": 3}}'
    assert edit(text, "a", {"y": 3}) == '{"a": {"y": 3}}'


def test_rename_keeps_the_place_and_refuses_a_taken_name() -> None:
    document = Document('{\n  "a": 1,\n  "b":2\n}', "f")
    document.rename_member("a", "c\n")
    assert document.text() == '{\n  "c\\n": 1,\n  "b":2\n}'
    with pytest.raises(KeyError):
        document.rename_member("b", "c\n")


@pytest.mark.parametrize("text, raw", [('{"é": 1}', True), ('{"e": 1}', False)])
def test_non_ascii_is_escaped_unless_the_file_does_not(text: str, raw: bool) -> None:
    assert ("数据" in edit(text, "b", {"file_name": "数据.json"})) is raw


def test_half_a_character_stays_an_escape() -> None:
    assert edit('{"é": "\\ud83d"}', "b", "\ud83d").endswith('"b": "\\ud83d"}')


BROKEN = {
    "trailing comma": ('{\n  "a": {\n    "x": 1,\n  }\n}', "f:3:11", "a comma before a closing brace"),
    "comma between entries": ('{\n  "a": {}\n  "b": {}\n}', "f:3:3", "a comma is missing before this"),
    "brace and comma": ('{\n  "a": {\n    "x": 1\n  "b": {}\n}', "f:4:3", "`},` is missing before this"),
    "last brace": ('{\n  "a": {}\n', "f:3:1", "the file ends too early"),
    "too many braces": ('{"a": {}}}', "f:1:10", "text after the end"),
    "empty": ("", "f:1:1", "the file is empty"),
    "comment": ('{\n  // mine\n  "a": 1}', "f:2:3", "a comment"),
    "single quotes": ("{'a': 1}", "f:1:2", "a single quote"),
    "python": ('{"a": True}', "f:1:7", "a Python value"),
    "line break in text": ('{"a": "x\ny"}', "f:1:9", "a line break or tab inside text"),
    "no colon": ('{"a" 1}', "f:1:6", "a colon is missing"),
    "merge": ('{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "b": 1\n>>>>>>> x\n}', "f:2:1", "git merge markers"),
}


@pytest.mark.parametrize("text, where, message", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_explained(text: str, where: str, message: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Document(text, "f")
    assert caught.value.where == where
    assert message in caught.value.message
    assert caught.value.hint


def test_merge_markers_are_answered_with_the_way_out() -> None:
    with pytest.raises(RegistryError) as caught:
        Document(BROKEN["merge"][0], "f")
    assert "keep either side" in caught.value.hint and "dsreg sync" in caught.value.hint


@pytest.mark.parametrize(
    "data", [b"[]", b'"x"', b"\xff\xfe{}", b'{"a": ' + b"9" * 5000 + b"}", b'{"a":' + b"[" * 100_000], ids=repr
)
def test_what_is_no_registry_is_refused(data: bytes) -> None:
    with pytest.raises(RegistryError):
        Document.parse(data, "f")


def test_lines_of_members() -> None:
    assert Document('{\n\n  "a": {\n "x": 1},\n  "b": 2, "c": 3}', "f").lines() == {"a": 3, "b": 5, "c": 5}


def test_ten_thousand_entries_are_no_trouble() -> None:
    text = json.dumps({f"set_{number}": ENTRY for number in range(10_000)}, indent=2)
    start = time.process_time()
    document = Document(text, "f")
    document.set_member("set_5000", {**ENTRY, "formatting": "openai"})
    document.set_member("new", ENTRY)
    assert len(document.text()) > len(text)
    assert time.process_time() - start < 2


def real_registries(shared: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted((shared / "conformance/registries").glob("*.json"))]


def test_real_registries_are_edited_without_loss(shared: Path) -> None:
    edited = 0
    for name, data in real_registries(shared):
        try:
            document = Document.parse(data, name)
        except RegistryError:
            continue
        assert document.encode() == data, name
        document.set_member("a new one", ENTRY)
        added = document.encode()
        assert json.loads(added.decode("utf-8-sig"))["a new one"] == ENTRY
        again = Document.parse(added, name)
        again.remove_member("a new one")
        assert again.encode() == data, name
        edited += 1
    assert edited >= 70


def test_changing_one_real_entry_leaves_the_lines_of_the_others(shared: Path) -> None:
    for name, data in real_registries(shared):
        try:
            names = [
                key for key, value in Document.parse(data, name).value.items() if isinstance(value, dict) and value
            ]
        except RegistryError:
            continue
        for key in names[:: max(1, len(names) // 3)]:
            document = Document.parse(data, name)
            first = next(iter(document.value[key]))
            document.set_member(key, {**document.value[key], first: "changed here"})
            before, after = data.splitlines(), document.encode().splitlines()
            changed = sum(1 for old, new in zip(before, after, strict=False) if old != new)
            assert changed <= 1 or len(before) != len(after), (name, key)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=5)
SPACES = st.text(alphabet=" \t\n\r", max_size=4)


@st.composite
def laid_out(draw: st.DrawFn, value: Any = None) -> str:
    """Any JSON text of an object: any white space, escapes or none, now and then a repeated name."""

    def space() -> str:
        return draw(SPACES)

    def write(item: Any) -> str:
        if isinstance(item, dict) and item:
            pairs = [*item.items()] + ([next(iter(item.items()))] if draw(st.integers(0, 9)) == 9 else [])
            return "{" + ",".join(f"{space()}{write(k)}{space()}:{space()}{write(v)}{space()}" for k, v in pairs) + "}"
        if isinstance(item, list) and item:
            return "[" + ",".join(f"{space()}{write(x)}{space()}" for x in item) + "]"
        if isinstance(item, dict | list):
            return f"{'{' if isinstance(item, dict) else '['}{space()}{'}' if isinstance(item, dict) else ']'}"
        return json.dumps(item, ensure_ascii=draw(st.booleans()))

    text = space() + write(draw(OBJECTS) if value is None else value) + space()
    assume(text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text))
    return text


@given(laid_out(), st.text(max_size=5), VALUES)
def test_adding_then_removing_gives_the_same_bytes(text: str, name: str, value: Any) -> None:
    before = Document(text, "f")
    assume(name not in before.value)
    added = edit(text, name, value)
    assert same_json(json.loads(added), {**before.value, name: value})
    assert without(added, name) == text


@given(laid_out(), st.data())
def test_a_change_gives_the_intended_value_and_keeps_the_other_members(text: str, data: st.DataObject) -> None:
    document = Document(text, "f")
    assume(document.value)
    name = data.draw(st.sampled_from(sorted(document.value)))
    value = data.draw(
        VALUES | st.just({**document.value[name], "k": 1} if isinstance(document.value[name], dict) else 1)
    )
    others = {key: member.text() for key, members in document._by_name.items() if key != name for member in members}
    changed = edit(text, name, value)
    assert same_json(json.loads(changed), {**json.loads(text), name: value})
    assert all(member in changed for member in others.values())


@given(laid_out(), st.data())
def test_removing_any_member_gives_the_intended_value(text: str, data: st.DataObject) -> None:
    value = json.loads(text)
    assume(value)
    name = data.draw(st.sampled_from(sorted(value)))
    assert same_json(json.loads(without(text, name)), {key: item for key, item in value.items() if key != name})
