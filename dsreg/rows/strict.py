"""Decode one row exactly: the slow parser for whatever the fast one would change or let pass."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import NOT_JSON, REPEATED_KEY

TOO_DEEP = "the value is nested too deeply"


class _Repeated:
    """Stands where an object with a repeated key was, until its path is known."""

    def __init__(self, key: str, first: Any, second: Any) -> None:
        self.key, self.first, self.second = key, first, second


def strict(raw: bytes) -> Any:
    """Decode the bytes of one row.

    Integers are exact at any size. Raises json.JSONDecodeError for wrong syntax, UnicodeDecodeError for bytes that are
    not UTF-8, and RowError for NaN, Infinity, numbers beyond a double, lone surrogates, repeated keys, deep nesting.
    """
    text = raw.decode()
    try:
        value = _DECODER.decode(text)
        _walk(value)
    except RecursionError:
        raise RowError(NOT_JSON, "", TOO_DEEP) from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            return _Repeated(key, seen[key], value)
        seen[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise RowError(NOT_JSON, "", f"{name} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise RowError(NOT_JSON, "", f"the number {_shorten(digits)} is too large")
    return value


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python refuses more than 4,300 digits, to stay fast
        raise RowError(NOT_JSON, "", f"an integer of {len(digits.lstrip('-')):,} digits is too long") from None


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)


def _walk(value: Any) -> None:
    """Find repeated keys and lone surrogates, and name the path to the first."""
    todo: list[tuple[str, Any]] = [("", value)]
    while todo:
        path, item = todo.pop()
        if isinstance(item, str):
            _refuse_surrogate(path, item)
        elif isinstance(item, _Repeated):
            message = f"the key `{item.key}` stands twice, with {_show(item.first)} and {_show(item.second)}"
            raise RowError(REPEATED_KEY, _join(path, item.key), message)
        elif isinstance(item, dict):
            for key in item:
                _refuse_surrogate(path, key)
            todo.extend((_join(path, key), item[key]) for key in reversed(item))
        elif isinstance(item, list):
            todo.extend((f"{path}[{i}]", item[i]) for i in range(len(item) - 1, -1, -1))


def _refuse_surrogate(path: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise RowError(NOT_JSON, path, f"the escape \\u{ord(text[e.start]):04x} is half a character") from None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _show(value: Any) -> str:
    return _shorten(json.dumps(value, ensure_ascii=False, default=lambda v: "…"))


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
