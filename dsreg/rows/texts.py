"""Texts as they stand in JSON: in quotes, and escaped."""

from __future__ import annotations

import orjson

_HEAD = 12
_QUOTE = 34


def is_text(value: bytes) -> bool:
    """Whether a JSON value is a text that is not empty."""
    text = bytes(value)
    return text[:1] == b'"' and text != b'""'


def same_text(one: bytes, other: bytes) -> bool:
    """Whether two JSON texts say the same; no for what is no text. Most differ in their first bytes."""
    a, b = one[:_HEAD], other[:_HEAD]
    if a[0] != _QUOTE or b[0] != _QUOTE or (a != b and b"\\" not in a and b"\\" not in b):
        return False
    same: bool = orjson.loads(one) == orjson.loads(other)
    return same
