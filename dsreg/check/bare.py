"""A file without a registry, as rows of a format: what its readers and its consumer would refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsreg.check.consumer import llamafactory_findings
from dsreg.check.file import type_changes
from dsreg.check.finding import Finding
from dsreg.check.rows import KEPT
from dsreg.errors import DataFileError, DsregError, UsageError
from dsreg.export import advise
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.pipeline import SetAside, convert_row
from dsreg.rows import BadRow
from dsreg.runner import Choices, Conversion, Tally, make_conversion, make_reject, stream_rows
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
    shown: Callable[[Any], str] = str,
    verdicts: bool = False,
) -> BareResult:
    """Read every row as `format` and, where that is also a target, write it back; raises NotFoundError.

    A format that writes refuses what its consumer would refuse, so a row that cannot be written back is no row of it.
    """
    from dsreg.api import file_source

    result = BareResult(shown(path), format)
    try:
        source, _ = file_source(path, format=format, columns=columns, tags=tags, options=options)
    except (UsageError, DataFileError) as error:
        _refuse(result, error, path, shown)
        return result
    conversion, tally = _round(source, options or {}), Tally()
    try:
        _go_through(source, conversion, result, tally, shown, keep=verdicts)
    except DataFileError as error:
        _refuse(result, error, path, shown)
        return result
    result.findings += _on_the_whole(source, conversion, tally, result.file)
    if source.format.manifest.for_[0] == "llamafactory":
        refused = {finding.row for finding in result.findings}
        found = llamafactory_findings(path, source, shown)
        result.findings += [finding for finding in found if finding.row not in refused or not finding.row]
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


def _go_through(
    source: Source,
    conversion: Conversion | None,
    result: BareResult,
    tally: Tally,
    shown: Callable[[Any], str],
    *,
    keep: bool,
) -> None:
    """Read all rows, and write them back."""
    counts: Counter[str] = Counter()
    observe = source.format.part("advise") if conversion is not None else None
    found: list[Finding] = []
    for stream, value in stream_rows(source):
        tally.read += 1
        error = _error_of(value, source, conversion, tally, observe)
        if keep:
            result.verdicts.append("ok" if error is None else "rejected")
        if error is not None:
            result.rejected += 1
            counts[error.code] += 1
            if counts[error.code] <= KEPT:
                reject = make_reject(stream, value, error)
                found.append(
                    Finding(
                        reject.code,
                        "error",
                        reject.message,
                        shown(reject.source),
                        reject.line,
                        reject.row,
                        reject.path,
                        f"this is no row of {source.format.id}",
                    )
                )
    result.rows = tally.read
    result.findings += [_counted(finding, counts[finding.code]) for finding in found]


def _counted(finding: Finding, count: int) -> Finding:
    from dataclasses import replace

    return replace(finding, count=count)


def _error_of(value: Any, source: Source, conversion: Conversion | None, tally: Tally, observe: Any) -> RowError | None:
    """Why a row is none of the format's, or None."""
    try:
        if isinstance(value, BadRow):
            raise RowError(value.code, value.path, value.message)
        if conversion is None:
            from dsreg.rowcode.columns import as_object

            source.format.reader.read_row(as_object(value, ""), source.constants)
            return None
        for row in convert_row(value, conversion.steps):
            tally.written += 1
            if observe is not None:
                observe.observe(row, tally.read, tally.notes, conversion.steps.target)
    except RowError as error:
        return error
    except SetAside:
        return None
    return None


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
