"""Names and values that try to be more than text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsreg.cli import output
from tests.cli.conftest import Dsreg

ESCAPES = ["\x1b[31mred", "\x1b]0;title\x07", "a\rb", "\x9b2J", "\u202eevil", "\x00", "\ud800", "\x7f"]


@pytest.mark.parametrize("text", ESCAPES, ids=ascii)
def test_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    shown = output.plain(f"{text}\n\t好")
    assert shown.endswith("\n\t好")
    assert all(char.isprintable() for char in output.line(text))
    shown.encode()


@pytest.mark.parametrize("text", ESCAPES, ids=ascii)
@pytest.mark.parametrize("command", [["show"], ["add"], ["rename", "pairs"], ["export", "--target"], ["set", "pairs"]])
def test_arguments_are_shown_without_effect(dsreg: Dsreg, command: list[str], text: str) -> None:
    done = dsreg(*command, text)
    assert done.code == 2
    assert not set(done.err) & set("\x1b\x07\r\x9b\u202e\x00\x7f")


def test_data_is_shown_without_effect(dsreg: Dsreg, project: Path) -> None:
    row = {"instruction": "\x1b[2Jwipe", "input": "", "output": "\u202etxt.exe", "\x1b]0;x": "\x9b1A"}
    (project / "data" / "mydata.json").write_text(json.dumps([row]))
    done = dsreg("add", "mydata")
    preview = dsreg("preview", "mydata", "--target", "openai")
    assert (done.code, preview.code) == (0, 0)
    assert "\\x1b[2Jwipe" in done.err and "\\x1b[2Jwipe" in preview.out
    assert not set(done.err + preview.out) & set("\x1b\u202e\x9b")


def test_a_registry_is_shown_without_effect(dsreg: Dsreg, project: Path) -> None:
    toml = (project / "registry" / "pairs.toml").read_text()
    (project / "registry" / "pairs.toml").write_text(f'{toml}\n[card]\nlicense = "\\u001b[8mhidden"\n')
    done = dsreg("show", "pairs")
    assert done.code == 0 and "\\x1b[8mhidden" in done.out and "\x1b" not in done.out


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "..", "a/b", "con", ".hidden", "x\\y", "name with space", "-x"])
def test_names_stay_in_the_registry(dsreg: Dsreg, project: Path, name: str) -> None:
    assert dsreg("add", "--target", "openai", "--", name, "data/chat.jsonl").code == 0
    assert len(list((project / "registry").iterdir())) == 2
    assert dsreg("export", "--target", "openai", "--", name).code == 0
    written = [path for path in project.parent.rglob("*") if path.is_file() and not path.is_relative_to(project)]
    assert not written
    assert len(list((project / "exports" / "openai").rglob("*.jsonl"))) == 1
    assert dsreg("remove", "-y", "--", name).code == 0


def test_options_are_no_options_behind_two_dashes(dsreg: Dsreg) -> None:
    done = dsreg("show", "--", "--help")
    assert done.code == 2 and "no dataset '--help'" in done.err


def test_values_never_become_code(dsreg: Dsreg, project: Path) -> None:
    evil = '"""\nimport os; os.system("touch owned")\n"""'
    (project / "data" / "chat.jsonl").write_text(json.dumps({evil: [{"role": "user", "content": "a"}]}) + "\n")
    done = dsreg("add", "chat", "--format", "openai", "--column", f"messages={evil}")
    script = dsreg("render", "chat", "--target", "hf-prompt-completion")
    assert (done.code, script.code) in ((0, 0), (0, 2))
    if script.code == 0:
        compile(script.out, "script", "exec")
        assert "\nimport os; os.system" not in script.out
    assert not (project / "owned").exists()


def test_invalid_utf8_on_the_command_line(dsreg: Dsreg) -> None:
    done = dsreg("show", b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert done.code == 2 and "caf\\udce9" in done.err
