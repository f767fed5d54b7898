"""One row from its source layout to its target layout: read, adapt, hold back what does not fit, write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsreg.rowcode.columns import as_object
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.features import STRIP_KEYS, find_features, may_use, strip_features

Row = dict[str, Any]


class SetAside(Exception):
    """A row that a choice of the user leaves out; the argument is that choice, as it was given."""


class Steps:
    """The functions and constants of one conversion.

    `adapt` is the step between tasks or None, `take` the choice it stands for; `unheld` are the features that the
    target cannot hold, of which rows are set aside (`skip`), freed (`strip`), or rejected. Where all features that a
    row must not have are keys of messages, `marks` are those.
    """

    __slots__ = (
        "adapt",
        "marks",
        "read_row",
        "skip",
        "source",
        "strip",
        "take",
        "target",
        "target_id",
        "unheld",
        "write_row",
    )

    def __init__(
        self,
        read_row: Callable[[Row, Constants], Row],
        source: Constants,
        adapt: Callable[[Row], list[Row]] | None,
        take: str,
        write_row: Callable[[Row, Constants], Row],
        target: Constants,
        target_id: str,
        unheld: frozenset[str] = frozenset(),
        skip: frozenset[str] = frozenset(),
        strip: frozenset[str] = frozenset(),
    ) -> None:
        self.read_row = read_row
        self.source = source
        self.adapt = adapt
        self.take = take
        self.write_row = write_row
        self.target = target
        self.target_id = target_id
        self.unheld = unheld
        self.skip = skip
        self.strip = strip
        asked = unheld | skip
        self.marks = frozenset(map(STRIP_KEYS.__getitem__, asked)) if asked <= STRIP_KEYS.keys() else None


def read_samples(row: Any, s: Steps) -> list[Row]:
    """The samples that one row becomes, fit for the target; raises RowError or SetAside."""
    sample = s.read_row(row if type(row) is dict else as_object(row, ""), s.source)
    if s.strip:
        sample = strip_features(sample, s.strip)
    if s.adapt is None:
        samples = [sample]
    else:
        samples = s.adapt(sample)
        if not samples:
            raise SetAside(s.take)
    if s.unheld or s.skip:
        for sample in samples:
            refuse_unheld(sample, s)
    return samples


def convert_row(row: Any, s: Steps) -> list[Row]:
    """The rows that one row of the source becomes; raises RowError or SetAside."""
    write_row, target = s.write_row, s.target
    return [write_row(sample, target) for sample in read_samples(row, s)]


def refuse_unheld(sample: Row, s: Steps) -> None:
    """Raise SetAside for a feature that is to be skipped, RowError DS301 for one that the target cannot hold."""
    if s.marks is not None and not may_use(sample, s.marks):
        return
    found = find_features(sample)
    if not s.skip.isdisjoint(found):
        raise SetAside(f"--skip {min(found & s.skip)}")
    if not s.unheld.isdisjoint(found):
        feature = min(found & s.unheld)
        raise RowError("DS301", "", f"{s.target_id} cannot hold `{feature}`, which this row uses")
