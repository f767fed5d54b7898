"""Whatever the rows and the choices: each row read is used, set aside or rejected, once; what is written is counted."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.errors import DataFileError, DsregError, UsageError
from dsreg.export import TooManyRejects, export
from dsreg.formats import built_in, find_format
from dsreg.rowcode.errors import RowError
from dsreg.runner import Choices, Conversion, Reject, make_conversion, run
from dsreg.source import make_source
from dsreg.tasks import FEATURES, STRIPPABLE, TASKS
from tests.test_properties import READABLE, samples, values, words

Row = dict[str, Any]
WRITABLE = sorted(format.id for format in built_in().values() if format.writes)
TAKES = [None, "chosen", "rejected", "desirable", "undesirable", "answer"]
JUNK = ["{", "[1]", "null", '"text"', "{} {}", '{"a": NaN}', "\x00", '{"a": "\\ud800"}', "1" * 30, "[" * 2000]


@st.composite
def lines(draw: st.DrawFn, format: str) -> list[str]:
    """Lines of a file: rows as the format's own writer makes them, rows of anything, and junk."""
    found = built_in()[format]
    columns = st.sampled_from(sorted(found.manifest.columns.values()))
    made = []
    for kind in draw(st.lists(st.sampled_from(["good", "good", "example", "any", "junk"]), max_size=8)):
        if kind == "junk":
            made.append(draw(st.sampled_from(JUNK)))
            continue
        row = draw(st.dictionaries(columns | words, values, max_size=5))
        if kind == "example":
            row = {**found.examples()[0], **draw(st.dictionaries(columns | words, values, max_size=2))}
        elif kind == "good" and found.writes:
            row = written(found.id, draw(samples(draw(st.sampled_from(found.manifest.tasks))))) or row
        made.append(json.dumps(row))
    return made


def written(format: str, sample: Row) -> Row | None:
    """A sample as a format's row; None where it has no place there."""
    from tests.test_properties import constants

    try:
        row: Row = built_in()[format].writer.write_row(sample, constants(built_in()[format], sample["task"], "write"))
    except RowError:
        return None
    return row


@st.composite
def conversions(draw: st.DrawFn, path: Path) -> Conversion | None:
    """A conversion of the file under choices that may or may not go together."""
    format = find_format(draw(st.sampled_from(sorted(format.id for format in READABLE))))
    path.write_text("".join(f"{line}\n" for line in draw(lines(format.id))) or "\n{}\n", "utf-8")
    columns = {name: column for name, column in format.manifest.columns.items() if draw(st.integers(0, 4))}
    target = find_format(draw(st.sampled_from(WRITABLE)))
    options = {name: "x" for name, o in target.manifest.options.items() if o.default == "" and not o.choices}
    choices = Choices(
        draw(st.sampled_from(TAKES)),
        frozenset(draw(st.lists(st.sampled_from(sorted(FEATURES)), max_size=2))),
        frozenset(draw(st.lists(st.sampled_from(sorted(STRIPPABLE)), max_size=2))),
        options,
    )
    try:
        return make_conversion(make_source("x", format, [path], columns), target, choices)
    except UsageError:
        return None


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_row_is_in_the_account_once(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        conversion = data.draw(conversions(path))
        if conversion is None:
            return
        count = sum(1 for line in path.read_text("utf-8").split("\n") if line.strip())
        rows: list[Any] = []
        rejects: list[Reject] = []
        try:
            tally = run(conversion, rows.append, rejects.append)
        except (DataFileError, RowError):
            return  # the file as a whole
        both = (conversion.source.task, conversion.steps.target.task) == ("preference", "kto")
        assert tally.read == count
        assert tally.written == len(rows) == tally.used * (2 if both else 1)
        assert tally.rejected.total() == len(rejects) == len({reject.row for reject in rejects})
        assert tally.used + tally.aside.total() + tally.rejected.total() == count
        assert all(1 <= reject.row <= count and reject.line for reject in rejects)
        assert conversion.steps.target.task in TASKS
        check_export(conversion, Path(folder), tally.rejected.total(), rows)


def check_export(conversion: Conversion, folder: Path, rejected: int, rows: list[Any]) -> None:
    """The same as a file: the rows that were given, as JSON; or nothing, where a row is rejected."""
    output = folder / "out.jsonl"
    try:
        report = export(conversion, output, container="jsonl")
    except TooManyRejects as error:
        assert rejected == error.report.tally.rejected.total() > 0 and not output.exists()
        return
    except DsregError:
        assert not output.exists()
        return
    found = [json.loads(line) for line in output.read_text("utf-8").split("\n") if line]
    assert not rejected and report.tally.written == len(found)
    assert json.dumps(found, sort_keys=True) == json.dumps(rows, sort_keys=True)
