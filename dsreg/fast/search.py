"""Find, in rows that were made, what their loop does not look at: no texts, blank ones, and reserved words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from dsreg.rows.words import find_words

# White space as JSON text can hold it, escaped or not.
_SPACE = (
    rb"(?: |\\[nrtf]|\\u(?:00[0128aA][0-9a-fA-F]|1680|20[025][0-9a-fA-F]|3000)"
    rb"|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2(?:\x80[\x80-\xaf]|\x81\x9f)|\xe3\x80\x80)"
)
_NO_TEXT = [bytes([byte]) for byte in b"{[tfn-0123456789"]
_SPACES = [b" ", rb"\n", rb"\r", rb"\t", rb"\f", rb"\u00", rb"\u16", rb"\u20", rb"\u30"]
_SPACES += [b"\xc2\x85", b"\xc2\xa0", b"\xe1\x9a\x80", b"\xe2\x80", b"\xe2\x81\x9f", b"\xe3\x80\x80"]
# More words than this are no longer found at once.
_MOST = 60


class Search:
    """Finds places where a pattern matches; every match begins with one of the words."""

    def __init__(self, words: Iterable[bytes], pattern: re.Pattern[bytes]) -> None:
        self._find = find_words(words)
        self._match = pattern.match

    def rows(self, joined: bytes, rows: list[bytes]) -> list[int]:
        """In which of the rows that follow each other in `joined` there is a match."""
        places = [start for _, start, _ in self._find(joined) if self._match(joined, start)]
        if not places:
            return []
        ends = list(accumulate(map(len, rows)))
        ends = [end - ends[-1] + len(joined) for end in ends]  # the first row may have lost its separator
        return [bisect_right(ends, place) for place in places]


def text_searches(keys: Sequence[str], may_be_empty: Collection[str], *, blank: bool) -> list[Search]:
    """Searches for rows in which the value of one of these keys is no text, or is empty; or, if asked, is blank.

    The keys in `may_be_empty` stand with an empty text in rows without one.
    """
    searches, spaces = [], [b'"', *_SPACES] if blank else [b'"']
    size = _MOST // (len(_NO_TEXT) + len(spaces))
    for start in range(0, len(keys), size):
        words, patterns = [], []
        for key in keys[start : start + size]:
            mark = b'"%b":' % key.encode()
            endings = _NO_TEXT if key in may_be_empty else [*_NO_TEXT, *(b'"' + space for space in spaces)]
            words += [mark + ending for ending in endings]
            good = b'"' if key in may_be_empty else b'"(?!%b*+")' % (_SPACE if blank else b"(?!)")
            patterns.append(mark + b"(?!%b)" % good)
        searches.append(Search(words, re.compile(b"|".join(patterns))))
    return searches
