"""What a worker process is told, and what it answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dsreg.errors import DsregError
from dsreg.formats import Format, find_format
from dsreg.jobs.stretches import Shares
from dsreg.notes import Notes
from dsreg.rowcode.constants import Constants
from dsreg.rows.writer import RowWriter
from dsreg.runner import Choices, Conversion, Reject, Tally, make_conversion
from dsreg.source import Source


class Output(Protocol):
    """Where encoded rows go; `separator` stands between two of them."""

    @property
    def separator(self) -> bytes:
        """What stands between two rows."""

    def write_joined(self, data: bytes, rows: int) -> None:
        """Write some rows with the separator between them."""


@dataclass(frozen=True)
class Order:
    """What a worker is to convert, in a form that reaches another process.

    `columns` are those of the fast way's plan, None where all rows go the portable way. A worker writes its rows into
    the file at `place` itself, where it is told to; without one it sends them. `path` is what errors call the output.
    """

    name: str
    files: list[Path]
    formats: tuple[tuple[str, Path | None], tuple[str, Path | None]]
    source: dict[str, Any]
    choices: Choices
    options: dict[str, Any]
    shares: Shares
    columns: list[str] | None
    separator: bytes
    path: str
    early: bool
    place: Path | None = None

    def conversion(self) -> Conversion:
        """The conversion, made again, with the options that were decided."""
        read, write = (find_format(id, root) for id, root in self.formats)
        made = make_conversion(Source(self.name, read, self.files, Constants(**self.source)), write, self.choices)
        made.steps.target.options = self.options
        return made


def order_of(
    conversion: Conversion, shares: Shares, output: Output, columns: list[str] | None = None, *, early: bool = False
) -> Order:
    """The order for the rows of one file, which go to this output."""
    source, constants = conversion.source, conversion.steps.source
    writes = isinstance(output, RowWriter) and hasattr(os, "pwrite")
    return Order(
        source.name,
        source.files,
        (_named(source.format), _named(conversion.target)),
        {name: getattr(constants, name) for name in ("task", "columns", "extras", "tags", "options")},
        conversion.choices,
        conversion.steps.target.options,
        shares,
        columns,
        output.separator,
        name_of(output),
        early,
        output.place if writes and isinstance(output, RowWriter) else None,
    )


def name_of(output: Output) -> str:
    """What errors call an output."""
    return str(getattr(output, "path", ""))


def _named(format: Format) -> tuple[str, Path | None]:
    """The id of a format, and the project that it belongs to, if it is a project's own."""
    return format.id, format.folder.parents[2] if format.own else None


@dataclass
class Part:
    """What became of one stretch; rows and lines count from its start.

    `size` is how many bytes its rows take. Where it is `failed`, nothing is: the stretch must be converted again, by
    somebody who can tell why. The `last` part is none: all is done and written, but for an `error`.
    """

    tally: Tally
    rejects: list[Reject]
    early: Notes | None = None
    lines: int = 0
    size: int = 0
    failed: bool = False
    last: bool = False
    error: DsregError | None = None
