"""Findings as lines of text, and as annotations of GitHub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dsreg.cli import output

if TYPE_CHECKING:
    from dsreg.check.bare import BareResult
    from dsreg.check.dataset import Result
    from dsreg.check.finding import Finding

SHOWN = 3
"""How many findings of one kind are printed; the rest is counted."""
# errors and warnings as they were found, from cause to effect: the registry, the entry, the file, the rows
NOT_LOCAL = "DS152"
"""Told by the summary, so that a registry of hub entries is one line for each."""
_ORDER = {"error": 0, "warning": 0, "note": 1}
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def show_text(findings: list[Finding]) -> None:
    """Print findings, notes last: one line each, what comes of it, and one hint for each kind."""
    kinds: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda found: _ORDER[found.severity]):
        if finding.code == NOT_LOCAL or (output.is_quiet() and finding.severity == "note"):
            continue
        kinds.setdefault((finding.code, finding.severity, finding.hint), []).append(finding)
    for same in kinds.values():
        for finding in same[:SHOWN]:
            output.data(_line(finding))
        more = max(len(same), same[0].count if same[0].row else 0) - min(len(same), SHOWN)
        if more > 0:
            output.data(f"  … and {more:,} more of {same[0].code}")
        if same[0].consequence:
            output.data(f"  so: {output.line(same[0].consequence)}")
        if same[0].hint:
            output.data(f"  {output.paint('hint:', 'hint')} {output.line(same[0].hint)}")


def _line(finding: Finding) -> str:
    place = output.line(f"{finding.file}:{finding.line}" if finding.line else finding.file)
    row = f" row {finding.row:,}" if finding.row else ""
    path = f" {output.line(finding.path)}:" if finding.path else ""
    severity = output.paint(finding.severity, finding.severity if finding.severity != "note" else "faint")
    message = output.cut(output.line(finding.message), 400)
    return f"{place}: {severity} {finding.code}{row}{':' if row and not path else ''}{path} {message}"


def show_github(findings: Iterable[Finding]) -> None:
    """Print findings as workflow commands, which GitHub shows beside the lines they are about."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] > SHOWN:
            continue
        fields = {"file": finding.file, "line": str(finding.line or ""), "title": finding.code}
        given = ",".join(f"{key}={_field(value)}" for key, value in fields.items() if value)
        texts = (finding.path and f"{finding.path}:", finding.message, finding.hint and f"({finding.hint})")
        message = _escaped(" ".join(text for text in texts if text))
        output.data(f"::{_COMMANDS[finding.severity]} {given}::{message}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _field(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def summary(result: Result | BareResult) -> str:
    """One line: how many rows there are and what becomes of them, in which stage, and which stages fit."""
    from dsreg.check.bare import BareResult

    if isinstance(result, BareResult):
        good = result.rows - result.rejected
        rows = f"{_rows(result.rows)}: {good:,} good, {result.rejected:,} refused"
        return f"{output.line(result.file)} as {result.format}: {rows if result.fatal is None else 'cannot be read'}"
    name = output.line(result.dataset or "dataset_info.json")
    if result.rows is None:
        if result.fatal is not None:
            return f"{name}: LlamaFactory stops at the {_STEPS[result.fatal['where']]} (stage {result.stage})"
        unread = next((found.message for found in result.findings if found.code == NOT_LOCAL), "no rows checked")
        return f"{name}: {output.line(unread)}"
    counts = result.counts
    parts = [f"{counts['ok']:,} kept", f"{counts['dropped']:,} dropped"]
    if counts["fatal"]:
        parts.append(f"{counts['fatal']:,} stop the run")
    fits = [stage for stage in result.fits if stage != result.stage]
    also = f"; fits {', '.join(fits)} as well" if result.stage in result.fits and fits else ""
    also = f"; fits {', '.join(fits)}" if result.stage not in result.fits and fits else also
    stops = "" if result.fatal is None or counts["fatal"] else "; the run stops all the same"
    return f"{name}: {_rows(result.rows)}: {', '.join(parts)} (stage {result.stage}{also}){stops}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


_STEPS = {
    "registry": "registry: it cannot use the entry",
    "stage": "stage: the entry does not fit",
    "load": "loading of the file",
    "align": "conversion of rows",
}
