"""Find rows that may hold a word that Nova reserves: they go the portable way."""

from __future__ import annotations

import re
from itertools import product

from dsreg.fast.search import Search

# What Nova reserves, in any letter case (the `k` of <unk> has a look-alike, the Kelvin sign), and the escapes by which
# such a word could be spelled.
_WORD = re.compile(
    rb"(?i:em:(?<=system:)|er:(?<=user:)|ot:(?<=bot:)|nt:(?<=assistant:)|ht:(?<=thought:)|<image>|<video>|\[eos\])"
    rb"|<[uU][nN](?:[kK]|\xe2\x84\xaa|\\u)|\\u00[2-7]"
)
_PARTS = ("em:", "er:", "ot:", "nt:", "ht:", "<im", "<vi", "<un", "[eo", *(rf"\u00{digit}" for digit in "234567"))


def reserved_search() -> Search:
    """The search for rows that may hold a reserved word, in any letter case."""
    return Search([word for part in _PARTS for word in _cases(part)], _WORD)


def _cases(part: str) -> set[bytes]:
    if part.startswith("\\"):
        return {part.encode()}
    return {"".join(letters).encode() for letters in product(*((c.lower(), c.upper()) for c in part))}
