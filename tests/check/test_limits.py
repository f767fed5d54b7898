"""Copies among many rows, and data whose table would be huge."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsreg.check import copies
from dsreg.llamafactory.frames import MOST_CELLS

Found = Callable[..., list[dict[str, Any]]]


@given(rows=st.lists(st.integers(0, 12), max_size=60), hashed=st.integers(1, 20), part=st.sampled_from([3, 10, 1_000]))
@settings(max_examples=200, deadline=None)
def test_copies_are_exact_whatever_the_hashes(rows: list[int], hashed: int, part: int) -> None:
    first: dict[int, int] = {}
    repeats = [(first[row], at) for at, row in enumerate(rows, 1) if first.setdefault(row, at) != at]

    def again(wanted: Iterable[int]) -> Iterator[dict[str, Any]]:
        return ({"row": rows[place]} for place in wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "_PART", part)
        patch.setattr(copies, "_SLICE", 7)
        numbers = array("q", (hash(("salt", row % hashed)) for row in rows))
        assert copies.find_copies(numbers, again) == copies.Copies(len(repeats), repeats[:3])


WIDE = 20_000
_ROWS = [json.dumps({f"c{at}": "x", "instruction": "a", "input": "", "output": "b"}) for at in range(WIDE)]
_FILES = {
    "a_jsonl": "\n".join(_ROWS),
    "spaced_jsonl": "\n".join(_ROWS).replace('":', '"  :'),
    "nested_jsonl": "\n".join(f'{{"output": {row}}}' for row in _ROWS),
    "a_json": "[" + ",".join(_ROWS) + "]",
    "large_json": "[" + ",\n".join(f'{{"text": "{"x" * 300}", {row[1:]}' for row in _ROWS) + "]",
    "a_csv": ",".join(map(str, range(WIDE))) + "\n" + "1\n" * 10_000,
}


@pytest.mark.parametrize("name", _FILES)
def test_tens_of_thousands_of_columns(name: str, found: Found) -> None:
    assert WIDE * WIDE > MOST_CELLS
    start = time.process_time()
    (issue,) = [i for i in found({"file_name": name.replace("_", ".")}, **{name: _FILES[name]}) if i["code"] == "DS136"]
    assert issue["severity"] == "error"
    assert time.process_time() - start < 10
