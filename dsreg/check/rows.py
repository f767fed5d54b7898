"""Rows: what the prediction says of each, gathered into findings, a bounded number of each kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dsreg.check.describe import ROW_HINTS, Told, describe
from dsreg.check.finding import Finding, Severity
from dsreg.check.hints import Words
from dsreg.check.locate import Spot
from dsreg.llamafactory.outcome import RowVerdict
from dsreg.llamafactory.reasons import REASONS
from dsreg.llamafactory.resolve import Entry

KEPT = 20
"""How many rows of one kind are told one by one; the rest is counted."""

OF_THE_ENTRY = frozenset(
    (
        *("missing_column", "column_unset", "missing_key", "tag_unset", "bad_column_name", "response_unset"),
        "converter_unknown",
    )
)
"""Reasons that lie in the entry rather than in a row: the first row of each stands for all."""


@dataclass
class RowReasons:
    """The first rows of each reason, and how many there are."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[Told]] = field(default_factory=dict)

    def add(self, verdict: RowVerdict) -> None:
        """Take in what is said of one row."""
        if verdict.reason:
            self._add(Told(verdict.row, verdict.reason, verdict.path, verdict.why))
        for note in verdict.notes:
            self._add(Told(verdict.row, note.reason, note.path, note.message))

    def _add(self, told: Told) -> None:
        self.counts[told.reason] += 1
        rows = self.first.setdefault(told.reason, [])
        if len(rows) < (1 if told.reason in OF_THE_ENTRY else KEPT):
            rows.append(told)

    def rows(self) -> set[int]:
        """The rows that findings will speak of."""
        return {told.row for rows in self.first.values() for told in rows}


@dataclass
class RowScene:
    """What findings about rows are made with: the entry, its places and words, and where the rows stand."""

    entry: Entry
    words: Words
    place: Callable[[tuple[str, ...]], tuple[str, int | None]]
    spots: Mapping[int, Spot]
    shown: Callable[[Any], str]
    columns: list[str]


def row_findings(reasons: RowReasons, scene: RowScene) -> list[Finding]:
    """The findings of all reasons, each kind with the number of rows it stands for."""
    return [_finding(told, reasons.counts[reason], scene) for reason, rows in reasons.first.items() for told in rows]


def severity_of(reason: str) -> Severity:
    """How grave a reason is: a row that is lost is an error, whatever LlamaFactory makes of it."""
    rule = REASONS[reason]
    return "error" if rule.effect.startswith("LlamaFactory leaves") else rule.severity


def _finding(told: Told, count: int, scene: RowScene) -> Finding:
    rule, spot = REASONS[told.reason], scene.spots.get(told.row)
    file, line = scene.place(())
    row = _number(told)
    if told.reason in OF_THE_ENTRY:
        group, key = _entry_key(told, scene.entry)
        file, line = scene.place((group, key) if group else (key,))
    elif spot is not None:
        file, line = scene.shown(spot.file), spot.line
    told = told._replace(path=place_in_row(told.path, entry=scene.entry, row=spot.value if spot else None))
    message = describe(told, spot.value if spot is not None else None, scene.entry, scene.columns)
    if told.reason in OF_THE_ENTRY and count > 1:
        message += f" ({count:,} rows)"
    cause = "unknown_role" if "none of the tags" in message else told.reason
    hint = ROW_HINTS[cause](told, scene.words, scene.entry, scene.columns) if cause in ROW_HINTS else ""
    return Finding(rule.code, severity_of(told.reason), message, file, line, row, told.path, rule.effect, hint, count)


def place_in_row(path: str, *, entry: Entry, row: Any) -> str:
    """The place in the row that stands at a place of the aligned row, such as `_prompt[2].content` or `_tools`."""
    if not path.startswith("_"):
        return path
    name, _, rest = path[1:].partition(".")
    at = re.fullmatch(r"prompt\[(\d+)\]", name)
    if at is None and name not in ("prompt", "response"):
        return str(getattr(entry, name, None) or entry.messages)
    if entry.formatting == "alpaca":
        column = entry.response if name == "response" else entry.prompt
        turns = row.get(entry.history) if isinstance(row, dict) and entry.history else None
        pairs = len(turns) if isinstance(turns, list) else 0
        return f"{entry.history}[{int(at[1]) // 2}]" if at and int(at[1]) < 2 * pairs else str(column)
    turns = row.get(entry.messages) if isinstance(row, dict) else None
    if entry.formatting != "sharegpt" or not isinstance(turns, list) or not turns:
        return str(entry.messages)
    opening = turns[0].get(entry.role_tag) if isinstance(turns[0], dict) else None
    number = int(at[1]) + (opening == entry.system_tag) if at else len(turns) - 1
    key = {"content": entry.content_tag, "role": entry.role_tag}.get(rest, "")
    return f"{entry.messages}[{number}]{f'.{key}' if key else ''}"


def _number(told: Told) -> int | None:
    """The row's number from 1; none for what lies in the entry."""
    return None if told.reason in OF_THE_ENTRY else told.row + 1


def _entry_key(told: Told, entry: Entry) -> tuple[str, str]:
    """The key of the entry that a reason is about."""
    if told.reason == "converter_unknown":
        return "", "formatting"
    if told.reason in ("missing_key", "tag_unset"):
        return "tags", "role_tag"
    if told.reason == "response_unset":
        return "columns", "response"
    from dsreg.model import COLUMN_KEYS

    key = next((key for key in COLUMN_KEYS if getattr(entry, key) == told.path), told.path)
    return "columns", key
