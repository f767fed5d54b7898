"""The process that shares a file out among workers, and puts together what they make of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from dsreg.errors import DsregError
from dsreg.jobs.order import Order, Output, Part
from dsreg.jobs.worker import STOP, stretch_user, work
from dsreg.notes import Notes
from dsreg.rows.writer import RowWriter
from dsreg.runner import Reject, Tally

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


@dataclass
class Crew:
    """The workers of one file: the pipes to them, and to what each is given to work on, if it is."""

    pipes: list[Connection] = field(default_factory=list)
    feeds: list[Connection] = field(default_factory=list)

    def receive(self, number: int) -> Part:
        """What became of a stretch; raises the error of a worker that could not write."""
        part: Part = self.pipes[number % len(self.pipes)].recv()
        if part.error is not None:
            raise part.error
        return part

    def give(self, number: int, data: bytes) -> None:
        """Give a worker a stretch."""
        self.feeds[number % len(self.feeds)].send_bytes(data)

    def stop(self, first: int, *, sent: bool) -> None:
        """Let the workers whose turn is from that on write what has its place, and end; their rows may be `sent`."""
        for feed in self.feeds:
            with suppress(BrokenPipeError):
                feed.send_bytes(b"")
        for number in range(first, first + len(self.pipes)):
            pipe = self.pipes[number % len(self.pipes)]
            while not (part := self.receive(number)).last:
                if not part.failed:
                    if sent:
                        pipe.recv_bytes()
                    pipe.send(STOP)


def start_method() -> str:
    """How processes are started: as somebody said, or as is usual, but never by a fork where pyarrow has threads."""
    import multiprocessing

    said = multiprocessing.get_start_method(allow_none=True)
    return said or ("spawn" if "pyarrow" in sys.modules else multiprocessing.get_all_start_methods()[0])


@contextmanager
def crew(order: Order, jobs: int, *, fed: bool) -> Iterator[Crew]:
    """Start the workers of a file, `fed` if they are given what they work on, and end them whatever happens."""
    import multiprocessing

    context: Any = multiprocessing.get_context(start_method())
    forks = context.get_start_method() == "fork"
    made = Crew()
    processes = []
    try:
        for first in range(jobs):
            ours, theirs = context.Pipe()
            made.pipes.append(ours)
            taken = None
            if fed:
                taken, given = context.Pipe(duplex=False)
                made.feeds.append(given)
            others = [*made.pipes, *made.feeds] if forks else []
            process = context.Process(target=work, args=(order, first, jobs, theirs, taken, others), daemon=True)
            process.start()
            processes.append(process)
            theirs.close()
            if taken is not None:
                taken.close()
        yield made
    except (EOFError, BrokenPipeError, ConnectionResetError):
        message = "a process that converted rows was ended before its work was done"
        raise DsregError(message, hint="was there too little memory? -j 1 needs less") from None
    finally:
        for pipe in (*made.pipes, *made.feeds):
            pipe.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def run_jobs(
    order: Order,
    jobs: int,
    tally: Tally,
    output: Output,
    reject: Callable[[Reject], None],
    early: Notes | None = None,
) -> None:
    """Convert the rows of one file in several processes, in order; adds to the tally.

    What a worker cannot convert, and all that follows, is converted here. Raises what a single process would, and
    DsregError when a worker dies.
    """
    jobs = min(jobs, -(-order.shares.path.stat().st_size // order.shares.length))
    whole = Whole(order, tally, output, reject, early)
    supply = order.shares.feed()
    with crew(order, jobs, fed=supply is not None) as workers:
        if supply is not None:
            for number in range(jobs):
                workers.give(number, next(supply, b""))
        for number in count():
            following = next(supply, b"") if supply is not None else b""
            part = workers.receive(number)
            if part.last or part.failed:
                break
            pipe = workers.pipes[number % jobs]
            data = pipe.recv_bytes() if order.place is None else None
            pipe.send(whole.place(part, data))
            if supply is not None:
                workers.give(number, following)
            whole.add(part)
        if part.failed:
            workers.stop(number, sent=order.place is None)
        else:
            for other in range(number + 1, number + jobs):
                workers.receive(other)
    if part.failed:
        whole.finish(number)


class Whole:
    """Puts the parts of a file together."""

    def __init__(
        self, order: Order, tally: Tally, output: Output, reject: Callable[[Reject], None], early: Notes | None
    ) -> None:
        self.order, self.tally, self.output, self.reject, self.early = order, tally, output, reject, early
        self.before = tally.read
        self.lines = self.parts = 0

    def place(self, part: Part, data: bytes | None) -> int:
        """Where the rows of the next part go; its data are written, if they are there."""
        if not part.size:
            return 0
        if data is not None:
            self.output.write_joined(data, part.tally.written)
            return 0
        assert isinstance(self.output, RowWriter)
        return self.output.reserve(part.size, part.tally.written)

    def add(self, part: Part) -> None:
        """Add what became of the next stretch."""
        shift = self.lines - 1 if self.parts else 0  # only the first line of a file has the number 1 in its part
        for found in part.rejects:
            line = None if found.line is None else found.line + shift
            self.reject(replace(found, row=found.row + self.tally.read - self.before, line=line))
        add(self.tally, part.tally)
        if self.early is not None and part.early is not None:
            self.early.merge(part.early)
        self.lines += part.lines
        self.parts += 1

    def finish(self, number: int) -> None:
        """Convert here what begins with that stretch."""
        use = stretch_user(self.order)
        rows = self.tally.read - self.before

        def reject(found: Reject) -> None:
            self.reject(replace(found, row=found.row + rows))

        with self.order.shares.rest(number, self.lines + 1) as source:
            use(source, self.tally, self.output, reject, self.early)


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
