"""One table of codes: no code twice, every code that the source uses, and a page that is current."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from dsreg.check import codes
from dsreg.formats import templates_dir
from tests.check.conftest import run

ROOT = Path(__file__).parent.parent.parent


def test_no_code_stands_for_two_rules() -> None:
    assert [code for code, count in Counter(code.code for code in codes._codes()).items() if count > 1] == []


def test_every_code_of_the_source_is_in_the_table() -> None:
    files = [*(ROOT / "dsreg").rglob("*.py"), *(templates_dir() / "formats").rglob("*.py")]
    used = {code for path in files for code in re.findall(r'"(DS\d{3})"', path.read_text("utf-8"))}
    assert used - codes.all_codes().keys() == set()


def test_every_code_of_the_table_is_used() -> None:
    files = [*(ROOT / "dsreg").rglob("*.py"), *(templates_dir() / "formats").rglob("*.py")]
    used = Counter(
        code
        for path in files
        if path.name != "codes.py"
        for code in re.findall(r'"(DS\d{3})"', path.read_text("utf-8"))
    )
    assert [code for code in codes.all_codes() if not used[code]] == []


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "codes.md").read_text("utf-8")
    assert page.strip() == codes.page().strip(), "dsreg check --explain all > docs/codes.md"


@pytest.mark.parametrize("code", ["DS202", "ds230", "DS180", "DS401"])
def test_explain(code: str) -> None:
    done = run("check", "--explain", code)
    assert done.code == 0
    assert done.out.startswith(code.upper())
    assert "What comes of it:" in done.out


def test_explain_something_else() -> None:
    done = run("check", "--explain", "DS999")
    assert done.code == 2
    assert "there is no code DS999" in done.err
