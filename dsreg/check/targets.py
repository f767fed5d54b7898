"""Targets: the export into nothing, through the code that exports, so that check and export never disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dsreg.check.finding import Finding, Severity
from dsreg.check.rows import KEPT
from dsreg.errors import DsregError
from dsreg.export import advise
from dsreg.rowcode.errors import RowError
from dsreg.runner import Conversion, Reject, Tally, run


def target_findings(target: str, make: Callable[[], Conversion], shown: Callable[[Any], str]) -> Iterator[Finding]:
    """What an export to a target would say: that it is impossible, each reject, each advisory."""
    refused = f"dsreg export --target {target} refuses"
    try:
        conversion = make()
    except DsregError as error:
        file, line = _place(error.where)
        yield Finding(
            "DS320", "error", f"{target}: {error.message}", file, line, None, "", f"{refused} the dataset", error.hint
        )
        return
    rejects: list[Reject] = []

    def keep(reject: Reject) -> None:
        if sum(other.code == reject.code for other in rejects) < KEPT:
            rejects.append(reject)

    try:
        tally = run(conversion, lambda row: None, keep)
    except RowError as error:
        file = ", ".join(shown(path) for path in conversion.source.files)
        yield Finding(error.code, "error", f"{target}: {error.message}", file, None, None, "", f"{refused} the file")
        return
    except DsregError as error:
        file, line = _place(error.where)
        yield Finding(
            "DS321", "error", f"{target}: {error.message}", file, line, None, "", f"{refused} the file", error.hint
        )
        return
    for reject in rejects:
        yield reject_finding(reject, shown, f"{target}: ", f"{refused} the row", tally.rejected[reject.code])
    yield from _on_the_whole(target, conversion, tally, shown)


def reject_finding(
    reject: Reject, shown: Callable[[Any], str], prefix: str, consequence: str, count: int, severity: Severity = "error"
) -> Finding:
    """A reject as a finding."""
    return Finding(
        reject.code,
        severity,
        f"{prefix}{reject.message}",
        shown(reject.source),
        reject.line,
        reject.row,
        reject.path,
        consequence,
        "",
        count,
    )


def _on_the_whole(target: str, conversion: Conversion, tally: Tally, shown: Callable[[Any], str]) -> Iterator[Finding]:
    """Advisories, columns without a place, and a target that would get no row."""
    files = conversion.source.files
    file = shown(files[0] if len(files) == 1 else Path(files[0]).parent) if files else ""
    if tally.lost_extras:
        lost = ", ".join(f"{name} ({count:,})" for name, count in tally.lost_extras.items())
        message = f"{target}: no place for the columns {lost}"
        yield Finding("DS322", "note", message, file, None, None, "", "they are left out")
    if tally.read and not tally.written:
        message = f"{target}: none of {tally.read:,} rows can be written"
        yield Finding("DS323", "error", message, file, None, None, "", "the export would be empty")
    for advice in advise(conversion, tally):
        message = f"{target}: {advice.message}" if not advice.message.startswith(target) else advice.message
        yield Finding(advice.code, "warning", message, file, None, None, "", "", advice.hint)


def _place(where: str) -> tuple[str, int | None]:
    """File and line of an error's place."""
    file, _, line = where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (where, None)
