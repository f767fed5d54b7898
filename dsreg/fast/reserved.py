"""Find bytes that may hold a word that Nova reserves: such rows go the portable way."""

from __future__ import annotations

import re

# What Nova reserves, in any letter case (the `k` of <unk> has a look-alike, the Kelvin sign), and the escapes by which
# such a word could be spelled.
_MARKED = [
    (60, re.compile(rb"<(?:(?i:image>|video>)|[uU][nN](?:[kK]|\xe2\x84\xaa|\\u))").match),
    (91, re.compile(rb"\[(?i:eos\])").match),
]
_WORDS = tuple(
    re.compile(pattern).search
    for pattern in (
        rb":(?<=[mrtMRT]:)(?:(?<=(?i:system:))|(?<=(?i:user:))|(?<=(?i:bot:))|(?<=(?i:assistant:))|(?<=(?i:thought:)))",
        rb"\\u00[2-7]",
    )
)


def reserved(text: bytes, start: int = 0, end: int | None = None) -> bool:
    """Whether a stretch of bytes may hold a word that Nova reserves, in any letter case."""
    end = len(text) if end is None else end
    if any(search(text, start, end) for search in _WORDS):
        return True
    for mark, match in _MARKED:  # these marks are rare: going from one to the next is faster than a search
        at = text.find(mark, start, end)
        while at >= 0:
            if match(text, at, end):
                return True
            at = text.find(mark, at + 1, end)
    return False
