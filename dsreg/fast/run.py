"""Convert rows that are text only without decoding their texts; every other row goes the portable way, in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from pathlib import Path
from typing import Any, Protocol

from dsreg.fast.blocks import Blocks, Rows
from dsreg.fast.plan import Made, Plan, make_plan
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

REST, LONGEST_REST = 7, 31
"""How many blocks are converted row by row at once after one of which most rows had to be, and after several."""


class Output(Protocol):
    """Where encoded rows go; `separator` stands between two of them."""

    @property
    def separator(self) -> bytes:
        """What stands between two rows."""

    def write_joined(self, data: bytes, rows: int) -> None:
        """Write some rows with the separator between them."""


class At:
    """Where the row of a block stands that is converted: `i` is its place in the block, whose rows follow `before`."""

    def __init__(self, path: Path, rows: Rows, before: int) -> None:
        self.path = path
        self.i = 0
        self._rows = rows
        self._before = before

    @property
    def row(self) -> int:
        """The number of the row in the file, from 1."""
        return self._before + self.i + 1

    @property
    def line(self) -> int | None:
        """The line where the row begins, from 1."""
        return self._rows.line(self.i)


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
    write = conversion.target.manifest.text.write
    if write is None or not write.style or not must_survey(conversion):
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
    if conversion.source.format.manifest.text.read is None or conversion.target.manifest.text.write is None:
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
    for stretch in shares.stretches(0, 1, shares.feed() or iter(())):
        stretch.source.line = line
        run_source(run, stretch.source, "jsonl")
        line = stretch.source.line


def run_source(run: Run, source: Source, container: str) -> None:
    """Convert the rows of a file, or of a piece of one."""
    run.blocks.portable = run.rest = 0
    if container == "jsonl":
        for rows in run.blocks.of_lines(source):
            run.block(source.path, rows, rest=True)
    elif container == "json" and source.peek(BLOCK).lstrip(SPACE)[:1] == b"[":
        for rows in run.blocks.of_array(source):
            run.block(source.path, rows)
    else:
        run.stream(RowStream(source, container, run.decoder))


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
        self.row = self.rest = 0
        self._name = str(getattr(self.output, "path", ""))
        self._made: list[bytes] = []
        self._rows = 0
        self._convert_row = row_user(self.conversion, self.tally, self._encode, self.reject)

    def _use(self, place: Place, value: Any) -> None:
        """Convert one row the portable way."""
        if self.early is not None:
            show_samples(self.conversion, value, self.early)
        self._convert_row(place, value)

    def _encode(self, row: dict[str, Any]) -> None:
        self._made.append(encode(row, self._name, self.tally.written))
        self._rows += 1

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

    def block(self, path: Path, rows: Rows, *, rest: bool = False) -> None:
        """Convert the rows of one block; with `rest`, some go the portable way at once after one that is mostly odd."""
        rests = self.blocks.portable > 0
        if rests:
            self.blocks.portable -= 1
            made, joined = Made([b""] * len(rows.typed), [], {}, {}), b""
        else:
            made, joined, rows = self._convert(rows)
        number, count = self.tally.read, len(rows.typed)
        left = [] if all(made.rows) else [i for i, row in enumerate(made.rows) if not row]
        if left:
            self._mixed(path, rows, made.rows, left)
        elif count:
            self._add(joined, count)
            self.tally.written += count
        if rest and not rests:
            self.rest = min(2 * self.rest + REST, LONGEST_REST) if len(left) * 2 > count else 0
            self.blocks.portable = self.rest
        self._note(made, number, all_kept=not left)
        self.tally.read = number + count
        self.row += count
        self._flush()

    def _mixed(self, path: Path, rows: Rows, made: list[bytes], left: list[int]) -> None:
        """Take the rows of a block of which some are left to the portable way."""
        number, row = self.tally.read, 0
        at = At(path, rows, self.row)
        for odd in [*left, len(made)]:
            if odd > row:
                self._add(self._joined(made[row:odd]), odd - row)
                self.tally.written += odd - row
            if odd < len(made):
                self.tally.read = number + odd
                at.i = odd
                self._use(at, rows.value(odd))
            row = odd + 1

    def _joined(self, rows: list[bytes]) -> bytes:
        """Rows that follow each other, each of which has the separator before it."""
        return b"".join([rows[0].removeprefix(self.output.separator), *rows[1:]]) if rows else b""

    def _convert(self, rows: Rows) -> tuple[Made, bytes, Rows]:
        """What the rows of a block became, joined; and the rows, which may have had to be decoded anew."""
        made = Made(*self.plan.convert(rows.typed, self.output.separator))
        joined = self._drop_found(made)
        sizes = list(map(add, map(len, made.rows), made.costs))
        doubtful = rows.doubtful(sizes, self.plan.limit)
        if doubtful is None:
            return self._convert(rows.exactly())
        self._drop_repeats(rows, made, doubtful)
        return made, joined, rows

    def _drop_found(self, made: Made) -> bytes:
        """Drop the rows in which something is that the loop does not look for; what the others are, joined."""
        kept = made.rows if all(made.rows) else list(filter(None, made.rows))
        joined = self._joined(kept)
        found = {row for search in self.plan.searches for row in search.rows(joined, kept)}
        if found:
            places = [i for i, row in enumerate(made.rows) if row]
            for i in found:
                made.rows[places[i]] = b""
                made.costs[places[i]] = 0
        return joined

    def _drop_repeats(self, rows: Rows, made: Made, doubtful: list[int]) -> None:
        """Drop the rows in which a column may stand twice.

        A compact row has no bytes to spare, and one in which a column stands twice as many as this column takes.
        """
        if len(doubtful) * 4 > len(made.rows) and not self._may_repeat(rows):
            return
        for i in doubtful:
            if made.rows[i]:
                raw = rows.raw(i)
                if has_long_integer(raw) or self.decoder.may_repeat(raw):
                    made.rows[i] = b""

    def _may_repeat(self, rows: Rows) -> bool:
        """Whether a column may stand twice in one of the rows of a block."""

        def holders(key: str) -> int:
            if key not in self.plan.fields:
                return 0
            name, default = self.plan.fields[key]
            return sum([getattr(row, name, default) is not default for row in rows.typed])

        return has_long_integer(rows.text) or self.decoder.may_repeat_in(rows.text, holders)

    def _note(self, made: Made, before: int, *, all_kept: bool) -> None:
        """Note what there is to note about the rows of one block, whose numbers count from 0."""
        for kind, rows in made.noted.items():
            self._see(kind, rows if all_kept else [i for i in rows if made.rows[i]], before)
        if self.plan.layout.row_note:
            count = range(len(made.rows))
            self._see(self.plan.layout.row_note, count if all_kept else [i for i in count if made.rows[i]], before)
        for column, rows in made.lost.items():
            if lost := sum(bool(made.rows[i]) for i in rows):
                self.tally.lost_extras[column] += lost

    def _see(self, kind: str, rows: Sequence[int], before: int) -> None:
        if rows:
            number = before + rows[0] + 1
            self.tally.notes.counts[kind] += len(rows)
            self.tally.notes.first[kind] = min(self.tally.notes.first.get(kind, number), number)
