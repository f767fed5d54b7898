"""A row that could not be read, and the words for why."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOT_JSON = "DS201"
"""The row is not a JSON value: wrong syntax, NaN, a lone surrogate, too deep, not UTF-8, a ragged CSV row."""

REPEATED_KEY = "DS205"
"""One object holds the same key twice."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """What a stream yields in place of a row that cannot be read: code, path inside the row, sentence, the raw text."""

    code: str
    path: str
    message: str
    raw: str


# What people leave in JSON files, tried in order on the text where the parser stopped.
_BEFORE_ROW = [
    (re.compile(r"(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)"), "an unresolved merge conflict stands here"),
    (re.compile(r"(#|//|/\*|--)"), "a comment, JSON has none"),
]
_AT_STOP = [
    (re.compile(r"-?(NaN|Infinity|inf|nan)\b"), "NaN and Infinity are not JSON"),
    (re.compile(r"(None|True|False)\b"), "None, True and False are Python's notation, JSON has null, true and false"),
    (re.compile(r"'"), "JSON text stands in double quotes"),
    (re.compile(r"(<<<<<<<|=======|>>>>>>>)"), "an unresolved merge conflict stands here"),
    (re.compile(r"(#|//|/\*)"), "a comment, JSON has none"),
]
_TRAILING_COMMA = re.compile(r",\s*\Z")


def explain(text: str, pos: int, reason: str) -> str:
    """Say what is probably wrong with a JSON text where the parser stopped, in addition to the parser's own reason."""
    start = text.lstrip()
    for pattern, words in _BEFORE_ROW:
        if pattern.match(start):
            return words
    here = text[pos : pos + 200].lstrip()
    if not start:
        return "a value is missing"
    if here[:1] in ("}", "]") and _TRAILING_COMMA.search(text[max(0, pos - 200) : pos]):
        return f"a comma before `{here[0]}`"
    if reason == "Illegal trailing comma before end of object":  # Python 3.13 stops at the comma itself
        return "a comma before `}`"
    for pattern, words in _AT_STOP:
        if pattern.match(here):
            return words
    if reason == "Extra data":
        return "a comma follows the value" if here == "," else f"a second value begins with `{here[:20]}`"
    if reason.startswith("Invalid control character"):
        return "a line break or another control character inside a text must be written as an escape"
    if reason.startswith("Unterminated string"):
        return "a text is not closed"
    return "the value ends too early" if not here.strip() else reason[:1].lower() + reason[1:]
