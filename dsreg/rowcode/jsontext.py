"""Values as JSON text, for places that hold only text."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.errors import RowError

# Made once: `json.dumps` makes an encoder a call.
STRICT_TEXT = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_text(value: Any, path: str) -> str:
    """The value as JSON text; raises RowError DS204 for what is nested too deeply or is no JSON."""
    try:
        return STRICT_TEXT.encode(value)
    except (RecursionError, ValueError, TypeError) as error:
        raise RowError("DS204", path, f"cannot be written as JSON text: {error}") from None


def text_or_json(value: Any, path: str) -> str:
    """Text as it is, anything else as JSON text."""
    return value if isinstance(value, str) else json_text(value, path)


def without_nulls(value: Any, path: str, keep: tuple[str, ...] = ()) -> Any:
    """A copy without the members of objects that are null: Arrow fills them in where other rows have a value.

    `keep` names members whose null says something. Raises RowError DS204 for what is nested too deeply.
    """
    try:
        return strip_nulls(value, keep)
    except RecursionError:
        raise RowError("DS204", path, "nested too deeply") from None


def strip_nulls(value: Any, keep: tuple[str, ...]) -> Any:
    """The work of `without_nulls`."""
    if isinstance(value, dict):
        return {key: strip_nulls(inner, keep) for key, inner in value.items() if inner is not None or key in keep}
    return [strip_nulls(inner, keep) for inner in value] if isinstance(value, list) else value
