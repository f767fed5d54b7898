"""Decode rows: orjson where it is exact, the strict parser where it is not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import orjson

from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import NOT_JSON, BadRow, explain
from dsreg.rows.strict import strict
from dsreg.rows.words import find_words

# orjson makes floats of integers outside -2**63 .. 2**64-1: from 19 digits with a sign, from 20 without.
_LONG_INTEGER = re.compile(rb"-[0-9]{19}|[0-9]{20}")

# Nineteen digits in a row put four digits in a row into every fourth byte: looking there first is 30 times as fast.
# From the first of those four on, sixteen bytes are digits; those of most numbers with a fraction are not as many.
# (Every sixth would be faster still, but for `\u4f60\u597d`, where all of those can be digits.)
_STEP, _RUN = 4, b"0000"
_DIGITS = bytes(48 if 48 <= byte < 58 else 0 for byte in range(256))

# A key may be written with escapes. No encoder escapes ASCII letters or digits: a row with such is looked at closely.
_ESCAPED_LETTERS = [rb"\u00%d" % digit for digit in range(3, 8)]
_ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])")


def has_long_integer(block: bytes) -> bool:
    """Whether orjson might change a number in these bytes; may say yes for digits inside a text."""
    sampled = block[::_STEP].translate(_DIGITS)
    at = sampled.find(_RUN)
    while at >= 0:
        start = at * _STEP
        if block[start : start + 16].isdigit() and _LONG_INTEGER.search(block, max(0, start - 4), start + 20):
            return True
        at = sampled.find(_RUN, at + 1)
    return False


class Decoder:
    """Decodes rows, and notices when one of the `unique` top-level keys stands twice in a row."""

    def __init__(self, unique: Collection[str] = ()) -> None:
        self.unique = {key: _spellings(key) for key in unique}
        words = {spelling: key for key, spellings in self.unique.items() for spelling in spellings}
        self._find_words = find_words([*words, *_ESCAPED_LETTERS])
        self._keys = [*words.values(), *[None] * len(_ESCAPED_LETTERS)]

    def row(self, raw: bytes) -> Any:
        """The value of one row.

        Raises RowError for what no row may hold, json.JSONDecodeError and UnicodeDecodeError for what is no JSON.
        """
        if has_long_integer(raw) or (self.unique and self.may_repeat(raw)):
            return strict(raw)
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            return strict(raw)

    def row_or_bad(self, raw: bytes) -> Any:
        """The value of one row, or the BadRow that says why there is none."""
        try:
            return self.row(raw)
        except RowError as e:
            return BadRow(e.code, e.path, e.message, as_text(raw))
        except json.JSONDecodeError as e:
            return BadRow(NOT_JSON, "", f"not JSON: {explain(e.doc, e.pos, e.msg)} (column {e.pos + 1})", as_text(raw))
        except UnicodeDecodeError as e:
            message = f"not UTF-8: byte 0x{raw[e.start]:02x} at byte {e.start + 1} of the row"
            return BadRow(NOT_JSON, "", message, as_text(raw))

    def is_exact(self, block: bytes, rows: Sequence[Any]) -> bool:
        """Whether the rows that orjson made of a block are all that the block says."""
        if has_long_integer(block):
            return False
        return not self.may_repeat_in(block, lambda key: sum([key in row for row in rows if type(row) is dict]))

    def may_repeat_in(self, block: bytes, holders: Callable[[str], int]) -> bool:
        """Whether a unique key may stand twice in a row of a block; `holders` tells how many rows have a key."""
        found = Counter(self._found(block))
        if None in found and _ESCAPED_LETTER.search(block):
            return True
        return any(found[key] > holders(key) for key in self.unique if key in found)

    def may_repeat(self, raw: bytes) -> bool:
        """Whether a unique key may stand twice in a row: as a key, at any depth."""
        found = self._found(raw)
        if None in found and _ESCAPED_LETTER.search(raw):
            return True
        if len(set(found)) == len(found):
            return False
        return any(
            found.count(key) > 1 and sum(len(re.findall(re.escape(s) + rb"\s*:", raw)) for s in spellings) > 1
            for key, spellings in self.unique.items()
        )

    def _found(self, raw: bytes) -> list[str | None]:
        """The unique keys in bytes, as keys there or not; None stands for a letter that may be escaped."""
        return [self._keys[word] for word, _, _ in self._find_words(raw)]


def as_text(raw: bytes) -> str:
    """The bytes of a bad row as text, whatever they are."""
    return raw.decode("utf-8", "backslashreplace").strip("\r\n")


def _spellings(key: str) -> set[bytes]:
    """How a key is written in JSON: as it is, or with escapes in either case."""
    escaped = json.dumps(key)
    upper = re.sub(r"\\u[0-9a-f]{4}", lambda m: "\\u" + m[0][2:].upper(), escaped)
    plain = json.dumps(key, ensure_ascii=False)
    return {text.encode("utf-8", "surrogatepass") for text in (plain, escaped, upper)}
