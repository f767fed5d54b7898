"""JSON for eyes: on one line what fits there, spread out what does not."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from dsreg.cli.output import cut

WIDTH = 100
DEPTH = 50
"""How deep a value is spread out or shown; rows may be twenty times as deep."""


def json_lines(value: Any, indent: int = 0, before: str = "", after: str = "") -> list[str]:
    """A JSON value as lines of at most about `WIDTH` characters, each indented."""
    try:
        short = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        short = "…"
    pad = " " * indent
    spread = isinstance(value, dict | list) and value and indent <= 2 * DEPTH
    if not spread or len(pad + before + short + after) <= WIDTH:
        return [f"{pad}{before}{short}{after}"]
    if isinstance(value, dict):
        items = [(f"{json.dumps(key, ensure_ascii=False)}: ", item) for key, item in value.items()]
    else:
        items = [("", item) for item in value]
    lines = [f"{pad}{before}{'{' if isinstance(value, dict) else '['}"]
    for number, (key, item) in enumerate(items, 1):
        lines += json_lines(item, indent + 2, key, "," if number < len(items) else "")
    return [*lines, f"{pad}{'}' if isinstance(value, dict) else ']'}{after}"]


def shortened(value: Any, length: int = 300, items: int = 50, depth: int = DEPTH) -> Any:
    """A row with long texts, long lists and long objects cut, and what is nested deeply left out."""
    if not depth:
        return "…"
    if isinstance(value, str):
        return cut(value, length)
    if isinstance(value, dict):
        first = islice(value.items(), items)
        shown = {cut(key, length): shortened(item, length, items, depth - 1) for key, item in first}
        return shown | ({"…": f"{len(value) - items:,} more"} if len(value) > items else {})
    if isinstance(value, list):
        more = [f"… {len(value) - items:,} more"] if len(value) > items else []
        return [shortened(item, length, items, depth - 1) for item in value[:items]] + more
    return value
