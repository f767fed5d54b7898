"""Take values out of a row, or say exactly what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

JSON_NAMES = {"str": "text", "bool": "a boolean", "int": "a number", "float": "a number", "list": "a list"}


def json_name(value: Any) -> str:
    """Name the JSON type of a value in a sentence: "text", "a number", "null", …"""
    if value is None:
        return "null"
    return JSON_NAMES.get(type(value).__name__, "an object")


def as_object(value: Any, path: str) -> dict[str, Any]:
    """Return the value if it is a JSON object; raises RowError DS207 otherwise."""
    if not isinstance(value, dict):
        raise RowError("DS207", path, f"expected an object, found {json_name(value)}")
    return value


def as_text(value: Any, path: str) -> str:
    """Return the value if it is text; raises RowError DS204 otherwise."""
    if not isinstance(value, str):
        raise RowError("DS204", path, f"expected text, found {json_name(value)}")
    return value


def as_list(value: Any, path: str) -> list[Any]:
    """Return the value if it is a list; raises RowError DS204 otherwise."""
    if not isinstance(value, list):
        raise RowError("DS204", path, f"expected a list, found {json_name(value)}")
    return value


def need(row: dict[str, Any], c: Constants, name: str) -> Any:
    """The value of a column the task cannot do without; raises RowError DS203 when the row lacks it."""
    column = c.columns.get(name)
    if column is None:
        raise RowError("DS203", "", f"no column is mapped to `{name}`")
    if column not in row:
        raise RowError("DS203", column, f"the row has no `{column}`")
    return row[column]


def need_text(row: dict[str, Any], c: Constants, name: str) -> str:
    """The text of a column the task cannot do without; raises RowError DS203 or DS204."""
    value = need(row, c, name)
    return value if isinstance(value, str) else as_text(value, c.columns[name])


def optional_text(row: dict[str, Any], c: Constants, name: str) -> str:
    """The text of a column that may be unmapped, absent, null or empty: those all give ""; raises RowError DS204."""
    column = c.columns.get(name)
    value = row.get(column) if column is not None else None
    if not value and not isinstance(value, (bool, int, float)):
        return ""
    return value if isinstance(value, str) else as_text(value, column or "")


def need_label(row: dict[str, Any], c: Constants, name: str) -> bool:
    """A boolean column; raises RowError DS212 for 0, 1, "true" and the like, which trainers drop or misread."""
    value = need(row, c, name)
    if not isinstance(value, bool):
        raise RowError("DS212", c.columns[name], f"expected true or false, found {json_name(value)}")
    return value


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON although Python's parser takes them."""
    raise ValueError(f"{name} is not JSON")


def decode_json(text: str, path: str, code: str, what: str) -> Any:
    """Decode JSON text that stands inside a row; raises RowError with the given code and the parser's position."""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise RowError(code, path, f"{what} is not JSON: {reason}: {text[:60]!r}") from None


def read_tools(row: dict[str, Any], c: Constants) -> list[Any]:
    """The function definitions of a row: a list or its JSON text; none, blank and "[]" mean no tools.

    A single object counts as a list of one. Raises RowError DS209 for text that is not JSON and for other types.
    """
    column = c.columns.get("tools")
    value = row.get(column) if column is not None else None
    if value is None or column is None:
        return []
    if isinstance(value, str):
        value = decode_json(value, column, "DS209", "the tool description") if value.strip() else []
    if isinstance(value, dict):
        value = [value] if value else []
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise RowError("DS209", column, "tools must be a list of objects, or its JSON text")
    return value


def read_extra(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """All columns that the reader itself does not use, under the names they are carried by."""
    if row.keys() <= c.used:
        return {}
    names = c.extras
    return {names.get(key, key): value for key, value in row.items() if key not in c.used}
