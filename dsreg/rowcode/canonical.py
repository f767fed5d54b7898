"""benchmax's identity of an example: a hash of its JSON content.

benchmax 0.2.0 to 0.2.5, `canonical_example_id`; older releases hashed differently.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from dsreg.rowcode.errors import RowError

CANONICAL_INTEGERS = 2**53 - 1


def canonical_example_id(value: Any) -> str:
    """The id of a JSON value, 64 hexadecimal digits; raises RowError DS310 for what benchmax refuses to hash."""
    try:
        wrapped = {"v": 1, "value": canonical_value(value, "")}
        text = json.dumps(wrapped, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
    except RecursionError:
        raise RowError("DS310", "", "nested too deeply") from None


def canonical_value(value: Any, path: str) -> Any:
    """The value with whole numbers as integers; raises RowError DS310 for numbers, keys and text that have no id."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RowError("DS310", path, f"{value} is no JSON number")
        if not value.is_integer():
            return value
        value = int(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > CANONICAL_INTEGERS:
            reason = "the number is beyond 2^53 - 1, which benchmax cannot hash: write it as text"
            raise RowError("DS310", path, reason)
        return value
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RowError("DS310", path, "the text holds half a surrogate pair") from None
        return value
    if isinstance(value, dict):
        return {
            canonical_key(key, path): canonical_value(inner, f"{path}.{key}" if path else key)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [canonical_value(inner, f"{path}[{i}]") for i, inner in enumerate(value)]
    raise RowError("DS310", path, f"{type(value).__name__} is no JSON value")


def canonical_key(key: Any, path: str) -> str:
    """The key if it is text that can be encoded; raises RowError DS310."""
    if not isinstance(key, str):
        raise RowError("DS310", path, f"the key {key!r:.40} is no text")
    canonical_value(key, path)
    return key
