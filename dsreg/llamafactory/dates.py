"""Which text pandas takes for a date in columns named like dates, near enough without pandas and dateutil.

Whoever maps such a column to a prompt or an answer loses it, so what counts is whether it becomes a date at all.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_EPOCH_FLOOR = 31_536_000  # numbers up to one year of seconds are never taken for dates
_NOT_A_TIME = ("", "nan", "NaN", "NAN", "nat", "NaT", "NAT")
_FORMATS = (
    *(
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%Y.%m.%d",
        "%m/%d/%Y",
        "%d/%m/%Y",
        "%m-%d-%Y",
        "%d-%m-%Y",
        "%d.%m.%Y",
        "%m/%d/%y",
        "%Y-%m",
        "%Y/%m",
    ),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %Y", "%B %Y"),
    *("%a, %d %b %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a %b %d %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M", "T%H:%M:%S")
_ALL_FORMATS = (*(form + time for form in _FORMATS for time in _TIMES), "%H:%M", "%H:%M:%S")
_ZONE = re.compile(r"\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)$")


def is_date_name(name: Any) -> bool:
    """Whether pandas looks for dates in a column of this name."""
    if not isinstance(name, str):
        return False
    low = name.lower()
    return low.endswith(("_at", "_time")) or low in ("modified", "date", "datetime") or low.startswith("timestamp")


def parse_dates(values: list[Any]) -> list[datetime | None] | None:
    """The values as dates, or None when one of them is no date: then the column stays as it is."""
    if not values:
        return None
    kinds = {type(value) for value in values if value is not None and value == value}
    if kinds == {str} and len(kinds) and all(isinstance(v, str) and re.fullmatch(r"\s*[+-]?\d+\s*", v) for v in values):
        return _epochs([int(value) for value in values])
    if kinds and kinds <= {int, float}:
        return _epochs(values)
    if kinds - {str}:
        return None
    dates: list[datetime | None] = []
    for value in values:
        if not isinstance(value, str) or value in _NOT_A_TIME:
            dates.append(None)
        elif (date := parse_date(value)) is None:
            return None
        else:
            dates.append(date)
    zoned = {date.tzinfo is not None for date in dates if date is not None}
    if len(zoned) > 1:
        return None
    return [date.astimezone(UTC).replace(tzinfo=None) if date and date.tzinfo else date for date in dates]


def _epochs(values: list[Any]) -> list[datetime | None] | None:
    present = [value for value in values if value is not None and value == value]
    if any(value <= _EPOCH_FLOOR for value in present):
        return None
    for scale in (1, 1_000, 1_000_000, 1_000_000_000):
        if all(value / scale < 2**63 / 10**9 for value in present):
            return [
                None
                if value is None or value != value
                else datetime.fromtimestamp(value / scale, UTC).replace(tzinfo=None)
                for value in values
            ]
    return None


def parse_date(text: str) -> datetime | None:
    """One text as a date, None when it is none; today stands for `today` and `now`."""
    text = text.strip()
    if text in ("today", "now"):
        return datetime.now()
    zone = _ZONE.search(text)
    bare = text[: zone.start()] if zone and ":" in text[: zone.start()] else text
    date = _plain(bare)
    if date is None or not 1678 <= date.year <= 2261:
        return None
    if bare is not text:
        mark = (zone.group(1) if zone else "").replace("UTC", "Z").replace("GMT", "Z")
        try:
            return datetime.fromisoformat(date.isoformat() + mark)
        except ValueError:
            return None
    return date


def _plain(text: str) -> datetime | None:
    if re.match(r"\d{4}-\d\d-\d\d|\d{8}T", text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    if not re.search(r"\d", text):
        return None  # every form has a number, and to try them all takes long
    for form in _ALL_FORMATS:
        try:
            return _today(datetime.strptime(text, form))
        except ValueError:
            continue
    return None


def _today(date: datetime) -> datetime:
    """A time without a day is one of today."""
    return datetime.combine(datetime.now(), date.time()) if date.year == 1900 else date
