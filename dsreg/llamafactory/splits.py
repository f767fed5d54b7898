"""Split expressions such as `train[:90%]` as `datasets` 4.0 reads them (datasets/arrow_reader.py)."""

from __future__ import annotations

import re

from .sources import stop

_PART = re.compile(
    r"(?P<split>\w+(\.\w+)*)"
    r"(\[((?P<start>-?[\d_]+)(?P<start_pct>%)?)?:((?P<end>-?[\d_]+)(?P<end_pct>%)?)?\])?"
    r"(\((?P<rounding>[^\)]*)\))?\n?"
)
_ROUNDINGS = ("closest", "pct1_dropremainder")


def ranges_of(expression: str, lengths: dict[str, int]) -> list[tuple[str, int, int]]:
    """The (split, start, end) ranges of rows that `expression` names; raises Stop("load").

    `lengths` has the number of rows of each split. Ranges that are empty are left out; all empty is an error.
    """
    if expression == "all":
        expression = "+".join(lengths)
    parts = [_PART.fullmatch(part) for part in re.split(r"\s*\+\s*", expression)]
    if not all(parts):
        raise stop("split_unknown", f"Unrecognized instruction format: {expression}", "split")
    ranges = [_range(part, lengths) for part in parts if part]
    ranges = [(split, start, end) for split, start, end in ranges if start != end]
    if not ranges:
        raise stop("no_rows", f'Instruction "{expression}" corresponds to no data!', "split")
    return [_forward(split, start, end, lengths[split]) for split, start, end in ranges]


def _forward(split: str, start: int, end: int, rows: int) -> tuple[str, int, int]:
    """A range that ends before it starts is empty, but by an accident of Arrow's slicing one short of -1 row is not."""
    if start <= end:
        return split, start, end
    return split, start, rows if end - start == -1 else start


def _range(part: re.Match[str], lengths: dict[str, int]) -> tuple[str, int, int]:
    split, rounding = part["split"], part["rounding"]
    percent = bool(part["start_pct"] or part["end_pct"])
    start, end = (_number(part[key]) for key in ("start", "end"))
    if rounding is not None and (not percent or rounding not in _ROUNDINGS):
        raise stop("split_unknown", f"rounding {rounding!r} does not fit the slice", "split")
    if percent and any(bound is not None and abs(bound) > 100 for bound in (start, end)):
        raise stop("split_unknown", "Percent slice boundaries must be > -100 and < 100.", "split")
    if split not in lengths:
        message = f'Unknown split "{split}". Should be one of {list(lengths)}.'
        raise stop("split_unknown", message, "split")
    rows = lengths[split]
    if percent:
        start, end = (None if b is None else _of_percent(b, rows, rounding) for b in (start, end))
    start = 0 if start is None else start
    end = rows if end is None else end
    start = max(rows + start, 0) if start < 0 else start
    end = max(rows + end, 0) if end < 0 else end
    return split, min(start, rows), min(end, rows)


def _number(digits: str | None) -> int | None:
    if not digits:
        return None
    try:
        return int(digits)
    except ValueError:
        raise stop("split_unknown", f"invalid number in the slice: {digits}", "split") from None


def _of_percent(percent: int, rows: int, rounding: str | None) -> int:
    if rounding == "pct1_dropremainder":
        if rows < 100:
            raise stop("split_unknown", 'Using "pct1_dropremainder" rounding on less than 100 rows', "split")
        return percent * (rows // 100)
    return round(percent * rows / 100.0)
