"""Arrow schemas from the small notation of a manifest: `list<struct<role: string, content: string>>`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dsreg.errors import RegistryError

SCALARS = {"string": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """The schema of the declared columns, in their order; raises RegistryError for a type that cannot be read."""
    return pa.schema([pa.field(name, type_of(text)) for name, text in columns.items()])


def type_of(text: str) -> Any:
    """The Arrow type of one notation: string, int, float, bool, list<…>, struct<name: …, …>."""
    tokens = re.findall(r"\w+|[<>:,]", text)
    found = read_type(tokens)
    if tokens:
        raise RegistryError(f"cannot read the type {text!r} beyond {''.join(tokens)!r}")
    return found


def read_type(tokens: list[str]) -> Any:
    """Take one type off the front of the tokens."""
    word = tokens.pop(0) if tokens else ""
    if word in SCALARS:
        return SCALARS[word]
    if word not in ("list", "struct") or not tokens or tokens.pop(0) != "<":
        raise RegistryError(f"cannot read the type at {word!r}", hint="string, int, float, bool, list<…>, struct<a: …>")
    if word == "list":
        inner = pa.list_(read_type(tokens))
    else:
        fields = []
        while len(tokens) > 1 and tokens[1] == ":":
            name = tokens.pop(0)
            tokens.pop(0)
            fields.append(pa.field(name, read_type(tokens)))
            if tokens and tokens[0] == ",":
                tokens.pop(0)
        inner = pa.struct(fields)
    if not tokens or tokens.pop(0) != ">":
        raise RegistryError(f"a `{word}<` is not closed")
    return inner
