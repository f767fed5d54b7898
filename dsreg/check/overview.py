"""All rows together: duplicates, empty answers, equal or unequally long pairs, labels of one kind."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from dsreg.advice import advise_samples
from dsreg.check.finding import Finding
from dsreg.notes import Notes

INDEXED_ROWS = 1_000_000
"""How many rows the index of duplicates holds, about 150 MB; `--ignore DS290` makes none."""


class Overview:
    """Sees the aligned row of every row that is used, and tells what is worth knowing of the whole."""

    def __init__(self, stage: str, *, duplicates: bool = True) -> None:
        self.stage = stage
        self.notes = Notes()
        self._index: dict[bytes, int] | None = {} if duplicates else None
        self._copies: list[tuple[int, int]] = []
        self._copied = 0

    def see(self, row: int, aligned: dict[str, Any]) -> None:
        """Take in one row, by its number from 1."""
        response = aligned["_response"]
        if self._index is not None:
            self._find_copy(row, aligned)
        texts = [answer["content"] if isinstance(answer["content"], str) else "" for answer in response]
        if self.stage in ("rm", "dpo") and len(texts) == 2:
            if response[0] == response[1]:
                self.notes.see("chosen equals rejected", row)
            self.notes.see("chosen characters", row, len(texts[0]))
            self.notes.see("rejected characters", row, len(texts[1]))
        elif self.stage == "kto" and len(texts) == 2:
            self.notes.see("desirable" if texts[0] else "undesirable", row)
        elif self.stage == "sft" and texts and not texts[0].strip():
            self.notes.see("empty answer", row)

    def _find_copy(self, row: int, aligned: dict[str, Any]) -> None:
        index = self._index
        if index is None or (len(index) >= INDEXED_ROWS and row > INDEXED_ROWS):
            return
        digest = hashlib.blake2b(_bytes(aligned), digest_size=12).digest()
        first = index.setdefault(digest, row)
        if first != row:
            self._copied += 1
            if len(self._copies) < 3:
                self._copies.append((first, row))

    def findings(self, file: str) -> Iterator[Finding]:
        """What is to be said of all rows together."""
        if self._copied:
            pairs = ", ".join(f"{row:,} repeats {first:,}" for first, row in self._copies)
            among = f" among the first {INDEXED_ROWS:,}" if len(self._index or ()) >= INDEXED_ROWS else ""
            message = f"{self._copied:,} rows{among} are exact copies of others: row {pairs}"
            yield _finding(
                "DS290", "note", message, file, "they count more than once", "remove the copies", self._copied
            )
        empty = self.notes.counts["empty answer"]
        if empty:
            message = f"{empty:,} answers are empty, first row {self.notes.first['empty answer']:,}"
            yield _finding("DS291", "warning", message, file, "the model learns to say nothing", "fill them in", empty)
        for advice in advise_samples(self.notes):
            severity = "note" if advice.code == "DS406" else "warning"
            yield _finding(advice.code, severity, advice.message, file, "", advice.hint, 1)


def _finding(code: str, severity: Any, message: str, file: str, consequence: str, hint: str, count: int) -> Finding:
    return Finding(code, severity, message, file, None, None, "", consequence, hint, count)


def _bytes(value: Any) -> bytes:
    """A value as bytes that are equal for equal values."""
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=repr)
    except TypeError:  # an integer of more than 64 bits, half a character
        return repr(value).encode("utf-8", "backslashreplace")
