"""The README: its commands print what it says, its Python runs, its matrix is current.

After a change that is meant to be: DSREG_UPDATE_GOLDEN=1 pytest tests/test_readme.py, and read the diff.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dsreg
from dsreg.formats import Format, built_in, ways
from dsreg.tasks import TASKS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
UPDATE = bool(os.environ.get("DSREG_UPDATE_GOLDEN"))
CONSOLE = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)
MATRIX = re.compile(r"(<!-- matrix: [^\n]*-->\n)(.*?)(<!-- end of matrix -->)", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the tour, with its one data file."""
    shutil.copytree(ROOT / "tests" / "readme", tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(command: str, folder: Path) -> str:
    """What a command prints, both streams."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    environment.pop("DSREG_ROOT", None)
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def test_the_tour_prints_what_it_says(folder: Path) -> None:
    text = README.read_text("utf-8")
    found = text
    for block in CONSOLE.findall(text):
        printed = "\n".join(f"$ {command}\n{run(command, folder)}" for command in commands(block))
        found = found.replace(block, printed, 1)
    if UPDATE:
        README.write_text(found, "utf-8")
    assert found == README.read_text("utf-8")


def test_the_python_runs(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("dsreg init", "dsreg add mydata --format sharegpt --ranking"):
        run(command, folder)
    monkeypatch.chdir(folder)
    code = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)[0]
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == "3 read = 2 used + 0 set aside + 1 rejected; 2 written\n"
    rows = [{"conversations": [{"from": "human", "value": "2+2?"}, {"from": "gpt", "value": "4"}]}]
    assert next(dsreg.convert(rows, "sharegpt", "openai"))["messages"][1] == {"role": "assistant", "content": "4"}
    assert dsreg.detect(rows).format == "sharegpt"


def cell(task: str, target: Format) -> str:
    """How rows of a task become a target, in a word."""
    found = ways(task, target)
    if not found:
        return ""
    takes = dict.fromkeys(step.take for step in found[0].steps if step.take)
    if takes:
        return f"`--take {'`, `'.join(takes)}`"
    return "yes" if found[0].task == task else f"as {found[0].task}"


def matrix() -> str:
    """The table of all targets."""
    formats = built_in().values()
    lines = [f"| target | {' | '.join(f'from {task}' for task in TASKS)} | reads | what it is |"]
    lines.append("|---" * (len(TASKS) + 3) + "|")
    for format in formats:
        cells = [cell(task, format) for task in TASKS]
        reads = ", ".join(format.manifest.needs) if format.reads else ""
        lines.append(f"| `{format.id}` | {' | '.join(cells)} | {reads} | {format.manifest.title} |")
    return "\n" + "\n".join(lines) + "\n\n"


def test_the_matrix_is_current() -> None:
    text = README.read_text("utf-8")
    current = MATRIX.sub(lambda match: match[1] + matrix() + match[3], text)
    if UPDATE:
        README.write_text(current, "utf-8")
    assert current == README.read_text("utf-8")


def test_every_command_of_the_readme_exists() -> None:
    text = README.read_text("utf-8")
    help_text = run("dsreg --help", ROOT)
    for name in set(re.findall(r"`dsreg (\w+)", text)):
        assert re.search(rf"^  {name} ", help_text, re.MULTILINE), name
