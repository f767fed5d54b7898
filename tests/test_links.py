"""Relative links in the documents lead to files that are there, and to headings that are in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
DOCUMENTS = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*<?([^\s>]+)", re.MULTILINE)


def prose(text: str) -> str:
    """A document without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL))


def links(text: str) -> list[str]:
    """The relative links of a document."""
    found = [one or other for one, other in LINK.findall(prose(text))]
    return [link for link in found if not re.match(r"[a-z][a-z0-9+.-]*:", link)]


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken(path: Path) -> list[str]:
    """The relative links of a document that lead nowhere."""
    lost = []
    for link in links(path.read_text("utf-8")):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    return lost


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(path: Path) -> None:
    assert not broken(path)


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    good, bad = (
        "[a](#one-thing) [b](b.md#two) <https://a.b> [c](https://c.d/e)",
        "[x](x.md) [y](#y) [z][z]\n\n[z]: z.md",
    )
    (tmp_path / "b.md").write_text("# Two\n")
    (tmp_path / "a.md").write_text(f"# One thing!\n\n{good} {bad}\n\n```\n[not](code.md)\n```\n`[nor](this)`\n")
    assert broken(tmp_path / "a.md") == ["x.md", "#y", "z.md"]
