"""A finding: what is wrong, where, what comes of it, and what helps. Data only; the command line renders it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. `row` and `line` are 1-based, `path` is the place in the row or the key of the entry.

    `consequence` is what LlamaFactory or a target does about it, `hint` a command or an edit. `count` says how many
    rows it stands for; only the first ones of a kind have a finding of their own.
    """

    code: str
    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    row: int | None = None
    path: str = ""
    consequence: str = ""
    hint: str = ""
    count: int = 1

    def as_json(self) -> dict[str, Any]:
        """The members that other programs may rely on."""
        return {key: value for key, value in asdict(self).items() if key != "count"}


class Hit(NamedTuple):
    """What a rule says about one place: the sentence, the keys that lead to it, what helps; severity if it varies."""

    message: str
    path: tuple[str, ...] = ()
    hint: str = ""
    severity: Severity | None = None


class Rule(NamedTuple):
    """A code with its rule: the function that finds it explains it in its docstring."""

    code: str
    severity: Severity
    find: Callable[[Any], Iterable[Hit]]
    consequence: str
    example: str
    source: str = ""


Place = Callable[[tuple[str, ...]], tuple[str, int | None]]
"""From the keys that lead to a value to the file and the line where it stands."""


def run_rules(rules: Iterable[Rule], view: Any, place: Place) -> list[Finding]:
    """The findings of all rules about one thing."""
    found = []
    for rule in rules:
        for hit in rule.find(view):
            file, line = place(hit.path)
            severity, path = hit.severity or rule.severity, ".".join(hit.path)
            found.append(Finding(rule.code, severity, hit.message, file, line, None, path, rule.consequence, hit.hint))
    return found


def short(value: Any, width: int = 60) -> str:
    """A value as a person writes it, cut where it is long."""
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= width else text[: width - 1] + "…"
