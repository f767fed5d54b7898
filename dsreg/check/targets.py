"""Targets: the export into nothing, through the code that exports, so that check and export never disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dsreg.check.finding import Finding, Severity
from dsreg.check.rows import KEPT
from dsreg.errors import DsregError
from dsreg.export import Nowhere, advise, run_rows
from dsreg.rowcode.errors import RowError
from dsreg.runner import Conversion, Reject, Tally

OF_NO_TARGET = ("DS406",)
"""Advice that is only worth a note."""


def target_findings(
    target: str,
    make: Callable[[], Conversion],
    shown: Callable[[Any], str],
    file: str,
    *,
    asked: bool,
    command: str = "export",
) -> Iterator[Finding]:
    """What an export to a target would say: that it is impossible, each reject, each advisory.

    `file` is where the dataset is registered; where it was not `asked` for by name, not to fit is only a note.
    `command` is the one that would do it.
    """
    refused = f"dsreg {command} --target {target} refuses"
    try:
        conversion = make()
    except DsregError as error:
        place, line = _place(error.where) if error.where else (file, None)
        effect = f"{refused} the dataset" if asked else "an export of all datasets leaves it out"
        severity: Severity = "error" if asked else "note"
        yield Finding("DS320", severity, f"{target}: {error.message}", place, line, None, "", effect, error.hint)
        return
    try:
        tally, rejects = run_into_nothing(conversion)
    except RowError as error:
        file = ", ".join(shown(path) for path in conversion.source.files)
        yield Finding(error.code, "error", f"{target}: {error.message}", file, None, None, "", f"{refused} the file")
        return
    except DsregError as error:
        place, line = _place(error.where)
        message = f"{target}: {error.message}"
        yield Finding("DS321", "error", message, place, line, None, "", f"{refused} the file", error.hint)
        return
    for reject in rejects:
        yield reject_finding(reject, shown, f"{target}: ", f"{refused} the row", tally.rejected[reject.code])
    yield from _on_the_whole(target, conversion, tally, shown)


def run_into_nothing(conversion: Conversion) -> tuple[Tally, list[Reject]]:
    """The account of a conversion that writes nothing, and the first rejects of each code; raises what `run` raises."""
    rejects: list[Reject] = []

    def keep(reject: Reject) -> None:
        if sum(other.code == reject.code for other in rejects) < KEPT:
            rejects.append(reject)

    return run_rows(conversion, Nowhere(), keep), rejects


def copy_findings(
    make: Callable[[], Conversion], shown: Callable[[Any], str], place: tuple[str, int | None]
) -> Iterator[Finding]:
    """What becomes of the rows of a dataset whose copy LlamaFactory reads: each reject, and the account.

    `place` is where the dataset's data is registered.
    """
    no_copy = "`dsreg sync` makes no copy for LlamaFactory"
    try:
        conversion = make()
        tally, rejects = run_into_nothing(conversion)
    except RowError as error:
        yield Finding(error.code, "error", error.message, *place, None, "", no_copy)
        return
    except DsregError as error:
        file, line = _place(error.where) if error.where else place
        hint = "" if error.hint.startswith("dsreg check") else error.hint
        yield Finding("DS321", "error", error.message, file, line, None, "", no_copy, hint)
        return
    for reject in rejects:
        yield reject_finding(reject, shown, "", no_copy, tally.rejected[reject.code])
    file = ", ".join(shown(path) for path in conversion.source.files)
    if tally.read and not tally.written:
        yield Finding("DS323", "error", f"no row can be written: {tally}", file, None, None, "", no_copy)
    elif tally.aside:
        message, count = f"not all rows are in the copy for LlamaFactory: {tally}", tally.aside.total()
        yield Finding("DS169", "warning", message, file, None, None, "", "it never sees those rows", "", count)


_HINTS = {"DS301": "--skip FEATURE leaves such rows out, --strip FEATURE takes it out of them where it can"}


def reject_finding(
    reject: Reject, shown: Callable[[Any], str], prefix: str, consequence: str, count: int, severity: Severity = "error"
) -> Finding:
    """A reject as a finding."""
    return Finding(
        reject.code,
        severity,
        reject.message if reject.message.startswith(prefix.rstrip(": ") or "\0") else f"{prefix}{reject.message}",
        shown(reject.source),
        reject.line,
        reject.row,
        reject.path,
        consequence,
        _HINTS.get(reject.code, ""),
        count,
    )


def unsaid(found: Iterable[Finding], said: list[Finding]) -> list[Finding]:
    """The findings but those on pairs and labels that were told of the dataset already."""
    told = {finding.code for finding in said if finding.code in _OF_PAIRS}
    return [finding for finding in found if finding.code not in told]


_OF_PAIRS = ("DS405", "DS406", "DS407")


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
    for advice in advise(conversion, tally) if tally.written else ():
        message = f"{target}: {advice.message}" if not advice.message.startswith(target) else advice.message
        severity: Severity = "note" if advice.code in OF_NO_TARGET else "warning"
        yield Finding(advice.code, severity, message, file, None, None, "", "", advice.hint)


def _place(where: str) -> tuple[str, int | None]:
    """File and line of an error's place."""
    file, _, line = where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (where, None)
