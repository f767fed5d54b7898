"""Take values out of a row, or say exactly what is wrong with them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

# Where null is a value in JSON Schema; elsewhere it only fills a struct.
NULL_KEYS = frozenset(["default", "const", "enum", "examples"])
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


def optional(row: dict[str, Any], c: Constants, name: str) -> Any:
    """The value of a column that may be unmapped or absent: those give None."""
    column = c.columns.get(name)
    return row.get(column) if column is not None else None


def optional_text(row: dict[str, Any], c: Constants, name: str) -> str:
    """The text of a column that may be unmapped, absent, null or empty: those all give ""; raises RowError DS204."""
    column = c.columns.get(name)
    value = row.get(column) if column is not None else None
    if type(value) is str:
        return value
    if not value and not isinstance(value, (bool, int, float)):
        return ""
    return as_text(value, column or "")


def need_label(row: dict[str, Any], c: Constants, name: str) -> bool:
    """A boolean column; raises RowError DS212 for 0, 1, "true" and the like, which trainers drop or misread."""
    value = need(row, c, name)
    if not isinstance(value, bool):
        raise RowError("DS212", c.columns[name], f"expected true or false, found {json_name(value)}")
    return value


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON although Python's parser takes them."""
    raise ValueError(f"{name} is not JSON")


def finite_number(digits: str) -> float:
    """The number of these digits; raises ValueError where a double cannot hold it and would be infinite."""
    value = float(digits)
    if value - value != 0:
        raise ValueError(f"the number {digits:.40} is too large")
    return value


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members; raises ValueError for a key that occurs twice, of which one would be lost."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return found


# Made once: `json.loads` with these makes a decoder a call.
STRICT_JSON = json.JSONDecoder(
    parse_constant=refuse_constant, parse_float=finite_number, object_pairs_hook=unique_object
)
# dsreg puts a faster function of the same results in its place.
parse_json: Callable[[str], Any] = STRICT_JSON.decode


def load_json(text: str) -> Any:
    """Decode JSON text that stands inside a row; raises ValueError for what could not be written back as it was."""
    try:
        value = parse_json(text)
        if "\\ud" in text or "\\uD" in text:  # a lone surrogate can only come from an escape
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def decode_json(text: str, path: str, code: str, what: str) -> Any:
    """Decode JSON text that stands inside a row; raises RowError with the given code and the parser's position."""
    try:
        return load_json(text)
    except ValueError as error:
        raise RowError(code, path, f"{what} is not JSON: {error}: {text[:60]!r}") from None


def read_tools(row: dict[str, Any], c: Constants) -> list[Any]:
    """The function definitions of a row: a list or its JSON text; none, blank and "[]" mean no tools.

    A single object counts as a list of one. Keys that are null only because Arrow gives every struct the same keys are
    left out. Raises RowError DS209 for text that is not JSON and for other types.
    """
    column = c.columns.get("tools")
    value = row.get(column) if column is not None else None
    return list_tools(value, column) if column is not None and value is not None else []


def list_tools(value: Any, path: str) -> list[Any]:
    """Function definitions as a list of objects, from a list, an object, or the JSON text of either."""
    if isinstance(value, str):
        return tools_of_text(value, path)
    try:
        value = drop_nulls(value)
    except RecursionError:
        raise RowError("DS209", path, "the tool description is nested too deeply") from None
    return checked_tools(value, path)


@functools.lru_cache(maxsize=512)
def tools_of_text(text: str, path: str) -> list[Any]:
    """Function definitions from their JSON text; many rows have the same, and nothing changes what they share."""
    return checked_tools(decode_json(text, path, "DS209", "the tool description") if text.strip() else [], path)


def checked_tools(value: Any, path: str) -> list[Any]:
    """The value as a list of function definitions: none for null and {}, one for an object."""
    if isinstance(value, dict):
        value = [value] if value else []
    if value is None:
        value = []
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise RowError("DS209", path, "tools must be a list of objects, or its JSON text")
    return value


def drop_nulls(value: Any, names: bool = False) -> Any:
    """A tool description without the keys that are null, save those of JSON Schema where null is a value.

    The keys of `properties` are `names` of parameters: a null there is never a value.
    """
    if isinstance(value, list):
        return [item if type(item) is str else drop_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if type(item) is str or (not names and (key in NULL_KEYS or key.startswith("x-"))):
            kept[key] = item
        elif item is not None:
            kept[key] = drop_nulls(item, names=key == "properties" and not names)
    return kept


def read_extra(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """All columns that the reader itself does not use, under the names they are carried by.

    Raises RowError DS310 where two columns would be carried under one name.
    """
    if row.keys() <= c.used:
        return {}
    names = c.extras
    for column, name in names.items():
        if name in row and column in row and name != column and name not in names and name not in c.used:
            raise RowError(
                "DS310", name, f"`{column}` is carried as `{name}`, and the data has a column of that name too"
            )
    return {names.get(key, key): value for key, value in row.items() if key not in c.used}


def add_extra(sample: dict[str, Any], row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample, with the further columns of its row where it has any; raises RowError DS310."""
    extra = read_extra(row, c)
    if extra:
        sample["extra"] = extra
    return sample


def add_tools_and_extra(sample: dict[str, Any], row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample, with the tools and the further columns of its row where it has any; raises RowError."""
    tools = read_tools(row, c)
    if tools:
        sample["tools"] = tools
    return add_extra(sample, row, c)


def carry_extra(sample: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The row with the sample's further columns before its own; raises RowError DS310 where one would be lost.

    A further column without a value gives way to the format's own of that name.
    """
    extra = sample.get("extra")
    if not extra:
        return row
    for key in extra.keys() & row.keys():
        if extra[key] not in (None, "", []) and extra[key] != row[key]:
            hint = f"map it, or carry it under another name: --column attributes={key}"
            raise RowError(
                "DS310", key, f"the data has a column `{key}` of its own, which the target writes too; {hint}"
            )
    return {**extra, **row}


def refuse_extra(extra: dict[str, Any], own: tuple[str, ...], whose: str) -> None:
    """Raise RowError DS310 for a further column that is called like one of a target's own."""
    for key in own:
        if key in extra:
            hint = f"carry it under another name: --column attributes={key}"
            raise RowError("DS310", key, f"a further column is called `{key}`, which is {whose}'s own; {hint}")
