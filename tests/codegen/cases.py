"""What the tests of generated code share: conversions of the cookbook, and running a script on its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from dsreg.codegen.converter import render_converter
from dsreg.errors import DataFileError, OutputError
from dsreg.formats import find_format
from dsreg.rowcode.errors import RowError
from dsreg.runner import Choices, Conversion, Reject, make_conversion, run
from dsreg.source import Source, make_source

ROOT = Path(__file__).parents[2]


def cookbook_source(name: str, file: Path | None = None) -> Source:
    """A dataset of the cookbook, or another file with its columns and tags."""
    entry = tomllib.loads((ROOT / "registry" / f"{name}.toml").read_text("utf-8"))
    format = find_format(entry["format"])
    columns = entry.get("columns") or format.manifest.columns
    files = [file or ROOT / "data" / entry["file_name"]]
    return make_source(name, format, files, columns, tags=entry.get("tags"), ranking=entry.get("ranking"))


def conversion(name: str, target: str, file: Path | None = None, **choices: Any) -> Conversion:
    """How a dataset of the cookbook becomes a target."""
    return make_conversion(cookbook_source(name, file), find_format(target), Choices(**choices))


class Outcome(NamedTuple):
    """What became of a file: rows and rejects, or that the file as a whole could not be used."""

    rows: list[Any] | None
    rejects: list[Any]


def run_here(conversion: Conversion) -> Outcome:
    """Convert as `export` does."""
    rows: list[Any] = []
    rejects: list[Reject] = []
    try:
        run(conversion, rows.append, rejects.append)
    except (DataFileError, OutputError, RowError):
        return Outcome(None, [])
    return Outcome(rows, [json.loads(json.dumps(reject.as_json(), default=str)) for reject in rejects])


def run_script(script: str, file: Path, folder: Path, *flags: str) -> tuple[int, str]:
    """Run a script in Python's isolated mode; its exit code and what it says."""
    path = folder / "converter.py"
    path.write_text(script, "utf-8")
    command = [sys.executable, "-I", "-W", "error", str(path), str(file), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    assert "ignored" not in done.stderr, done.stderr
    return done.returncode, done.stderr


def run_apart(conversion: Conversion, folder: Path) -> Outcome:
    """Convert with the script that is rendered for a conversion."""
    output, rejects = folder / "output", folder / "rejects"
    for old in (output, rejects):
        old.unlink(missing_ok=True)
    flags = ["-o", str(output), "--rejects", str(rejects), "--skip-invalid", "--container", "jsonl"]
    code, said = run_script(render_converter(conversion), conversion.source.files[0], folder, *flags)
    if code:
        assert not output.exists()
        return Outcome(None, [])
    assert said.rstrip().split("\n")[-1].endswith("written")
    return Outcome(read_lines(output), read_lines(rejects) if rejects.exists() else [])


def read_lines(path: Path) -> list[Any]:
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
