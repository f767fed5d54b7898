"""Convert rows that are text only without decoding their texts; every other row goes the portable way, in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dsreg.fast.blocks import Blocks, Rows
from dsreg.fast.plan import Plan, make_plan
from dsreg.fast.reserved import reserved
from dsreg.jobs.crew import run_jobs
from dsreg.jobs.order import order_of
from dsreg.jobs.quick import jobs_for
from dsreg.jobs.stretches import Shares, share
from dsreg.notes import Notes
from dsreg.registered import PEEK_ROWS, peek
from dsreg.rowcode.constants import Constants
from dsreg.rows.arrays import SPACE
from dsreg.rows.decode import Decoder, has_long_integer
from dsreg.rows.encode import encode
from dsreg.rows.sniff import container_of
from dsreg.rows.source import BLOCK, Source
from dsreg.rows.stream import RowStream
from dsreg.runner import (
    Conversion,
    Mistaken,
    Place,
    Reject,
    Tally,
    must_survey,
    row_user,
    show_samples,
    stream_rows,
    survey,
    survey_rows,
)

REST = 15
"""How many blocks are converted row by row at once after one of which most rows had to be."""


class Misaligned(Exception):
    """The rows that a block was decoded to are not one for each of its lines."""


class Output(Protocol):
    """Where encoded rows go; `separator` stands between two of them."""

    @property
    def separator(self) -> bytes:
        """What stands between two rows."""

    def write_joined(self, data: bytes, rows: int) -> None:
        """Write some rows with the separator between them."""


class At(NamedTuple):
    """Where a row stands."""

    path: Path
    row: int
    line: int | None


def plan_for(conversion: Conversion) -> Plan | None:
    """The plan of a conversion, with the further columns of its first rows; None where it has no fast way."""
    return make_plan(conversion, columns_seen(conversion))


def columns_seen(conversion: Conversion) -> list[str]:
    """The keys of the first rows."""
    return list(dict.fromkeys(key for row in peek(conversion.source.files) for key in row))


def decide_early(conversion: Conversion) -> Notes | None:
    """Let the writer of a surveyed target decide by the first rows; None where it has to see all rows first.

    Text-only rows are alike for it, and the others are shown to it while they are written. Raises what `decide` does.
    """
    if not conversion.target.manifest.text.get("write", {}).get("style"):
        return None
    if not must_survey(conversion):
        return None
    return survey_rows(conversion, (value for _, value in stream_rows(conversion.source, PEEK_ROWS)))


def run_fast(
    conversion: Conversion,
    output: Output,
    reject: Callable[[Reject], None],
    *,
    early: bool = False,
    jobs: int | None = 1,
) -> Tally | None:
    """Convert all rows of a source, as `dsreg.runner.run` does; None where there is no fast way for it.

    The rows written are equal as JSON to those of `run`, and so are rejects, account and notes. With `early`, a writer
    that must see all rows decides by the first ones. Raises what `run` does, and Mistaken when that decision does not
    hold: what was written does not count then.
    """
    target = conversion.steps.target
    if "read" not in conversion.source.format.manifest.text or "write" not in conversion.target.manifest.text:
        return None
    before = dict(target.options)
    notes = decide_early(conversion) if early else None
    if notes is None:
        survey(conversion, None)
    plan = plan_for(conversion)
    if plan is None:
        target.options = before
        return None
    tally = Tally()
    for path in conversion.source.files:
        run_file(Run(conversion, plan, tally, output, reject, notes), path, jobs_for(path, jobs))
    if notes is not None:
        again = Constants(target.task, target.columns, options=dict(before))
        conversion.target.writer.decide(notes, again)
        if again.options != target.options:
            target.options = before
            raise Mistaken
    return tally


def run_file(run: Run, path: Path, jobs: int) -> None:
    """Convert the rows of one file, in several processes if that is wanted and can be."""
    with Source(path) as source:
        container = container_of(source)
        shares = share(source, container)
        if shares is None or (jobs == 1 and container != "jsonl"):
            run_source(run, source, container)
            return
    if jobs == 1:
        run_stretches(run, shares)
        return
    order = order_of(run.conversion, shares, run.output, columns_seen(run.conversion), early=run.early is not None)
    run_jobs(order, jobs, run.tally, run.output, run.reject, run.early)


def run_stretches(run: Run, shares: Shares) -> None:
    """Convert lines stretch by stretch, as several processes do: so the same rows go the fast way, whoever does it."""
    line = 1
    for source, _ in shares.stretches(0, 1, shares.feed() or iter(())):
        source.line = line
        line = run_source(run, source, "jsonl")


def run_source(run: Run, source: Source, container: str) -> int:
    """Convert the rows of a file, or of a piece of one; gives the number of the line after those of JSON Lines."""
    line = source.line
    run.blocks.portable = 0
    if container == "jsonl":
        for rows in run.blocks.of_lines(source, line):
            run.block(source.path, rows, rest=REST)
            line += rows.lines
    elif container == "json" and source.peek(BLOCK).lstrip(SPACE)[:1] == b"[":
        for rows in run.blocks.of_array(source):
            run.block(source.path, rows)
    else:
        run.stream(RowStream(source, container, run.decoder))
    return line


@dataclass
class Run:
    """One pass over a file; adds to the tally."""

    conversion: Conversion
    plan: Plan
    tally: Tally
    output: Output
    reject: Callable[[Reject], None]
    early: Notes | None = None

    def __post_init__(self) -> None:
        source = self.conversion.steps.source
        self.decoder = Decoder({*source.columns.values(), *source.extras})
        self.blocks = Blocks(self.plan.row_type, self.decoder)
        self.row = 0
        self._made: list[bytes] = []
        self._rows = 0
        self._convert_row = row_user(self.conversion, self.tally, self._encode, self.reject)

    def _use(self, place: Place, value: Any) -> None:
        """Convert one row the portable way."""
        if self.early is not None:
            show_samples(self.conversion, value, self.early)
        self._convert_row(place, value)

    def _encode(self, row: dict[str, Any]) -> None:
        self._add(encode(row, str(getattr(self.output, "path", "")), self.tally.written), 1)

    def _add(self, data: bytes, rows: int) -> None:
        self._made.append(data)
        self._rows += rows

    def stream(self, stream: RowStream) -> None:
        """Convert rows of a file that is no JSON text, one by one."""
        for value in stream:
            self._use(stream, value)
            if len(self._made) >= 256:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        if self._made:
            made = self._made[0] if len(self._made) == 1 else self.output.separator.join(self._made)
            self.output.write_joined(made, self._rows)
            self._made, self._rows = [], 0

    def block(self, path: Path, rows: Rows, rest: int = 0) -> None:
        """Convert the rows of one block; after one that is mostly odd, `rest` others go the portable way at once."""
        number = self.tally.read
        if self.blocks.portable:
            self.blocks.portable -= 1
            pieces: list[bytes] = []
            left, notes = [(i, 0) for i in range(len(rows.typed))], Notes()
        else:
            pieces, left, notes, rows = self._convert(rows)
            if len(left) * 2 > len(rows.typed):
                self.blocks.portable = rest
        count = len(rows.typed)
        row = at = 0
        for odd, before in [*left, (count, len(pieces))]:
            if odd > row:
                self._text_only(pieces[at:before], odd - row)
            if odd < count:
                self.tally.read = number + odd
                self._use(At(path, self.row + odd + 1, rows.line(odd)), rows.value(odd))
            row, at = odd + 1, before
        self._note(notes, number)
        self.tally.read = number + count
        self.row += count
        self._flush()

    def _text_only(self, pieces: list[bytes], rows: int) -> None:
        """Take some rows that follow each other, in pieces; the first begins with the separator."""
        pieces[0] = pieces[0].removeprefix(self.output.separator)
        self._add(b"".join(pieces), rows)
        self.tally.written += rows

    def _convert(self, rows: Rows) -> tuple[list[bytes], list[tuple[int, int]], Notes, Rows]:
        """The pieces of the rows of a block that are text only, where the others stand, and what to note about them."""
        if self.plan.reserved and reserved(rows.text):
            for i, (start, end) in enumerate(pairwise(rows.starts())):
                if reserved(rows.text, start, end):
                    rows.typed[i] = None
        notes = Notes()
        lost: list[str] = []

        def odd(i: int, spare: int) -> bool:
            """Whether the strict parser must see a row, which has `spare` bytes more than its values."""
            raw = rows.raw(i)
            if spare < 0 and not self.blocks.is_row(raw):
                raise Misaligned
            return has_long_integer(raw) or self.decoder.may_repeat(raw)

        try:
            pieces, left = self.plan.convert(rows.typed, rows.lengths, odd, notes.see, lost, self.output.separator)
        except Misaligned:
            return self._convert(rows.exactly())
        self.tally.lost_extras.update(Counter(lost))
        converted = len(rows.typed) - len(left)
        if self.plan.row_note and converted:
            others = {i for i, _ in left}
            notes.see(self.plan.row_note, next(i for i in range(len(rows.typed)) if i not in others), converted)
        return pieces, left, notes, rows

    def _note(self, notes: Notes, before: int) -> None:
        """Add what was noticed about the rows of one block, whose numbers count from 0."""
        self.tally.notes.counts.update(notes.counts)
        for kind, row in notes.first.items():
            number = before + row + 1
            self.tally.notes.first[kind] = min(self.tally.notes.first.get(kind, number), number)
