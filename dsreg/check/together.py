"""What `overview` sees in rows of plain text, a block at a time: the same counts, from whole columns."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field

import orjson

from dsreg.advice import LENGTH_ROWS
from dsreg.check.copies import INDEXED_ROWS, hashes
from dsreg.llamafactory.columns import Texts, decoded
from dsreg.notes import Notes
from dsreg.rows.texts import same_text

# What follows the quote of a text that strip() might leave nothing of: space, escapes, and lead bytes of Unicode's.
_MAY_BE_BLANK = frozenset(b'" \\\xc2\xe1\xe2\xe3')
_SPACE = re.compile(
    rb'"(?:["\x20]|\\[nrtfu]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)'
)


@dataclass
class Seen:
    """What is noted of the rows of a run, and a number for each of them, by which copies are found."""

    notes: Notes = field(default_factory=Notes)
    numbers: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class Observer:
    """Notes what is worth knowing of the rows of a stage; rows are numbered from 1 in notes."""

    stage: str
    duplicates: bool

    def __call__(self, texts: Texts, start: int, seen: Seen | None) -> Seen:
        """What was seen of a run, with a further block of it, whose first row has the number `start` from 0."""
        seen = seen or Seen()
        notes, answers = seen.notes, texts.answers
        if self.duplicates and start < INDEXED_ROWS:
            system, labelled = decoded(texts.system), texts.label is not None
            seen.numbers += hashes(system, texts.contents(), pairs=len(answers) == 2, labelled=labelled)
        if self.stage in ("rm", "dpo") and len(answers) == 2:
            same = [at for at, pair in enumerate(zip(*answers, strict=True)) if same_text(*pair)]
            _see(notes, "chosen equals rejected", start, same)
            for kind, column in zip(("chosen characters", "rejected characters"), answers, strict=True):
                if start < LENGTH_ROWS:
                    notes.see(kind, start + 1, sum(map(len, decoded(column[: LENGTH_ROWS - start]))))
        elif self.stage == "kto" and texts.label is not None:
            for kind, tag in (("desirable", b"true"), ("undesirable", b"false")):
                if tag in texts.label:
                    notes.see(kind, start + texts.label.index(tag) + 1, texts.label.count(tag))
        elif self.stage == "sft":
            blank = [at for at, text in enumerate(answers[0]) if text[1] in _MAY_BE_BLANK and _is_blank(text)]
            _see(notes, "empty answer", start, blank)
        return seen


def _see(notes: Notes, kind: str, start: int, places: list[int]) -> None:
    if places:
        notes.see(kind, start + places[0] + 1, len(places))


def _is_blank(text: bytes) -> bool:
    """Whether a text is nothing but space."""
    return bool(_SPACE.match(text)) and not orjson.loads(text).strip()
