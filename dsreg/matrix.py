"""What can become what: every pair of a source and a target, with the choice it takes and the loss it means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from dsreg.formats import Format, ways

Answer = Literal["yes", "choice", "no"]


class Cell(NamedTuple):
    """Whether rows of a format and a task become a target.

    `takes` are the choices of which one is needed, `effect` is what happens to the rows on the way, `loss` the features
    that such rows may have and the target cannot hold, `reason` why it is impossible.
    """

    source: str
    task: str
    target: str
    answer: Answer
    becomes: str = ""
    takes: tuple[str, ...] = ()
    effect: str = ""
    loss: tuple[str, ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The cell as JSON-shaped data."""
        return {**self._asdict(), "takes": list(self.takes), "loss": list(self.loss)}


def cell(source: Format, task: str, target: Format) -> Cell:
    """Whether rows of a format that are for a task become a target."""
    found = ways(task, target)
    if not found:
        held = " or ".join(target.manifest.tasks)
        return Cell(source.id, task, target.id, "no", reason=f"{task} rows cannot become {held}")
    way = found[0]
    loss = () if way.task == "pretrain" else lost_features(source, target)
    if not way.steps:
        return Cell(source.id, task, target.id, "yes", way.task, loss=loss)
    if not way.steps[0].take:
        return Cell(source.id, task, target.id, "yes", way.task, effect=way.steps[0].effect, loss=loss)
    takes = tuple(dict.fromkeys(step.take for each in found for step in each.steps))
    return Cell(source.id, task, target.id, "choice", way.task, takes, way.steps[0].effect, loss)


def lost_features(source: Format, target: Format) -> tuple[str, ...]:
    """The features that the source can have and the target cannot hold: rows that use them are rejected or stripped."""
    return tuple(feature for feature in source.manifest.supports if feature not in target.manifest.supports)


def row_of(source: Format, task: str, formats: Iterable[Format]) -> list[Cell]:
    """What rows of a format that are for a task become, for each format that can be written."""
    return [cell(source, task, target) for target in formats if target.writes]


def matrix(formats: Iterable[Format]) -> list[Cell]:
    """Every pair, for each task of the source."""
    formats = list(formats)
    return [
        found
        for source in formats
        if source.reads
        for task in source.manifest.needs
        for found in row_of(source, task, formats)
    ]
