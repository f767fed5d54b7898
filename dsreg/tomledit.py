"""Change a TOML file that a person may have edited: comments, order and layout stay."""

from __future__ import annotations

import tomllib
from collections.abc import MutableMapping
from typing import Any

from dsreg.errors import RegistryError
from dsreg.project import decode_toml

_BOM = b"\xef\xbb\xbf"


def edited(data: bytes, values: dict[str, Any], where: str) -> bytes:
    """The file's bytes changed to say exactly `values`, touching only the keys that differ.

    Raises RegistryError when the file is broken or laid out so that the edit would not come out as meant.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text = decode_toml(data, where)
    if _same(tomllib.loads(text), values):
        return data
    windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    try:
        document = tomlkit.parse(text.replace("\r\n", "\n") if windows else text)
        _update(document, values)
        result = tomlkit.dumps(document)
        right = _same(tomllib.loads(result), values)
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, TypeError, KeyError):
        right = False
    if not right:
        raise RegistryError(
            "this file is laid out so that it cannot be changed without losing something",
            where=where,
            hint="change it in an editor, then run `dsreg sync`",
        )
    if windows:
        result = result.replace("\n", "\r\n")
    return (_BOM if data.startswith(_BOM) else b"") + result.encode("utf-8")


def _update(table: MutableMapping[str, Any], values: dict[str, Any]) -> None:
    """Make a table of the document equal to `values`, key by key."""
    for key in [key for key in table if key not in values]:
        del table[key]
    for key, value in values.items():
        if key not in table:
            table[key] = value
            continue
        current = table[key]
        if isinstance(value, dict) and isinstance(current, MutableMapping):
            _update(current, value)
        elif not _same(_plain(current), value):
            table[key] = value


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _same(left: Any, right: Any) -> bool:
    """Equality that tells true from 1 and 1 from 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
