"""What a prediction is made of: the fatal end of a run, the verdict of a row, the notes beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Where = Literal["registry", "stage", "load", "align"]
Status = Literal["ok", "dropped", "fatal"]


@dataclass(frozen=True)
class Fatal:
    """Where and why a run would stop; `reason` is a key of REASONS, `path` the key of the entry or in the row."""

    where: Where
    message: str
    reason: str
    path: str = ""
    file: str = ""


class Stop(Exception):
    """Raised inside this package when the run would stop."""

    def __init__(self, fatal: Fatal) -> None:
        super().__init__(fatal.message)
        self.fatal = fatal


@dataclass(frozen=True)
class Note:
    """Something to tell about the dataset or a row that does not change the verdict."""

    reason: str
    message: str
    path: str = ""


class RowAbort(Exception):
    """Raised while a row is converted or tokenised: this row alone would stop the run."""

    def __init__(self, reason: str, path: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.path = path
        self.message = message


@dataclass
class RowVerdict:
    """What happens to one loaded row.

    `reason` is a key of REASONS, empty for a row that is used; `why` says it in words; `aligned` is the row as
    LlamaFactory's converter returns it, None where the converter itself would stop.
    """

    row: int
    status: Status
    reason: str = ""
    path: str = ""
    why: str = ""
    aligned: dict[str, Any] | None = None
    notes: list[Note] = field(default_factory=list)
