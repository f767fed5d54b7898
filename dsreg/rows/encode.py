"""Encode one row as compact JSON, or say what in it is no JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from dsreg.errors import OutputError

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def encode(row: Any, name: str, number: int) -> bytes:
    """The bytes of a row, UTF-8, without escapes that need not be.

    Raises OutputError naming the place for NaN, lone surrogates, keys that are no text, and values that are no JSON.
    """
    try:
        data = orjson.dumps(row, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return _encode_slowly(row, name, number)
    if b"null" in data and _may_be_infinite(row):  # orjson writes NaN and Infinity as null
        refuse_unfit(row, name, number)
    return data


def _may_be_infinite(row: Any) -> bool:
    """Whether a row may hold NaN or Infinity: in MessagePack they begin with bytes that no text has in it."""
    import msgspec

    try:
        packed = msgspec.msgpack.encode(row)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return True
    return b"\xcb\x7f" in packed or b"\xcb\xff" in packed


def _encode_slowly(row: Any, name: str, number: int) -> bytes:
    """What orjson refuses and JSON allows: integers beyond 64 bits, deep nesting."""
    refuse_unfit(row, name, number)
    try:
        return json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (RecursionError, ValueError, TypeError) as e:
        reason = "it is nested too deeply" if isinstance(e, RecursionError) else str(e)
        raise OutputError(f"row {number} cannot be written: {reason}", where=name) from None


def refuse_unfit(row: Any, name: str, number: int) -> None:
    """Raise OutputError for the first value in a row that is no JSON value."""
    todo: list[tuple[str, Any]] = [("", row)]
    while todo:
        path, value = todo.pop()
        reason = _unfit(value)
        if reason:
            raise OutputError(f"row {number} cannot be written: {path or 'the row'} {reason}", where=name)
        if isinstance(value, dict):
            todo.extend((f"{path}.{key}" if path else key, inner) for key, inner in value.items())
        elif isinstance(value, list | tuple):
            todo.extend((f"{path}[{i}]", inner) for i, inner in enumerate(value))


def _unfit(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"is {value}, which is not JSON"
    if isinstance(value, str):
        return "" if _is_whole(value) else "holds half a character (a lone surrogate)"
    if isinstance(value, dict):
        return next((f"has a key that is no text: {key!r:.40}" for key in value if not _is_text(key)), "")
    if value is None or isinstance(value, bool | int | list | tuple):
        return ""
    return f"is of type {type(value).__name__}, which is not JSON"


def _is_text(key: Any) -> bool:
    return isinstance(key, str) and _is_whole(key)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
