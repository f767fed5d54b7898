"""Rows that are exact copies of others, in eight bytes a row.

Every row gives a number, its hash. Rows whose numbers occur more than once are read again and give another, which is
made of all that they say, so that no two different rows are called copies.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

INDEXED_ROWS = 2_500_000
"""How many rows the search for copies covers, in 8 bytes each; rows with equal ones take 8 more for a while."""
_PART = 120_000
_SLICE = 1 << 16
_SHOWN = 3
_FEW = 1 << 14


class Copies(NamedTuple):
    """How many rows repeat another, and the first of them: (the row it repeats, the row)."""

    total: int
    first: list[tuple[int, int]]


def hash_of(aligned: dict[str, Any]) -> int:
    """A number that is equal for equal aligned rows; `hashes` gives the same for rows of text."""
    texts = [message["content"] for message in (*aligned["_prompt"], *aligned["_response"])]
    if len(aligned["_response"]) == 2 and texts[-2] == "":
        texts[-2:] = [texts[-1], ""]
    return hash((_hashed(aligned["_system"]), *map(_hashed, texts)))


def _hashed(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else _json(value)


def hashes(system: Iterable[Any], contents: Iterable[tuple[Any, ...]], *, pairs: bool, labelled: bool) -> array[int]:
    """The numbers of rows by their system prompts and the texts of their messages."""
    if labelled:
        contents = ((*texts, "") for texts in contents)
    elif pairs:
        contents = ((*t[:-2], t[-1], t[-2]) if t[-2] == "" else t for t in contents)
    return array("q", [hash((prompt, *texts)) for prompt, texts in zip(system, contents, strict=True)])


def _json(value: Any) -> bytes:
    """A value as bytes that are equal for equal values."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=repr)
    except TypeError:  # an integer of more than 64 bits, half a character
        return repr(value).encode("utf-8", "backslashreplace")


def find_copies(numbers: array[int], again: Callable[[Iterable[int]], Iterator[dict[str, Any]]]) -> Copies:
    """The copies among rows with these numbers, in their order; `again` gives aligned rows by their places from 0."""
    if len(numbers) <= _FEW and len(set(numbers)) == len(numbers):  # sooner known than Arrow's functions are there
        return Copies(0, [])
    suspects = _repeats(numbers)
    if not suspects.total:
        return Copies(0, [])
    key = os.urandom(16)
    places = array("L")

    def noted() -> Iterator[int]:
        for place in _places(numbers, suspects.values):
            places.append(place)
            yield place

    exact = array("q")
    for aligned in again(noted()):
        digest = hashlib.blake2b(_json(aligned), digest_size=8, key=key).digest()
        exact.append(int.from_bytes(digest, "little", signed=True))
    repeats = _repeats(exact)
    first = [(places[one] + 1, places[other] + 1) for one, other in repeats.first]
    return Copies(repeats.total, first)


class _Repeats(NamedTuple):
    """How many numbers repeat an earlier one, the places of the first such, and all that are repeated."""

    total: int
    first: list[tuple[int, int]]
    values: Any


def _repeats(numbers: array[int]) -> _Repeats:
    """Sorts the numbers, a part of their range at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    count, found, values = 0, list[int](), [pa.array([], pa.int64())]
    for low, high in _ranges(len(numbers)):
        pieces, places = [], []
        for start, piece in _pieces(numbers):
            inside = pc.and_(pc.greater_equal(piece, low), pc.less_equal(piece, high)) if len(numbers) > _PART else None
            pieces.append(piece if inside is None else piece.filter(inside))
            at = pa.array(range(len(piece))) if inside is None else pc.indices_nonzero(inside).cast(pa.int64())
            places.append(pc.add(at, start))
        part = pa.chunked_array(pieces, pa.int64()).combine_chunks()
        order = pc.sort_indices(part)
        part, place = part.take(order), pa.chunked_array(places, pa.int64()).combine_chunks().take(order)
        again = pc.equal(part[1:], part[:-1])
        repeated = part[1:].filter(again)
        count += len(repeated)
        found += place[1:].filter(again).sort()[:_SHOWN].to_pylist()
        values.append(repeated.unique())
    first = [(numbers.index(numbers[place]), place) for place in sorted(found)[:_SHOWN]]
    return _Repeats(count, first, pa.concat_arrays(values))


def _ranges(count: int) -> Iterator[tuple[int, int]]:
    """The range of 64 bits cut into parts of about equally many hashes."""
    parts = max(1, count // _PART)
    bounds = [-(2**63) + (2**64 * at) // parts for at in range(parts + 1)]
    yield from ((low, high - 1) for low, high in pairwise(bounds))


def _pieces(numbers: array[int]) -> Iterator[tuple[int, Any]]:
    """The numbers as Arrow arrays, with the place of the first; nothing is copied."""
    import pyarrow as pa

    whole = pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
    for start in range(0, len(numbers), _SLICE):
        yield start, whole.slice(start, _SLICE)


def _places(numbers: array[int], values: Any) -> Iterator[int]:
    """The places of these values, in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for start, piece in _pieces(numbers):
        found = pc.indices_nonzero(pc.is_in(piece, value_set=values))
        yield from pc.add(found.cast(pa.int64()), start).to_pylist()
