"""A file without a registry, as rows of a format: what its readers and its consumer would refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dsreg.check.consumer import llamafactory_findings
from dsreg.check.file import type_changes
from dsreg.check.finding import Finding
from dsreg.check.rows import KEPT
from dsreg.check.targets import reject_finding, target_findings, unsaid
from dsreg.errors import DataFileError, DsregError, UsageError
from dsreg.export import advise
from dsreg.formats import Format
from dsreg.rowcode.columns import as_object
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.pipeline import convert_row
from dsreg.rows import BadRow, sniff
from dsreg.runner import Choices, Conversion, Reject, Tally, make_conversion, make_reject, stream_rows
from dsreg.source import Source


@dataclass
class BareResult:
    """What a format says of a file."""

    file: str
    format: str
    rows: int = 0
    rejected: int = 0
    fatal: dict[str, str] | None = None
    verdicts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def as_json(self, *, verdicts: bool) -> dict[str, Any]:
        """The object that `check FILE --json` prints."""
        shown = {"verdicts": self.verdicts} if verdicts else {}
        return {
            "file": self.file,
            "format": self.format,
            "fatal": self.fatal,
            "counts": {"ok": self.rows - self.rejected, "rejected": self.rejected},
            **shown,
            "issues": [finding.as_json() for finding in self.findings],
        }


def check_file(
    path: Path,
    format: str,
    *,
    columns: dict[str, str] | None = None,
    tags: dict[str, str] | None = None,
    options: dict[str, Any] | None = None,
    targets: Iterable[Format] = (),
    choices: Choices | None = None,
    shown: Callable[[Any], str] = str,
    verdicts: bool = False,
) -> BareResult:
    """Read every row as `format` and, where that is also a target, write it back; raises NotFoundError.

    A format that writes refuses what its consumer would refuse, so a row that cannot be written back is no row of it.
    For each of `targets` the export is run into nothing, under `choices`.
    """
    from dsreg.api import file_source

    result = BareResult(shown(path), format)
    try:
        source, _ = file_source(path, format=format, columns=columns, tags=tags, options=options)
    except (UsageError, DataFileError) as error:
        _refuse(result, error, path, shown)
        return result
    one = _Pass(source, _round(source, options or {}), verdicts)
    try:
        one.run()
    except DataFileError as error:
        _refuse(result, error, path, shown)
        return result
    result.rows, result.rejected, result.verdicts = one.tally.read, one.tally.rejected.total(), one.verdicts
    effect = f"this is no row of {format}"
    result.findings += [
        reject_finding(reject, shown, "", effect, one.tally.rejected[reject.code]) for reject in one.rejects
    ]
    result.findings += _as_it_stands(one, path, result.file)
    result.findings += _on_the_whole(source, one.conversion, one.tally, result.file)
    if source.format.manifest.for_[0] == "llamafactory":
        refused = {finding.row for finding in result.findings}
        found = llamafactory_findings(path, source, shown)
        result.findings += [finding for finding in found if finding.row not in refused or not finding.row]
    for target in targets:
        make = partial(make_conversion, source, target, choices)
        found_there = target_findings(target.id, make, shown, result.file, asked=True, command="convert")
        result.findings += unsaid(found_there, result.findings)
    return result


def _refuse(result: BareResult, error: DsregError, path: Path, shown: Callable[[Any], str]) -> None:
    """The file as a whole is no file of the format."""
    line = error.where.rpartition(":")[2]
    where = "load" if isinstance(error, DataFileError) else "format"
    result.fatal = {"where": where, "message": error.message}
    code = "DS125" if where == "load" else "DS324"
    place = int(line) if line.isdigit() else None
    result.findings.append(
        Finding(code, "error", error.message, shown(path), place, None, "", "no row can be used", error.hint)
    )


def _round(source: Source, options: dict[str, Any]) -> Conversion | None:
    """The way from the format back to itself; None where it is no target or cannot hold the task."""
    if not source.format.writes:
        return None
    try:
        return make_conversion(source, source.format, Choices(options=dict(options)))
    except UsageError:
        return None


@dataclass
class _Pass:
    """One pass over the rows of a file: what was refused, and what is written otherwise than it stands."""

    source: Source
    conversion: Conversion | None
    keep_verdicts: bool
    tally: Tally = field(default_factory=Tally)
    rejects: list[Reject] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    altered: int = 0
    first_altered: tuple[int, str] = (0, "")

    def run(self) -> None:
        """Read all rows, and write them back; raises DataFileError for a file that cannot be read on."""
        for stream, value in stream_rows(self.source):
            self.tally.read += 1
            try:
                self._take(value)
            except RowError as error:
                self.tally.rejected[error.code] += 1
                if self.tally.rejected[error.code] <= KEPT:
                    self.rejects.append(make_reject(stream, value, error))
                verdict = "rejected"
            else:
                verdict = "ok"
            if self.keep_verdicts:
                self.verdicts.append(verdict)

    def _take(self, value: Any) -> None:
        if isinstance(value, BadRow):
            raise RowError(value.code, value.path, value.message)
        if self.conversion is None:
            self.source.format.reader.read_row(as_object(value, ""), self.source.constants)
            return
        rows = convert_row(value, self.conversion.steps)
        advise = self.source.format.part("advise")
        for row in rows:
            self.tally.written += 1
            if advise is not None:
                advise.observe(row, self.tally.read, self.tally.notes, self.conversion.steps.target)
        if len(rows) == 1 and rows[0] != value:
            self.altered += 1
            if self.altered == 1:
                self.first_altered = (self.tally.read, difference(value, rows[0]))


def difference(left: Any, right: Any, path: str = "") -> str:
    """The first place where two JSON values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            inner = f"{path}.{key}" if path else str(key)
            if key not in left or key not in right:
                return inner
            if left[key] != right[key]:
                return difference(left[key], right[key], inner)
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for at, (one, other) in enumerate(zip(left, right, strict=True)):
            if one != other:
                return difference(one, other, f"{path}[{at}]")
    return path


def _as_it_stands(one: _Pass, path: Path, file: str) -> Iterator[Finding]:
    """What dsreg reads all the same, and a consumer may not: rows and files that it would write otherwise."""
    format = one.source.format
    hint = f"dsreg convert {file} --format {format.id} --target {format.id} writes it as it should be"
    if one.altered:
        row, place = one.first_altered
        rows = f"{one.altered:,} row{'s' if one.altered > 1 else ''}"
        message = f"dsreg would write {rows} otherwise, first row {row:,} at {place or 'its top'}"
        effect = "consumers may refuse the file as it stands"
        yield Finding("DS325", "note", message, file, None, None, "", effect, hint, one.altered)
    manifest = format.manifest
    if not format.writes or manifest.container != "jsonl" or manifest.for_[0] in _READ_THROUGH_DATASETS:
        return
    for source in one.source.files:
        with source.open("rb") as stream:
            marked = stream.read(3) == b"\xef\xbb\xbf"
        if marked or sniff(source) != "jsonl":
            what = "begins with a byte order mark" if marked else "is no JSON Lines, one row a line"
            message = f"{path.name if source == path else source.name} {what}"
            yield Finding(
                "DS326", "warning", message, file, None, None, "", "consumers may refuse the file as it stands", hint
            )


_READ_THROUGH_DATASETS = ("llamafactory", "trl", "verl")
"""Whoever loads through `datasets` takes arrays, CSV and Parquet as well."""


def _on_the_whole(source: Source, conversion: Conversion | None, tally: Tally, file: str) -> Iterator[Finding]:
    """Columns of several types, and what the format advises."""
    rows = (value for _, value in stream_rows(source) if isinstance(value, dict))
    mapped = set(source.constants.columns.values())
    advice_given = list(advise(conversion, tally)) if conversion is not None and tally.written else []
    told = " ".join(advice.message for advice in advice_given)
    for name, text in type_changes(rows):
        if name not in mapped and f"`{name}`" not in told:
            consequence = "loaders that go through Arrow fail on it"
            yield Finding("DS148", "note", text, file, None, None, "", consequence, "write one type in a column")
    for advice in advice_given:
        yield Finding(advice.code, "warning", advice.message, file, None, None, "", "", advice.hint)
