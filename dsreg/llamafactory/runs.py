"""Runs of text-only rows: chunks of JSON Lines that need not be gone through row by row.

A chunk of which every row is plain text is proven so by operations on whole columns of undecoded values. The proof
gives what the way for all rows would find: the Arrow types of the columns, rows that are all used, nothing to note.
Whatever is out of the ordinary makes the whole chunk go the other way, which alone decides and explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pyarrow as pa

from dsreg.rows.lines import check_utf8, cut

from .arrowcast import cast_chunked
from .columns import Kinds, NotPlain, Shape, Texts, read_block, shape_of
from .outcome import RowVerdict
from .resolve import Entry
from .written import BATCH

BLOCK = 1 << 17
"""How many bytes are decoded at a time: what a core's cache holds together with the rows made of it."""
MAX_NAMES = 64
"""Chunks with more columns than that go the other way."""
_ABSENT = msgspec.Raw(b"")

Observe = Callable[[Texts, int, Any], Any]
"""Given the texts of one block, the number of its first row, and what it returned for the blocks of the run before."""


@dataclass
class Run:
    """Rows that are all used: where they stand, the types of their columns, and what was observed of them.

    `types` are those of all columns, `others` the columns that are more than text, until the run is known to fit.
    `samples` are aligned rows, without a system prompt and with one: all rows have the types of one of the two.
    `systems` has the number of rows of each stretch that is written at once, and whether any has a system prompt.
    """

    path: Path
    offset: int
    size: int
    start: int
    count: int
    types: dict[str, Any]
    others: dict[str, Any]
    mapped: list[str]
    samples: tuple[dict[str, Any], ...] = ()
    systems: list[tuple[int, bool]] = field(default_factory=list)
    seen: Any = None

    def __len__(self) -> int:
        return self.count

    def rows(self, first: int = 0, last: int | None = None) -> Iterator[dict[str, Any]]:
        """The rows as the converter gets them, from the file."""
        return map(self.row, islice(self.read().splitlines(), first, last))

    def row(self, line: bytes) -> dict[str, Any]:
        """A line as the converter gets it."""
        return {**dict.fromkeys([*self.types, *self.mapped]), **orjson.loads(line)}

    def read(self) -> bytes:
        """The bytes of all rows."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.size)

    def fits(self, schema: Any) -> bool:
        """Whether loading under these types changes nothing of what was proven."""
        known = {column.name: column.type for column in schema}
        if not {*self.types, *self.mapped} <= set(known):
            return False
        for name, kind in self.types.items():
            if name not in self.others and not pa.types.is_null(kind) and not _same(kind, known[name]):
                return False
        try:
            for name, column in self.others.items():
                if name in self.mapped and not (_is_empty(column.type) or column.type.equals(known[name])):
                    return False
                cast_chunked(column, known[name])
        except (TypeError, ValueError, pa.ArrowException):
            return False
        return True

    @property
    def schema(self) -> Any:
        """The types of all columns."""
        return pa.schema(list(self.types.items()))


def _is_empty(kind: Any) -> bool:
    """Whether a column of this type has no value: nulls and empty lists."""
    return bool(pa.types.is_null(kind) or (pa.types.is_list(kind) and pa.types.is_null(kind.value_type)))


def _same(kind: Any, target: Any) -> bool:
    """Whether values stay as they are: equal types, and objects that have all keys, in any order."""
    if pa.types.is_list(kind) and pa.types.is_list(target):
        return _same(kind.value_type, target.value_type)
    if pa.types.is_struct(kind) and pa.types.is_struct(target):
        own = {part.name: part.type for part in kind}
        other = {part.name: part.type for part in target}
        return all(name in other and _same(own[name], other[name]) for name in own)
    return bool(kind.equals(target))


class Prover:
    """Proves chunks of JSON Lines; `examine` gives the verdict of one row, `table` the Arrow table of some lines."""

    def __init__(
        self,
        shape: Shape,
        examine: Callable[[dict[str, Any]], RowVerdict],
        table: Callable[[bytes], Any],
        observe: Observe | None,
    ) -> None:
        self.shape = shape
        self._examine, self._table, self._observe = examine, table, observe
        self._extras: list[str] = []
        self._samples: tuple[dict[str, Any], ...] = ()
        self._make()

    def _make(self) -> None:
        """The type of rows with the columns known so far."""
        shape = self.shape
        typed: list[tuple[str, str, Any]] = []
        if shape.turn is not None:
            typed = [("messages", str(shape.messages), list[shape.turn])]  # type: ignore[name-defined]
            typed += [(f"answer{at}", name, shape.turn) for at, name in enumerate(shape.needed)]
        taken = {key for _, key, _ in typed}
        keys = [key for key in dict.fromkeys((*shape.mapped, *self._extras)) if key not in taken]
        raw = [(f"f{at}", key) for at, key in enumerate(keys)]
        self._names = {key: name for name, key in raw}
        row = msgspec.defstruct(
            "Row",
            [*((name, kind) for name, _, kind in typed), *((name, msgspec.Raw, _ABSENT) for name, _ in raw)],
            rename={**{name: key for name, key, _ in typed}, **dict(raw)},
            gc=False,
            forbid_unknown_fields=True,
        )
        self._decode = msgspec.json.Decoder(row).decode_lines

    def prove(self, path: Path, offset: int, chunk: bytearray, start: int) -> Run | None:
        """The run that a chunk of whole lines is, whose first row has the number `start`; None if it is none."""
        if not chunk.startswith(b"{") or b"\r" in chunk:
            return None
        kinds, systems, count = Kinds(), _Systems(start), 0
        seen: Any = None
        try:
            for block in cut(chunk, BLOCK):
                rows = self._rows(block)
                texts = read_block(block, rows, self._names, self.shape, kinds)
                systems.see(texts.system)
                if self._observe is not None:
                    seen = self._observe(texts, start + count, seen)
                count += len(rows)
            others = self._others(kinds)
            types = {**self._types(kinds), **{name: column.type for name, column in others.items()}}
            run = Run(path, offset, len(chunk), start, count, types, others, self.shape.mapped)
        except (NotPlain, ValueError, RecursionError, pa.ArrowException):
            return None
        verdict = self._examine(run.row(bytes(chunk[: chunk.find(b"\n") + 1] or chunk)))
        if verdict.status != "ok" or verdict.notes or verdict.aligned is None:
            return None
        if not self._samples:
            self._samples = ({**verdict.aligned, "_system": None}, {**verdict.aligned, "_system": ""})
        run.samples, run.systems, run.seen = self._samples, systems.ends(), seen
        return run

    def _rows(self, block: bytes) -> list[Any]:
        """The rows of a block, one in each line; raises NotPlain, UnicodeDecodeError or a msgspec error."""
        check_utf8(block)
        try:
            rows = self._decode(block)
        except msgspec.ValidationError:
            self._meet(block)
            rows = self._decode(block)
        return rows

    def _meet(self, block: bytes) -> None:
        """Make room for columns that were not known; raises NotPlain where that is not it."""
        keys = {key for line in block.splitlines() for key in orjson.loads(line)}
        new = sorted(keys - {*self.shape.mapped, *self._extras})
        if not new or len(new) + len(self._extras) > MAX_NAMES:
            raise NotPlain
        self._extras += new
        self._make()

    def _types(self, kinds: Kinds) -> dict[str, Any]:
        """The types of the columns of text, of nulls, and of messages; raises NotPlain for texts that may be dates."""
        if not all(kinds.proven.values()):
            raise NotPlain
        shape = self.shape
        types = {name: pa.string() for name in self._names if name in kinds.proven}
        nulls = kinds.nulls - {*types, *kinds.others}
        types |= {name: pa.null() for name in self._names if name in nulls}
        if shape.turn is not None:
            turn = pa.struct([(shape.role, pa.string()), (shape.content, pa.string())])
            types |= {str(shape.messages): pa.list_(turn), **dict.fromkeys(shape.needed, turn)}
        return types

    def _others(self, kinds: Kinds) -> dict[str, Any]:
        """The columns that are more than text, read by Arrow; it infers the type of each column by itself."""
        tables = [self._table(_lines(name, values)) for name, values in kinds.others.items()]
        return {column.name: table[column.name] for table in tables for column in table.schema}


def _lines(name: str, values: list[bytes]) -> bytes:
    key = orjson.dumps(name)
    return b"".join(b"{%b:%b}\n" % (key, value) for value in values)


class _Systems:
    """Whether there is a system prompt in each stretch of rows that is written at once."""

    def __init__(self, start: int) -> None:
        self._room = BATCH - start % BATCH
        self._found: list[tuple[int, bool]] = []
        self._held, self._any = 0, False

    def see(self, values: list[bytes]) -> None:
        """Take in the system prompts of further rows."""
        at = 0
        while at < len(values):
            part = values[at : at + self._room - self._held]
            self._any = self._any or part.count(b"null") < len(part)
            self._held += len(part)
            at += len(part)
            if self._held == self._room:
                self._end()

    def _end(self) -> None:
        self._found.append((self._held, self._any))
        self._room, self._held, self._any = BATCH, 0, False

    def ends(self) -> list[tuple[int, bool]]:
        """The stretches."""
        if self._held:
            self._end()
        return self._found


def prover_of(
    entry: Entry,
    examine: Callable[[dict[str, Any]], RowVerdict],
    table: Callable[[bytes], Any],
    observe: Observe | None,
) -> Callable[[Path, int, bytearray, int], Run | None] | None:
    """What proves chunks of an entry's files; None where the entry has no rows of plain text, or not all rows."""
    if entry.load_from != "file" or entry.split != "train" or entry.num_samples is not None:
        return None
    shape = shape_of(entry)
    return None if shape is None else partial(Prover.prove, Prover(shape, examine, table, observe))
