"""Find the parts of a JSON text by its brackets and strings alone, without decoding and without recursion."""

from __future__ import annotations

import re
from typing import NamedTuple

# A quote that opens no closed string (the last alternative) is where the text is cut off.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]|"', re.DOTALL)


class Scan(NamedTuple):
    """Offsets of the commas between values, and of the bracket that closes what holds them (-1: not there)."""

    commas: list[int]
    close: int


def scan(text: bytes) -> Scan:
    """Look at comma-separated values up to the bracket that closes the array around them."""
    depth = 0
    commas: list[int] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                return Scan(commas, token.start())
        elif mark == b",":
            if not depth:
                commas.append(token.start())
        elif mark == b'"':
            break
    return Scan(commas, -1)


def value_end(text: bytes) -> int:
    """The offset behind the object or array that begins this text, -1 if it does not end in it."""
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth <= 0:
                return token.end()
        elif mark == b'"':
            break
    return -1


def spans(text: bytes) -> list[tuple[int, int]]:
    """Start and end of each of the comma-separated values; a start is at the value's first byte, after white space."""
    commas = scan(text).commas
    starts = [0, *(comma + 1 for comma in commas)]
    ends = [*commas, len(text)]
    return [(start + _space(text, start, end), end) for start, end in zip(starts, ends, strict=True)]


def _space(text: bytes, start: int, end: int) -> int:
    part = text[start:end]
    return len(part) - len(part.lstrip(b" \t\r\n"))
