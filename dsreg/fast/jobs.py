"""JSON Lines on several cores: worker processes convert stretches of a file in turn; the output keeps the order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dsreg.errors import DataFileError, DsregError
from dsreg.files import output_error
from dsreg.formats import find_format
from dsreg.notes import Notes
from dsreg.rowcode.constants import Constants
from dsreg.rows.lines import cut
from dsreg.rows.source import MAX_ROW, Source
from dsreg.runner import Choices, Conversion, Reject, Tally, make_conversion
from dsreg.source import Source as Data

STRETCH = 1 << 20
"""How many bytes of a file a worker takes at a time."""
WORTHWHILE = 50 << 20
"""From this size on, a second process gains more than it costs to start."""


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_for(files: list[Path]) -> int:
    """How many jobs to use where nobody said."""
    return cores() if sum(path.stat().st_size for path in files) > WORTHWHILE else 1


def is_plain(source: Source) -> bool:
    """Whether the bytes of a file are those that are read: not packed, UTF-8, without a mark."""
    return not source.packed and source.encoding == "utf-8" and not source.raw_head.startswith(b"\xef\xbb\xbf")


@dataclass(frozen=True)
class Order:
    """What a worker is to convert, in a form that reaches another process.

    A worker writes its rows into the file at `place` itself, where it is told to; without one it sends them.
    """

    name: str
    files: list[Path]
    formats: tuple[tuple[str, Path | None], tuple[str, Path | None]]
    source: dict[str, Any]
    options: dict[str, Any]
    columns: list[str]
    separator: bytes
    path: str
    early: bool
    place: Path | None = None
    stretch: int = STRETCH

    def conversion(self) -> Conversion:
        """The conversion, made again, with the options that were decided."""
        read, write = (find_format(id, root) for id, root in self.formats)
        made = make_conversion(Data(self.name, read, self.files, Constants(**self.source)), write, Choices())
        made.steps.target.options = self.options
        return made


def order_of(
    conversion: Conversion,
    columns: list[str],
    separator: bytes,
    path: str,
    *,
    early: bool,
    place: Path | None = None,
) -> Order:
    """The order for a conversion whose data has these further columns."""
    c = conversion.steps.source
    return Order(
        conversion.source.name,
        conversion.source.files,
        tuple(  # type: ignore[arg-type]
            (each.id, each.folder.parents[2] if each.own else None)
            for each in (conversion.source.format, conversion.target)
        ),
        {"task": c.task, "columns": c.columns, "extras": c.extras, "tags": c.tags, "options": c.options},
        conversion.steps.target.options,
        columns,
        separator,
        path,
        early,
        place,
    )


@dataclass
class Part:
    """What became of one stretch; rows and lines count from its start."""

    tally: Tally
    rejects: list[Reject]
    early: Notes | None
    lines: int
    size: int = 0
    error: DsregError | None = None


class Kept:
    """Keeps the rows of one stretch until they are sent."""

    def __init__(self, separator: bytes, path: str) -> None:
        self.separator = separator
        self.path = path
        self.parts: list[bytes] = []

    def write_joined(self, data: bytes, rows: int) -> None:
        """Keep some rows."""
        self.parts.append(data)


def stretches(path: Path, first: int, step: int, length: int) -> Iterator[bytes]:
    """Every `step`-th stretch of a file, from the `first` on: the whole lines that begin in it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for start in range(first * length, size, step * length):
            begin, end = (next_line(file, place, size, path) for place in (start, start + length))
            file.seek(begin)
            yield file.read(end - begin)


def next_line(file: Any, place: int, size: int, path: Path) -> int:
    """The first place from `place` on where a line begins; `size` where there is none."""
    if place == 0 or place >= size:
        return min(place, size)
    file.seek(place - 1)
    line = file.readline(MAX_ROW + 1)
    if len(line) > MAX_ROW:
        message = f"a line is longer than {MAX_ROW >> 20} MiB"
        raise DataFileError(message, where=str(path), hint="is this one row per line, and text at all?")
    return min(place - 1 + len(line), size)


def work(order: Order, path: Path, first: int, step: int, pipe: Connection, others: list[Connection]) -> None:
    """The life of a worker: convert every `step`-th stretch of a file and tell what became of it.

    While the place of a stretch is not known, the next one is converted.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends its workers
    for other in others:  # so that nobody but the parent keeps the pipes open
        other.close()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):
        if order.place is None:
            for part, data in parts(order, path, first, step):
                pipe.send(part)
                pipe.send_bytes(data)
        else:
            write_parts(order, order.place, parts(order, path, first, step), pipe)
    pipe.close()


def write_parts(order: Order, place: Path, made: Iterator[tuple[Part, bytes]], pipe: Connection) -> None:
    """Write the rows of stretches where the parent says, one stretch behind; ends with a word that all is written."""
    with place.open("r+b", buffering=0) as file:
        waiting = b""
        for part, data in chain(made, [(Part(Tally(), [], None, 0), b"")]):
            try:
                write_at(file.fileno(), waiting, pipe)
                part.size, waiting = len(data), data
            except OSError as error:
                part.error = output_error(error, Path(order.path))
            pipe.send(part)


def write_at(file: int, data: bytes, pipe: Connection) -> None:
    """Write bytes at the place that comes through the pipe."""
    if data:
        view, at = memoryview(data), pipe.recv()
        while view:
            done = os.pwrite(file, view, at)
            view, at = view[done:], at + done


def parts(order: Order, path: Path, first: int, step: int) -> Iterator[tuple[Part, bytes]]:
    """What becomes of the stretches of one worker."""
    from dsreg.fast.plan import make_plan
    from dsreg.fast.run import Run

    conversion = order.conversion()
    plan = make_plan(conversion, order.columns)
    assert plan is not None
    tally, output = Tally(), Kept(order.separator, order.path)
    rejects: list[Reject] = []
    run = Run(conversion, plan, tally, output, rejects.append, Notes() if order.early else None)
    try:
        for number, stretch in enumerate(stretches(path, first, step, order.stretch)):
            line = start = 1 if not number and not first else 2
            for block in cut(stretch):
                rows = run.blocks.lines(block, line, str(path))
                run.block(path, rows)
                line += rows.lines
            part = Part(tally, rejects, run.early, line - start)
            yield part, order.separator.join(output.parts)
            tally.__init__()  # type: ignore[misc]
            run.row = 0
            rejects.clear()
            output.parts.clear()
            if run.early is not None:
                run.early = Notes()
    except DsregError as error:
        yield Part(Tally(), [], None, 0, error=error), b""


@contextmanager
def workers(order: Order, path: Path, jobs: int, method: str | None) -> Iterator[list[Connection]]:
    """Start the workers, give the pipes to read from, and end them whatever happens."""
    context: Any = multiprocessing.get_context(method)
    forks = context.get_start_method() == "fork"
    pipes: list[Connection] = []
    processes = []
    try:
        for first in range(jobs):
            ours, theirs = context.Pipe()
            pipes.append(ours)
            process = context.Process(
                target=work, args=(order, path, first, jobs, theirs, list(pipes) if forks else []), daemon=True
            )
            process.start()
            processes.append(process)
            theirs.close()
        yield pipes
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def run_jobs(
    order: Order,
    path: Path,
    jobs: int,
    tally: Tally,
    write: Callable[[bytes, int], None],
    reject: Callable[[Reject], None],
    early: Notes | None,
    method: str | None = None,
    *,
    reserve: Callable[[int, int], int] | None = None,
) -> None:
    """Convert the rows of one file of JSON Lines in several processes, in order; adds to the tally.

    Workers write where `reserve` leaves room in the order's `place`; without it, `write` gets what they send.
    Raises what a single process would, and RuntimeError when a worker dies.
    """
    count = -(-path.stat().st_size // order.stretch)
    jobs = min(jobs, count)
    before = tally.read
    lines = 0
    with workers(order, path, jobs, method) as pipes:
        for number in range(count):
            pipe = pipes[number % jobs]
            part = receive(pipe)
            if reserve is None:
                data = pipe.recv_bytes()
                if part.tally.written:
                    write(data, part.tally.written)
            elif part.size:
                pipe.send(reserve(part.size, part.tally.written))
            shift = lines if not number else lines - 1
            for found in part.rejects:
                line = None if found.line is None else found.line + shift
                reject(replace(found, row=found.row + tally.read - before, line=line))
            add(tally, part.tally)
            if early is not None and part.early is not None:
                early.merge(part.early)
            lines += part.lines
        if reserve is not None:
            for pipe in pipes:
                receive(pipe)


def receive(pipe: Connection) -> Part:
    """The next part of a worker; raises the error that ended it."""
    try:
        part: Part = pipe.recv()
    except EOFError:
        raise RuntimeError("a worker process ended before its work was done") from None
    if part.error is not None:
        raise part.error
    return part


def add(tally: Tally, later: Tally) -> None:
    """Add the account of a later stretch of the same data."""
    later.notes.first = {kind: row + tally.read for kind, row in later.notes.first.items()}
    tally.notes.merge(later.notes)
    tally.read += later.read
    tally.written += later.written
    for mine, its in (
        (tally.aside, later.aside),
        (tally.rejected, later.rejected),
        (tally.lost_extras, later.lost_extras),
    ):
        mine.update(Counter(its))
