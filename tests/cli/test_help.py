"""Every command and option says what it does; and the help is quick."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.cli.conftest import Dsreg

COMMANDS = "init add list show set rename remove sync export convert render preview formats".split()
FORMATS = "list show matrix new test".split()
ALL = [[name] for name in COMMANDS] + [["formats", name] for name in FORMATS]
WRITES = ["init", "add", "set", "rename", "remove", "sync", "export", "convert", "render", "formats new"]
INFORMS = [*"init add list show set rename remove sync export convert preview".split()] + [
    f"formats {name}" for name in ("list", "show", "matrix", "test")
]


def test_every_command_is_listed(dsreg: Dsreg) -> None:
    listed = re.findall(r"^  ([a-z]+)  ", dsreg("--help").out, re.MULTILINE)
    assert set(COMMANDS) <= set(listed)
    assert set(FORMATS) <= set(re.findall(r"^  ([a-z]+)  ", dsreg("formats", "--help").out, re.MULTILINE))


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_option_is_described(dsreg: Dsreg, command: list[str]) -> None:
    done = dsreg(*command, "--help")
    assert done.code == 0
    about = done.out.split("\n\n")[1].strip()
    assert about[0].isupper() and about.endswith(".")
    options = done.out.partition("Options:")[2].partition("Commands:")[0]
    entries = re.split(r"\n  (?=-)", f"\n{options.strip(chr(10))}".replace("\n  -", "\n  -"))[1:]
    assert entries
    for entry in entries:
        assert re.search(r"\s{2,}\S.*[.\]…)]|\n\s+\S", entry), entry


@pytest.mark.parametrize("command", WRITES)
def test_what_writes_has_a_dry_run(dsreg: Dsreg, command: str) -> None:
    assert "--dry-run" in dsreg(*command.split(), "--help").out


@pytest.mark.parametrize("command", INFORMS)
def test_what_informs_has_json(dsreg: Dsreg, command: str) -> None:
    assert "--json" in dsreg(*command.split(), "--help").out


def test_no_arguments_is_help(dsreg: Dsreg) -> None:
    assert dsreg().out.startswith("Usage: dsreg")
    assert dsreg("formats").out.startswith("Usage: dsreg formats")


def test_the_help_loads_nothing_heavy() -> None:
    code = """
import sys
from dsreg.cli.app import main
main(["--help"])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {"pyarrow", "jinja2", "pydantic", "huggingface_hub", "orjson", "numpy", "tomlkit", "zstandard", "rich"}
    assert "typer" in loaded and not loaded & heavy
    code = "import sys, dsreg.cli.app; print(*(name for name in sys.modules if name.startswith('dsreg.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("dsreg.cli")} <= {"dsreg.errors"}
