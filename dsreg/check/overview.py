"""All rows together: duplicates, empty answers, equal or unequally long pairs, labels of one kind."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dsreg.advice import LENGTH_ROWS, advise_samples
from dsreg.check.copies import INDEXED_ROWS, Copies, find_copies, hash_of
from dsreg.check.finding import Finding
from dsreg.check.together import Observer, Seen
from dsreg.notes import Notes


class Overview:
    """Sees the aligned row of every row that is used, and tells what is worth knowing of the whole."""

    def __init__(self, stage: str, *, duplicates: bool = True) -> None:
        self.stage = stage
        self.notes = Notes()
        self.duplicates = duplicates
        self.observer = Observer(stage, duplicates)
        self._rows = 0
        self._numbers = array("q")
        self._copies = Copies(0, [])

    def see(self, row: int, aligned: dict[str, Any]) -> None:
        """Take in one row, by its number from 1."""
        response = aligned["_response"]
        self._rows = row
        if self.duplicates and self._reach(row):
            self._numbers.append(hash_of(aligned))
        texts = [answer["content"] if isinstance(answer["content"], str) else "" for answer in response]
        if self.stage in ("rm", "dpo") and len(texts) == 2:
            if response[0] == response[1]:
                self.notes.see("chosen equals rejected", row)
            if row <= LENGTH_ROWS:
                self.notes.see("chosen characters", row, len(texts[0]))
                self.notes.see("rejected characters", row, len(texts[1]))
        elif self.stage == "kto" and len(texts) == 2:
            self.notes.see("desirable" if texts[0] else "undesirable", row)
        elif self.stage == "sft" and texts and not texts[0].strip():
            self.notes.see("empty answer", row)

    def see_all(self, row: int, seen: Seen, count: int) -> None:
        """Take in `count` rows from `row` on, which `observer` saw."""
        self.notes.merge(seen.notes)
        self._rows = row + count - 1
        if self.duplicates and self._reach(row):
            self._numbers += seen.numbers[: INDEXED_ROWS - len(self._numbers)]

    def _reach(self, row: int) -> bool:
        """Whether the search for copies covers a row; those before it that are not used get numbers of their own."""
        if row > INDEXED_ROWS:
            return False
        self._numbers.extend(hash(("unused", at)) for at in range(len(self._numbers), row - 1))
        return True

    def find_copies(self, again: Callable[[Iterable[int]], Iterator[dict[str, Any]]]) -> None:
        """Look for copies among the rows seen; `again` gives aligned rows by their numbers from 0."""
        self._copies = find_copies(self._numbers, again)
        self._numbers = array("q")

    def findings(self, file: str) -> Iterator[Finding]:
        """What is to be said of all rows together."""
        copied = self._copies.total
        if copied:
            pairs = ", ".join(f"{row:,} repeats {first:,}" for first, row in self._copies.first)
            among = f" among the first {INDEXED_ROWS:,}" if self._rows > INDEXED_ROWS else ""
            message = f"{copied:,} rows{among} are exact copies of others: row {pairs}"
            yield _finding("DS290", "note", message, file, "they count more than once", "remove the copies", copied)
        empty = self.notes.counts["empty answer"]
        if empty:
            message = f"{empty:,} answers are empty, first row {self.notes.first['empty answer']:,}"
            yield _finding("DS291", "warning", message, file, "the model learns to say nothing", "fill them in", empty)
        for advice in advise_samples(self.notes, self._rows):
            severity = "note" if advice.code == "DS406" else "warning"
            yield _finding(advice.code, severity, advice.message, file, "", advice.hint, 1)


def _finding(code: str, severity: Any, message: str, file: str, consequence: str, hint: str, count: int) -> Finding:
    return Finding(code, severity, message, file, None, None, "", consequence, hint, count)
