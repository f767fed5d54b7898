"""Where the row just yielded stands, without any work per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Place:
    """Knows the row and line of the last item that a loop took, from what is left in the list it runs over.

    A reader calls `over(items, line_of)` for each batch and loops over what it gets; the list's iterator itself
    counts, in C. `skip()` takes the last item out of the count of rows: a blank line.
    """

    def __init__(self) -> None:
        self._before = self._size = 0
        self._items: Iterator[Any] = iter(())
        self._line_of: Callable[[int], int | None] = _nowhere

    def over(self, items: list[Any], line_of: Callable[[int], int | None]) -> Iterator[Any]:
        """Iterate over a batch; `line_of(i)` is the line of its i-th item, counted from 0."""
        self._before += self._index()
        self._items, self._size, self._line_of = iter(items), len(items), line_of
        return self._items

    def skip(self) -> None:
        """The item just taken is no row."""
        self._before -= 1

    @property
    def row(self) -> int:
        """1-based number of the row just yielded; 0 before the first."""
        return self._before + self._index()

    @property
    def line(self) -> int | None:
        """1-based line of the row just yielded; None before the first, and where there are no lines."""
        index = self._index()
        return self._line_of(index - 1) if index else None

    def _index(self) -> int:
        return self._size - self._items.__length_hint__()  # type: ignore[attr-defined,no-any-return]


def _nowhere(index: int) -> None:
    return None
