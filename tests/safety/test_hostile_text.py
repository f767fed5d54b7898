"""Names, columns, tags, options and data that try to be more than text: through every command that shows them."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dsreg.names import stem_of
from tests.safety.conftest import Done, Dsreg, contents, make_project, run_here

ATTACKS = [
    *["\x1b[2J", "\x1b]0;t\x07", "\x9b31m", "\x1b]8;;http://x\x1b\\y", "\r", "\b", "\x7f", "\x00", "\x85", "\x90q\x9c"],
    *["\u202e", "\u2066", "\u200f", "\u2028", "\ufeff", "\u061c", "\U000e0041"],
    *["../", "/etc/passwd", "..\\", "~", "-rf", "--force", "$(id)", "`id`", ";", "\n", "\t", "%00", "%2e%2e%2f", "NUL"],
    *["'", '"', "{{7*7}}", "{%", "#}", "</script>", "|", "**b**", "[x](y)", "{name}", "%s", "{0.__class__}"],
]
TEXT = st.lists(st.sampled_from(ATTACKS) | st.text(max_size=3), min_size=1, max_size=4).map("".join)
SAVED = TEXT.filter(lambda text: not re.search("[\ud800-\udfff]", text))
NAMES = SAVED.filter(lambda name: 0 < len(stem_of(name).encode()) < 150)
OBEYED = {"Cc", "Cs", "Zl", "Zp"}
TURNS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of the text behind them."""


def obeyed(text: str) -> set[str]:
    """The characters that a terminal would not simply show."""
    return {char for char in text if unicodedata.category(char) in OBEYED or char in TURNS} - {"\n", "\t"}


@contextmanager
def fresh_project() -> Iterator[Path]:
    """A project in a folder of its own, which is the working folder."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        make_project(root)
        os.chdir(root)
        try:
            yield root
        finally:
            os.chdir(here)


def checked(*command: str) -> Done:
    """Run a command, which may refuse but not crash, and print nothing that a terminal obeys."""
    done = run_here(*command)
    assert done.code in (0, 1, 2), done
    assert not obeyed(done.out) and not obeyed(done.err), (command, done)
    return done


@st.composite
def tomls(draw: st.DrawFn) -> dict[str, Any]:
    """A dataset's TOML as a stranger may write it."""
    columns = draw(
        st.dictionaries(st.sampled_from(["messages", "system", "id", "category"]) | SAVED, SAVED, max_size=3)
    )
    made: dict[str, Any] = {
        "format": draw(st.sampled_from(["sharegpt", "openai", "verl"]) | SAVED),
        "file_name": draw(st.just("hostile.jsonl") | SAVED),
        "columns": {"messages": draw(SAVED), **columns},
        "tags": draw(
            st.dictionaries(st.sampled_from(["role_tag", "user_tag", "content_tag"]) | SAVED, SAVED, max_size=2)
        ),
        "card": draw(st.dictionaries(SAVED, SAVED, max_size=2)),
        "targets": draw(st.lists(st.sampled_from(["openai", "nova-sft"]) | SAVED, max_size=2)),
        "target": {"nova-sft": draw(st.dictionaries(st.just("model") | SAVED, SAVED, max_size=1))},
    }
    return made | draw(st.dictionaries(SAVED, SAVED, max_size=2))


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(name=NAMES, toml=tomls(), row=st.dictionaries(TEXT, TEXT | st.lists(st.dictionaries(TEXT, TEXT, max_size=2))))
def test_a_strangers_registry_is_only_shown(name: str, toml: dict[str, Any], row: dict[str, Any]) -> None:
    with fresh_project() as root:
        (root / "registry" / f"{stem_of(name)}.toml").write_text(tomli_w.dumps(toml), "utf-8")
        key = toml["columns"]["messages"]
        good = {key: [{"role": "user", "content": name}, {"role": "assistant", "content": name, **row}]}
        data = "\n".join(json.dumps(each) for each in (row, {**row, **good}, good))
        (root / "data" / "hostile.jsonl").write_text(data)
        for command in (["list"], ["check"], ["sync", "--diff"], ["sync"], ["sync", "--check"]):
            checked(*command)
        for command in (["show"], ["check"], ["preview"], ["render", "--target", "nova-sft"]):
            checked(*command, "--", name)
        for target in ("nova-sft", "openai", "verl-sft"):
            checked("preview", "--target", target, "--full", "--", name)
            checked("export", "--target", target, "--skip-invalid", "--", name)
        checked("rename", "--", name, "plain")
        checked("remove", "-y", "--", name)
        assert {path.split("/")[0] for path in contents(root.parent)} == {"project"}


@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(name=NAMES, column=TEXT, tag=TEXT, option=TEXT, license=TEXT)
@example("x", "a=b", "{0}", "\x1b[2J", "\u202e")
def test_hostile_arguments(name: str, column: str, tag: str, option: str, license: str) -> None:
    """Each is refused, or stands where it belongs as the very same text."""
    if "\x00" in name + column + tag + option + license:
        return  # no argument can hold it
    with fresh_project() as root:
        row = {column: [{"role": "user", "content": "a"}, {"role": tag, "content": "b"}]}
        (root / "data" / "chat.jsonl").write_text(json.dumps(row) + "\n")
        options = ["--format", "sharegpt", "--column", f"messages={column}", "--tag", f"assistant_tag={tag}"]
        options += ["--tag", "role_tag=role", "--tag", "content_tag=content", "--tag", "user_tag=user"]
        done = checked("add", *options, "--option", f"model={option}", "--", name, "data/chat.jsonl")
        checked("add", *options, "--", name, "data/chat.jsonl")
        for target in ("openai", "nova-sft"):
            checked("export", "--target", target, "--option", f"media_prefix={option}", "--", name)
            script = checked("render", "--target", target, "--", name)
            if script.code == 0:
                ast.parse(script.out)
        checked("export", "--target", option, "--take", tag, "--skip", column, "--", name)
        checked("show", "--", license)
        assert {path.split("/")[0] for path in contents(root.parent)} == {"project"}
        assert done.code in (0, 2)


@pytest.mark.parametrize("text", ATTACKS[::2], ids=ascii)
def test_files_that_are_called_like_an_attack(project: Path, text: str) -> None:
    if "\x00" in text:
        return
    name = text.replace("/", "_") + "x.jsonl"
    (project / "data" / name).write_text('{"instruction": 1}\nbroken\n')
    for command in (
        ["add", "x", f"data/{name}", "--format", "alpaca"],
        ["check", f"data/{name}", "--format", "alpaca"],
        ["convert", f"./data/{name}", "--format", "alpaca", "--target", "openai"],
        ["convert", "data/rivers.jsonl", "--target", "openai", "-o", f"./{name}"],
        ["export", "rivers", "--target", "pretrain", "--text-template", f"./{name}"],
    ):
        checked(*command)


MEMBERS = [
    "{A}",
    '{{"{A}": {{"file_name": "{A}", "{A}": ["{A}"]}}}}',
    '{{"a": "{A}",}}',
    '{{"rivers": {{"x": "{A}"}}}}',
]


@pytest.mark.parametrize("text", MEMBERS)
def test_a_hostile_dataset_info(dsreg: Dsreg, project: Path, text: str) -> None:
    for attack in ATTACKS[:17:3]:
        quoted = json.dumps(attack, ensure_ascii=False)[1:-1]
        (project / "data/dataset_info.json").write_text(text.format(A=quoted), "utf-8")
        for command in (["sync"], ["check"], ["add", "--adopt", "--", attack.replace("\x00", "x")]):
            checked(*command)


def test_a_terminal_is_not_given_the_rows_as_they_are(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe gets the exact text; a terminal gets the same JSON with everything written out that it would obey."""
    from tests.safety import conftest

    evil = "\x9b2J\u202e\x7f"
    row = {"instruction": "q", "output": evil}
    (project / "data/e.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n")
    command = ["convert", "data/e.jsonl", "--format", "alpaca", "--target", "openai"]
    piped = run_here(*command)
    monkeypatch.setattr(conftest.Stream, "isatty", lambda self: True)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = run_here(*command)
    assert evil in piped.out and not obeyed(shown.out)
    assert json.loads(shown.out) == json.loads(piped.out)
