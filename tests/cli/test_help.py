"""Every command and option says what it does; and the help is quick."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dsreg.export import SMALL
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


HEAVY = set(
    "pyarrow numpy jinja2 msgspec huggingface_hub tomlkit tomli_w zstandard filelock rich multiprocessing".split()
)
FEW = "convert few.jsonl --format alpaca --target nova-sft -o out.jsonl"
MANY = "convert many.jsonl --format alpaca --target nova-sft -o out.jsonl"


def loaded_by(folder: Path, command: str) -> set[str]:
    """What a command imports: the packages of others, and dsreg's own parts with a dot before them."""
    code = f"""
import sys
from dsreg.cli.app import main
assert main({command.split()!r}) == 0
parts = [name.split(".") for name in sys.modules]
print("loaded", *{{f".{{part[1]}}" if part[0] == "dsreg" and part[1:] else part[0] for part in parts}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("command", "spared"),
    [
        ("--help", HEAVY | {"pydantic", "orjson", ".formats", ".project", ".rows"}),
        ("convert --help", HEAVY | {"orjson", ".formats", ".project", ".rows"}),
        ("list", HEAVY | {".check", ".llamafactory", ".detection", ".sync", ".codegen"}),
        ("sync --check", HEAVY | {".check", ".llamafactory", ".detection", ".fast"}),
        (FEW, HEAVY | {".registry", ".sync", ".check", ".llamafactory", ".codegen", ".fast"}),
        (MANY, {"pyarrow", "numpy", "tomlkit", "rich", ".sync", ".check", ".llamafactory"}),
    ],
)
def test_a_command_loads_no_more_than_it_needs(tmp_path: Path, command: str, spared: set[str]) -> None:
    row = '{"instruction": "q", "output": "a"}\n'
    (tmp_path / "few.jsonl").write_text(row)
    (tmp_path / "many.jsonl").write_text(row * (SMALL // len(row) + 1))
    if command in ("list", "sync --check"):
        (tmp_path / "registry").mkdir()
        (tmp_path / "data").mkdir()
        (tmp_path / "registry" / "x.toml").write_text('format = "alpaca"\nhf_hub_url = "org/x"\n')
        loaded_by(tmp_path, "sync")
    loaded = loaded_by(tmp_path, command)
    assert "typer" in loaded and not loaded & spared
    assert (".fast" in loaded) is (command == MANY)


def test_only_what_is_said_on_the_command_line_is_imported() -> None:
    code = "import sys, dsreg.cli.app; print(*(name for name in sys.modules if name.startswith('dsreg.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {
        "dsreg.cli",
        "dsreg.cli.app",
        "dsreg.cli.here",
        "dsreg.cli.output",
        "dsreg.errors",
    }
