"""JSON for eyes: on one line what fits there, spread out what does not."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from dsreg.cli.output import cut

WIDTH = 100


def json_lines(value: Any, indent: int = 0, before: str = "", after: str = "") -> list[str]:
    """A JSON value as lines of at most about `WIDTH` characters, each indented."""
    short = json.dumps(value, ensure_ascii=False)
    pad = " " * indent
    if not isinstance(value, dict | list) or not value or len(pad + before + short + after) <= WIDTH:
        return [f"{pad}{before}{short}{after}"]
    if isinstance(value, dict):
        items = [(f"{json.dumps(key, ensure_ascii=False)}: ", item) for key, item in value.items()]
    else:
        items = [("", item) for item in value]
    lines = [f"{pad}{before}{'{' if isinstance(value, dict) else '['}"]
    for number, (key, item) in enumerate(items, 1):
        lines += json_lines(item, indent + 2, key, "," if number < len(items) else "")
    return [*lines, f"{pad}{'}' if isinstance(value, dict) else ']'}{after}"]


def shortened(value: Any, length: int = 300, items: int = 50) -> Any:
    """A row with long texts, long lists and long objects cut."""
    if isinstance(value, str):
        return cut(value, length)
    if isinstance(value, dict):
        shown = {cut(key, length): shortened(item, length) for key, item in islice(value.items(), items)}
        return shown | ({"…": f"{len(value) - items:,} more"} if len(value) > items else {})
    if isinstance(value, list):
        more = [f"… {len(value) - items:,} more"] if len(value) > items else []
        return [shortened(item, length) for item in value[:items]] + more
    return value
