"""What is noticed over a whole file while its rows pass: counts, and the first row of each kind."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Advice(NamedTuple):
    """Something to know about a file as a whole: a stable code, a sentence, and what to do about it."""

    code: str
    message: str
    hint: str = ""


class Notes:
    """Counts by kind with the first row of each; two of them can be merged."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, int] = {}

    def see(self, kind: str, row: int, count: int = 1) -> None:
        """Count one more of a kind, at that row (1-based)."""
        self.counts[kind] += count
        self.first.setdefault(kind, row)

    def merge(self, later: Notes) -> None:
        """Add what was noticed in a later stretch of the same file."""
        self.counts.update(later.counts)
        for kind, row in later.first.items():
            self.first.setdefault(kind, row)
