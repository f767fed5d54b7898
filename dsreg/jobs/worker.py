"""What a worker process does: it converts every n-th stretch of a file, and writes the rows into the output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dsreg.errors import OutputError
from dsreg.files import output_error
from dsreg.jobs.order import Order, Output, Part
from dsreg.jobs.portable import Portable
from dsreg.notes import Notes
from dsreg.rows.decode import Decoder
from dsreg.rows.source import Source
from dsreg.rows.stream import RowStream
from dsreg.runner import Reject, Tally

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

STOP = -1
"""In place of where the rows of a stretch go: they are not wanted, and neither is anything after them."""


class Kept:
    """Keeps the rows of one stretch until their place is known: pieces to be written one after the other."""

    def __init__(self, separator: bytes, path: str) -> None:
        self.separator = separator
        self.path = path
        self.pieces: list[bytes] = []

    def write_joined(self, data: bytes, rows: int) -> None:
        """Keep some rows."""
        self.pieces += (self.separator, data) if self.pieces else (data,)


Use = Callable[[Source, Tally, Output, Callable[[Reject], None], Notes | None], None]
"""Converts one stretch: adds to the account, writes to an output, tells of rejects, and notes for an early decision."""


def stretch_user(order: Order) -> Use:
    """What converts the stretches of an order: by the plan for its columns, or row by row without."""
    conversion, container = order.conversion(), order.shares.container
    if order.columns is None:
        decoder = Decoder(conversion.steps.source.mapped)

        def one_by_one(
            source: Source, tally: Tally, output: Output, reject: Callable[[Reject], None], early: Notes | None
        ) -> None:
            Portable(conversion, tally, output, reject).stream(RowStream(source, container, decoder))

        return one_by_one
    from dsreg.fast.plan import make_plan
    from dsreg.fast.run import Run, run_source

    plan = make_plan(conversion, order.columns)
    assert plan is not None

    def planned(
        source: Source, tally: Tally, output: Output, reject: Callable[[Reject], None], early: Notes | None
    ) -> None:
        run_source(Run(conversion, plan, tally, output, reject, early), source, container)

    return planned


def work(
    order: Order, first: int, step: int, pipe: Connection, feed: Connection | None, others: list[Connection]
) -> None:
    """The life of a worker, which takes every `step`-th stretch from the `first` on.

    For each it sends what became of it, and is told where the rows go. While it is not, the next one is converted.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends its workers
    for other in others:  # so that nobody but the parent keeps the pipes open
        other.close()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):
        made = parts(order, first, step, given(feed))
        if order.place is None:
            send_rows(made, pipe)
        else:
            write_rows(order, order.place, made, pipe)
    pipe.close()


def given(feed: Connection | None) -> Iterator[bytes]:
    """What comes through a pipe, up to something empty."""
    while feed is not None and (data := feed.recv_bytes()):
        yield data


def parts(order: Order, first: int, step: int, feed: Iterator[bytes]) -> Iterator[tuple[Part, list[bytes]]]:
    """What becomes of the stretches of one worker; the first that cannot be converted is the last."""
    try:
        use = stretch_user(order)
        for stretch in order.shares.stretches(first, step, feed):
            part, output = Part(Tally(), [], Notes() if order.early else None), Kept(order.separator, order.path)
            first = stretch.source.line
            use(stretch.source, part.tally, output, part.rejects.append, part.early)
            part.lines = stretch.source.line - first if stretch.lines is None else stretch.lines
            part.size = sum(map(len, output.pieces))
            yield part, output.pieces
    except (BrokenPipeError, ConnectionResetError, EOFError):
        raise
    except Exception:  # whatever it is: the parent meets it again, and tells about it as if it had worked alone
        yield Part(Tally(), [], failed=True), []


def send_rows(made: Iterator[tuple[Part, list[bytes]]], pipe: Connection) -> None:
    """Send the rows of each stretch after what became of it."""
    for part, pieces in made:
        pipe.send(part)
        if part.failed:
            break
        pipe.send_bytes(b"".join(pieces))
        if pipe.recv() == STOP:
            break
    pipe.send(Part(Tally(), [], last=True))


def write_rows(order: Order, place: Path, made: Iterator[tuple[Part, list[bytes]]], pipe: Connection) -> None:
    """Write the rows of each stretch where the parent says, one stretch behind."""
    error: OutputError | None = None
    try:
        with place.open("r+b", buffering=0) as file:
            waiting: list[bytes] | None = None
            for part, pieces in made:
                if waiting is not None and not write_at(file.fileno(), waiting, pipe.recv()):
                    waiting = None
                    break
                pipe.send(part)
                waiting = None if part.failed else pieces
            if waiting is not None:
                write_at(file.fileno(), waiting, pipe.recv())
    except (BrokenPipeError, ConnectionResetError):
        raise
    except OSError as e:
        error = output_error(e, Path(order.path))
    pipe.send(Part(Tally(), [], last=True, error=error))


def write_at(file: int, pieces: list[bytes], at: int) -> bool:
    """Write pieces one after the other, the first at a place; whether to go on."""
    if at == STOP:
        return False
    for piece in pieces:
        view = memoryview(piece)
        while view:
            done = os.pwrite(file, view, at)
            view, at = view[done:], at + done
    return True
