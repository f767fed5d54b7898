"""Which column of the data stands for which of a format's."""

from __future__ import annotations

from collections.abc import Mapping

from dsreg.detection.look import Look
from dsreg.detection.names import COMMON_WORDS, DECISIVE_GROUPS, GROUP_KINDS, GROUP_OF, GROUPS
from dsreg.formats import Format

# The tasks that read these columns; in rows of other tasks they are left to be carried.
READ_BY = {
    "response": frozenset({"sft", "kto", "prompt"}),
    "chosen": frozenset({"preference"}),
    "rejected": frozenset({"preference"}),
    "kto_tag": frozenset({"kto"}),
    "answer": frozenset({"prompt"}),
}


def group_of(format: Format, own: str) -> str:
    """The group of names that a format's column belongs to; "" for one that only its own name fits."""
    default = format.manifest.columns.get(own, own)
    if format.id == "alpaca" and own == "query":
        return "query"
    return GROUP_OF.get(default, "")


def candidates(format: Format, own: str, look: Look) -> list[str]:
    """The columns of the data that could stand for a format's column by their name and kind, the surest first."""
    default = format.manifest.columns.get(own, own)
    group = group_of(format, own)
    kinds = GROUP_KINDS.get(group, frozenset())
    # another column's own name is left to it; only a second part of the question may be the whole of it
    others = {
        column
        for other, column in format.manifest.columns.items()
        if other != own and not (group == "prompt" and group_of(format, other) == "query")
    }
    names = [name for name in GROUPS.get(group, ()) if look.kind(name) in kinds and look.filled(name)]
    if group == "messages":
        named = {*GROUP_OF, *(name for names in GROUPS.values() for name in names)}
        names += [name for name in look.kinds if name and look.kind(name) == "turns" and name not in named]
    usable = default in look.kinds and (
        default not in COMMON_WORDS or look.kind(default) in kinds or not kinds or not look.filled(default)
    )
    own_name = [default] if usable else []
    return list(dict.fromkeys([*own_name, *(name for name in names if name not in others)]))


def find_columns(format: Format, look: Look, given: Mapping[str, str], *, loose: bool = False) -> dict[str, str]:
    """A format's columns in the data: given ones, then those of its own names, then those of other usual names.

    `loose` takes a column of the format's own name whatever it holds. Columns that hold nothing are no answers.
    """
    found = {own: column for own, column in given.items() if own in format.manifest.columns and column}
    taken = set(found.values())
    for own, default in format.manifest.columns.items():
        if own in given:
            continue
        names = candidates(format, own, look)
        if loose and default in look.kinds:
            names = [default, *names]
        if own in ("chosen", "rejected", "kto_tag"):
            names = [name for name in names if look.filled(name)]
        column = next((name for name in names if name not in taken), None)
        if column is not None:
            found[own] = column
            taken.add(column)
    return {own: found[own] for own in format.manifest.columns if own in found}


def fitting(format: Format, columns: Mapping[str, str], task: str, given: Mapping[str, str]) -> dict[str, str]:
    """The columns that rows of this task read; given ones stay."""
    needed = format.manifest.needs.get(task, ())  # type: ignore[call-overload]
    return {
        own: column
        for own, column in columns.items()
        if own in given or own in needed or task in READ_BY.get(own, frozenset({task}))
    }


def rivals(format: Format, columns: Mapping[str, str], look: Look, given: Mapping[str, str]) -> dict[str, list[str]]:
    """Per column that was taken by a name not the format's own: the other columns it could as well have been."""
    found = {}
    used = set(columns.values()) | set(given.values())
    for own, column in columns.items():
        if own in given or column == format.manifest.columns[own] or group_of(format, own) not in DECISIVE_GROUPS:
            continue
        others = [name for name in candidates(format, own, look) if name not in used]
        if others:
            found[own] = [column, *others]
    return found
