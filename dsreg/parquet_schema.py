"""The Arrow schema of a Parquet output: what the manifest declares, for what the rows really have.

The notation of a manifest is small: `list<struct<role: string, content: string>>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dsreg.errors import OutputError, RegistryError
from dsreg.rows.parquet import MISFIT, first_misfit

SCALARS = {"string": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
BATCH = 5000
"""How many rows are held to infer types from, where none are declared."""


class SchemaSurvey:
    """Sees all rows of an output and gives the schema that holds each of them.

    With declared columns: those that occur, and any further column or struct member as text. Without: what Arrow makes
    of the rows, batch by batch, which must agree.
    """

    def __init__(self, declared: Mapping[str, str]) -> None:
        self.declared = {name: type_of(text) for name, text in declared.items()}
        self.keys: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.inferred: dict[str, Any] = {}
        self.seen = 0

    def see(self, row: dict[str, Any]) -> None:
        """Take one row into account."""
        if self.declared:
            note_keys(row, self.keys)
            return
        self.rows.append(row)
        if len(self.rows) >= BATCH:
            self.infer()

    def infer(self) -> None:
        """Merge the types of the rows at hand into those of the rows before; raises OutputError where they differ."""
        for name in dict.fromkeys(key for row in self.rows for key in row):
            values = [row.get(name) for row in self.rows]
            try:
                field = pa.schema([pa.field(name, pa.array(values).type)])
                known = self.inferred.get(name)
                merged = field if known is None else pa.unify_schemas([pa.schema([known]), field])
            except MISFIT as error:
                raise self._refusal(name, values, str(error).splitlines()[0]) from None
            self.inferred[name] = merged.field(name)
        self.seen += len(self.rows)
        self.rows = []

    def _refusal(self, name: str, values: list[Any], reason: str) -> OutputError:
        """The error of a column whose values have no type in common, with the first row that does not fit."""
        at = first_misfit(values)
        if at is None:  # each batch of rows agrees, but not with those before
            at = next((at for at, value in enumerate(values) if value is not None), 0)
        hint = "all values of a column must be of one type; --option container=jsonl holds any"
        place = f"column `{name}` of row {self.seen + at + 1:,}"
        return OutputError(f"these rows cannot be Parquet: {place}: {reason}", hint=hint)

    def schema(self) -> Any:
        """The schema of all rows seen."""
        if self.declared:
            further = (name for name in self.keys if name not in self.declared)
            order = [*(name for name in self.declared if name in self.keys), *further]
            fields = [(name, with_text(self.declared.get(name, pa.string()), self.keys[name])) for name in order]
            return pa.schema([pa.field(name, kind) for name, kind in fields])
        self.infer()
        return pa.schema(list(self.inferred.values()))


def note_keys(row: dict[str, Any], keys: dict[str, Any]) -> None:
    """Note the members of a row and of the objects in it."""
    for key, value in row.items():
        inner = keys.setdefault(key, {})
        if isinstance(value, dict):
            note_keys(value, inner)


def with_text(kind: Any, keys: dict[str, Any]) -> Any:
    """A struct with a text member for each key it does not declare; other types as they are."""
    if not pa.types.is_struct(kind):
        return kind
    known = {field.name: with_text(field.type, keys.get(field.name, {})) for field in kind}
    further = {key: pa.string() for key in keys if key not in known}
    return pa.struct([pa.field(name, inner) for name, inner in {**known, **further}.items()])


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
