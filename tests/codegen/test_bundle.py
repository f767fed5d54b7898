"""What can stand in one script, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsreg.codegen.bundle import Bundle
from dsreg.errors import UsageError

READER = '''"""Read rows."""

from __future__ import annotations

import json
import re
from typing import Any

from dsreg.rowcode.columns import as_text
from dsreg.rowcode.errors import RowError

# What a row begins with.
DEMO_START = re.compile("a")  # one letter
DEMO_UNUSED = 1
DEMO_LIMIT = 3
"""How many there may be."""


def read_row(row: dict[str, Any]) -> str:
    """A row."""
    # kept
    return demo_text(row) * DEMO_LIMIT


def demo_text(row: dict[str, Any]) -> str:
    if not DEMO_START.match(as_text(row["a"], "a")):
        raise RowError("DS204", "a", "no")
    return str(row["a"])


def demo_unused() -> str:
    return json.dumps(1)
'''


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_what_is_reached_is_taken_as_it_stands(tmp_path: Path) -> None:
    path = write(tmp_path / "reader.py", READER)
    bundle = Bundle()
    bundle.add(path, "read_row")
    sections = bundle.ordered()
    assert [section.key.rpartition("/")[2] for section in sections] == [
        "dsreg.rowcode.errors",
        "dsreg.rowcode.columns",
        "reader.py",
    ]
    source = sections[-1].source()
    assert (
        source
        == READER.partition("RowError\n\n")[2].replace("DEMO_UNUSED = 1\n", "").partition("\n\n\ndef demo_unused")[0]
    )
    assert bundle.import_lines() == ["import re", "from typing import Any"]
    assert "def as_text" in sections[1].source()
    assert "def need(" not in sections[1].source()


READ = "\n\ndef read_row(row):\n    return x\n"
REFUSED = {
    "import requests as x" + READ: "cannot import requests",
    "from numpy import x" + READ: "cannot import numpy",
    "def read_row(row):\n    import numpy\n    return numpy\n": "cannot import numpy",
    "from dsreg.files import x" + READ: "cannot import dsreg.files",
    "from dsreg.rows.strict import x" + READ: "cannot import dsreg.rows.strict",
    "from .writer import x" + READ: "cannot import .writer",
    "from dsreg.rowcode.columns import as_text as x" + READ: "from module import name",
    "from dsreg.rowcode import x" + READ: "cannot import dsreg.rowcode",
    "import dsreg.rowcode.columns as x" + READ: "from module import name",
    "from dsreg.rowcode.columns import x" + READ: "does not define `x`",
    "print('hello')" + READ: "only definitions",
    "def read_row(row):\n    return (\n": "not Python",
    "def write_row(row):\n    return 1\n": "does not define `read_row`",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "reader.py", text)
    with pytest.raises(UsageError) as caught:
        Bundle(("dsreg.rowcode.", "dsreg.rows.")).add(path, "read_row")
    assert REFUSED[text] in f"{caught.value} {caught.value.hint}"
    assert caught.value.where


COLLISIONS = [
    ("def helper():\n    return 1\n", "def helper():\n    return 2\n", False),
    ("def helper():\n    return 1\n", "def helper():\n    return 1\n", True),
    ("from json import loads as helper\n", "from json import loads as helper\n", True),
    ("from json import loads as helper\n", "from ast import literal_eval as helper\n", False),
    ("from json import loads as helper\n", "def helper():\n    return 1\n", False),
    ("import os\nhelper = os.getcwd\n", "import os.path\nhelper = os.getcwd\n", True),
    ("X = 1\n\n\ndef helper():\n    return X\n", "X = 2\n\n\ndef helper():\n    return X\n", False),
]


@pytest.mark.parametrize(("one", "other", "fits"), COLLISIONS)
def test_two_things_of_one_name(one: str, other: str, fits: bool, tmp_path: Path) -> None:
    reader = write(tmp_path / "reader.py", f"{one}\n\ndef read_row(row):\n    return helper()\n")
    writer = write(tmp_path / "writer.py", f"{other}\n\ndef write_row(row):\n    return helper()\n")
    bundle = Bundle()
    bundle.add(reader, "read_row")
    if fits:
        bundle.add(writer, "write_row")
        text = "\n".join([*bundle.import_lines(), *(section.source() for section in bundle.ordered())])
        assert text.count("helper") == 3
    else:
        with pytest.raises(UsageError, match="would stand for two things"):
            bundle.add(writer, "write_row")


def test_names_of_the_template_are_kept(tmp_path: Path) -> None:
    bundle = Bundle()
    bundle.reserve("main")
    path = write(tmp_path / "reader.py", "def main():\n    return 1\n\n\ndef read_row(row):\n    return main()\n")
    with pytest.raises(UsageError, match="`main` would stand for two things"):
        bundle.add(path, "read_row")
