"""What an export did, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dsreg.cli import output

if TYPE_CHECKING:
    from dsreg.export import Report

_SHOWN = 5
_SHOWN_COLUMNS = 20


def tell_report(report: Report, *, output_shown: str) -> None:
    """Say where a conversion was written, its account, and what is worth knowing about it."""
    output.say(f"{report.name} -> {output_shown}")
    output.say(f"  {report.tally}")
    if report.effect:
        output.say(f"  {report.effect}")
    if report.tally.lost_extras:
        lost = ", ".join(f"{output.cut(name, 60)} ({count:,})" for name, count in _most(report.tally.lost_extras))
        output.say(f"  no place in {report.target}: {lost}")
    if report.rejects:
        show_rejects(report)
    if report.rejects_path:
        output.say(f"  rejects: {output.path(report.rejects_path)}")
    for path in report.descriptors:
        output.say(f"  beside it: {output.path(path)}")
    for advice in report.advice:
        hint = f" ({advice.hint})" if advice.hint else ""
        output.say(f"  note {advice.code} {advice.message}{hint}")


def _most(lost: Counter[str]) -> list[tuple[str, int]]:
    """The first columns that were lost; where there are many, what they are is the data's own affair."""
    found = list(lost.items())
    more = found[_SHOWN_COLUMNS:]
    return found[:_SHOWN_COLUMNS] + ([(f"{len(more):,} other columns", sum(n for _, n in more))] if more else [])


def show_rejects(report: Report) -> None:
    """Show the first rejected rows and, where there are more, how many of each kind."""
    for reject in report.rejects[:_SHOWN]:
        shown = replace(reject, source=Path(output.path(reject.source)))
        output.warn(output.cut(str(shown), 400))
    total = report.tally.rejected.total()
    if total > _SHOWN:
        kinds = ", ".join(f"{count:,} {code}" for code, count in report.tally.rejected.most_common())
        output.warn(f"{total:,} rows rejected: {kinds}")
