"""JSON files as `datasets` 4.0 reads them (packaged_modules/json): Arrow in blocks of 10 MiB, else pandas at once."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as paj

from .arrayfile import table_of_array
from .arrowcast import cast_array
from .frames import MOST_CELLS, refuse_many_keys, table_of
from .opened import open_bytes, open_text

CHUNK = 10 << 20  # what the builder reads at a time: the first chunk sets the types
BLOCK = CHUNK // 32
LARGE = 4 << 20  # arrays beyond this are not decoded all at once

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*)(?=[}])|(?<![\d.eE+-])(-?)0+(?=\d)', re.DOTALL)
_AT_QUOTE, _LAST = methodcaller("rpartition", b'"'), itemgetter(2)
_SPACED = re.compile(rb'"[ \t]+:')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_tables(path: Path, prove: Callable[[Path, int, bytearray], Any] | None = None) -> Iterator[Any]:
    """The Arrow tables that the builder makes of one JSON or JSON Lines file, one per 10 MiB.

    What `prove` gives for a chunk, from its place in the file and its bytes, stands for its table unless it is None.
    Raises ValueError (also as UnicodeDecodeError and pyarrow.ArrowInvalid), TypeError, OverflowError, OSError.
    """
    block, offset = BLOCK, 0
    with open_bytes(path) as file:
        prove = prove if isinstance(file, io.BufferedReader) else None
        for held in _chunks(file):
            proven = prove(path, offset, held) if prove else None
            offset += len(held)
            if proven is not None:
                yield proven
                continue
            chunk = bytes(held)
            refuse_many_keys(chunk.count(b"\n") + 1, _keys(chunk, chunk.count(b"\n") + 1))
            try:
                table, block = _read_lines(chunk, block)
            except pa.ArrowInvalid as err:
                yield _read_whole(path, err)
                return
            yield table


def _chunks(file: Any) -> Iterator[bytearray]:
    """What the builder reads at a time, to the end of a line: in one buffer, which takes the next one as well."""
    buffer = bytearray(CHUNK)
    while True:
        with memoryview(buffer)[:CHUNK] as room:
            size = file.readinto(room)
        del buffer[size:]
        if not buffer:
            return
        buffer += file.readline()
        yield buffer


def _keys(chunk: bytes, rows: int) -> int:
    """How many different keys objects have, at any depth; stops counting where they are too many for these rows.

    What stands before a quote and a colon is a key; in texts, such quotes are escaped.
    """
    if b" :" in chunk or b"\t:" in chunk:
        chunk = _SPACED.sub(b'":', chunk)
    found: set[bytes] = set()
    for start in range(0, len(chunk), 1 << 20):
        pieces = chunk[start : start + (1 << 20)].split(b'":')
        pieces.pop()
        new = set(map(_LAST, map(_AT_QUOTE, pieces)))
        found.update(key for key in new if not key.endswith(b"\\"))
        if len(found) * rows > MOST_CELLS:
            break
    return len(found)


def table_of_lines(chunk: bytes) -> Any:
    """The Arrow table of some lines; raises pyarrow.ArrowInvalid or ArrowNotImplementedError."""
    return _read_lines(chunk, BLOCK)[0]


def _read_lines(chunk: bytes, block: int) -> tuple[Any, int]:
    """One chunk by Arrow's reader, with larger blocks where an object does not fit one."""
    while True:
        try:
            table = paj.read_json(io.BytesIO(chunk), read_options=paj.ReadOptions(use_threads=False, block_size=block))
            return _sound(table, chunk), block
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as err:
            if (isinstance(err, pa.ArrowInvalid) and "straddling" not in str(err)) or block > len(chunk):
                raise
            block *= 2


def _sound(table: Any, chunk: bytes) -> Any:
    """The table with columns that Arrow got wrong built anew: it miscounts lists of text that start with a null.

    What LlamaFactory reads there is chance, up to a crash; here the values are those of the file.
    """
    for at, field in enumerate(table.schema):
        try:
            table.column(at).validate()
        except pa.ArrowInvalid:
            values = [json.loads(line).get(field.name) for line in chunk.splitlines() if line.strip()]
            table = table.set_column(at, field, cast_array(pa.array(values), field.type))
    return table


def _read_whole(path: Path, first: Exception) -> Any:
    """The whole file as one JSON document; `first` is Arrow's complaint, told when this fails too."""
    if path.stat().st_size > LARGE and (table := table_of_array(path, _integer)) is not None:
        return table
    try:
        with open_text(path) as file:
            document = parse(file.read())
    except UnicodeDecodeError:
        raise
    except ValueError as err:
        raise ValueError(f"{first} ({err})") from err
    return table_of(document)


def parse(text: str) -> Any:
    """A JSON document with the leniency of pandas' parser.

    Control characters in text, a comma before `}`, leading zeros, NaN and Infinity pass; integers beyond 64 bits do
    not; of equal keys the last wins; lone surrogates vanish.
    """
    value = _loads(text)
    return _without_surrogates(value) if _SURROGATE.search(text) else value


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_int=_integer)
    except RecursionError:
        raise ValueError("Reached object decoding depth limit") from None
    except ValueError:
        repaired = _TOKEN.sub(lambda found: found.group(1) or (found.group(2) or "") + (found.group(3) or ""), text)
        if repaired == text:
            raise
        return json.loads(repaired, strict=False, parse_int=_integer)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode("utf-8")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= (value := int(digits)) < 2**64:
        raise ValueError("Value is too big!")
    return value
