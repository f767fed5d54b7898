"""A sample as a conversation on a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

from dsreg.cli import output

_LABEL = 11
_LINES = 8
_TURNS = 50


def chat_lines(sample: dict[str, Any], *, indent: str = "", full: bool = False) -> Iterator[str]:
    """A sample's turns, the speaker beside the text; long texts and long dialogues are cut unless `full`."""
    from dsreg.preview import turns

    for number, (label, text) in enumerate(turns(sample)):
        if number == _TURNS and not full:
            yield f"{indent}…"
            return
        lines = _wrapped(output.plain(text), full=full)
        yield f"{indent}{output.cut(output.line(label), _LABEL - 1):<{_LABEL}}{lines[0]}".rstrip()
        for line in lines[1:]:
            yield f"{indent}{'':<{_LABEL}}{line}".rstrip()


def _wrapped(text: str, *, full: bool) -> list[str]:
    """Text in lines as wide as the terminal, at most some of them."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120) - _LABEL - 2)
    shown = text if full else text[: width * _LINES * 2]
    lines = [
        part
        for line in shown.split("\n")
        for part in (textwrap.wrap(line, width, break_on_hyphens=False, drop_whitespace=False) or [""])
    ]
    if full or (len(lines) <= _LINES and len(shown) == len(text)):
        return lines
    return [*lines[:_LINES], f"… ({len(text):,} characters)"]
