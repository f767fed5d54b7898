"""Choose the format whose signature the rows bear, and the task of its columns."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dsreg.detection.columns import find_columns, fitting
from dsreg.detection.look import Look, flag, quoted
from dsreg.detection.refuse import lacking
from dsreg.detection.signatures import ANY, SIGNATURES, Signature
from dsreg.errors import UsageError
from dsreg.formats import Format
from dsreg.source import split_columns
from dsreg.tasks import EXTRA_COLUMNS


class Asked(NamedTuple):
    """What the user said: it wins over what is seen."""

    columns: Mapping[str, str]
    tags: Mapping[str, str]
    ranking: bool | None


class Choice(NamedTuple):
    """A format that the rows bear the signature of, with its columns and task."""

    format: Format
    signature: Signature
    columns: dict[str, str]
    task: str


def check_asked(look: Look, formats: Mapping[str, Format], format: Format | None, asked: Asked) -> None:
    """Raise UsageError for given columns that no format has, or that the data has not."""
    if format is not None:
        split_columns(format, asked.columns)
    else:
        known = dict.fromkeys([*(own for f in formats.values() for own in f.manifest.columns), *EXTRA_COLUMNS])
        for own in asked.columns:
            if own not in known:
                near = difflib.get_close_matches(own, known, 1)
                raise UsageError(
                    f"no format has a column {quoted(own)}",
                    hint=f"did you mean `{near[0]}`?" if near else "--column name=column, the format's name first",
                )
    for own, column in asked.columns.items():
        if column and column not in look.kinds:
            near = difflib.get_close_matches(column, look.kinds, 1)
            raise UsageError(
                f"the rows have no column {quoted(column)} for {own}; they have: {look.describe()}",
                hint=f"did you mean `{flag('column', own, near[0])}`?" if near else "",
            )


def choices(look: Look, formats: Mapping[str, Format], asked: Asked) -> Iterator[Choice]:
    """All formats whose signature the rows bear, in the order of the signatures, each once."""
    found: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    for signature in SIGNATURES:
        format = formats.get(signature.format)
        if format is None or format.id in seen or not takes(format, asked):
            continue
        if format.id not in found:
            found[format.id] = find_columns(format, look, asked.columns)
        if not bears(signature, format, found[format.id], look, asked):
            continue
        try:
            columns, task = columns_of_task(format, found[format.id], look, asked)
        except UsageError:
            if seen:
                continue
            raise
        if asked.ranking and task != "preference":
            continue
        seen.add(format.id)
        yield Choice(format, signature, columns, task)


def takes(format: Format, asked: Asked) -> bool:
    """Whether a format can be read and has a place for everything that was said."""
    return (
        format.reads
        and all(own in format.manifest.columns or own in EXTRA_COLUMNS for own in asked.columns)
        and (not asked.tags or format.manifest.llamafactory == "sharegpt")
        and (not asked.ranking or "preference" in format.manifest.tasks)
    )


def bears(signature: Signature, format: Format, found: Mapping[str, str], look: Look, asked: Asked) -> bool:
    """Whether most rows have what a signature needs, and nothing that speaks against it."""
    own_of = {default: own for own, default in format.manifest.columns.items()}
    columns = []
    for default, kinds in signature.needs.items():
        own = own_of.get(default, default)
        column = found.get(own)
        if column is None and own not in format.manifest.columns and default in look.kinds:
            column = default
        if column is None or not (signature.by_name or column == default or own in asked.columns):
            return False
        if kinds != ANY and look.kind(column) not in kinds.split("|"):
            return False
        columns.append(column)
    if look.complete(columns) * 2 <= look.with_columns:
        return False
    given = {column for own, column in found.items() if own in asked.columns}
    if any(look.filled(column) and column not in given for column in signature.never):
        return False
    return signature.test is None or signature.test(look, columns[0], asked.tags)


def asks(columns: Mapping[str, str], look: Look) -> bool:
    """Whether most dialogues end with the user, so that a column beside them can be the answer."""
    shape = look.turns(columns["messages"]) if "messages" in columns else None
    return shape is not None and shape.last["user"] * 2 > shape.last.total()


def columns_of_task(format: Format, found: Mapping[str, str], look: Look, asked: Asked) -> tuple[dict[str, str], str]:
    """The task of these columns, and those among them that it reads.

    Raises UsageError where they make no task, or two that exclude each other.
    """
    columns = dict(found)
    if format.id == "openai" and "answer" in columns and "answer" not in asked.columns and not asks(columns, look):
        del columns["answer"]
    needs = format.manifest.needs
    both = {"kto", "preference"} <= needs.keys() and columns.keys() >= {*needs["kto"], *needs["preference"]}
    if both:
        if asked.ranking or (asked.ranking is None and "chosen" in asked.columns and "kto_tag" not in asked.columns):
            del columns["kto_tag"]
        elif asked.ranking is None and "kto_tag" not in asked.columns:
            names = [quoted(columns[own]) for own in ("kto_tag", "chosen", "rejected")]
            raise UsageError(
                f"the rows have a KTO tag, {names[0]}, and pairs, {names[1]} and {names[2]}; they can only be one",
                hint=f"--ranking for the pairs, or {flag('column', 'kto_tag', columns['kto_tag'])} for the tag",
            )
    try:
        task = format.task_of(columns, ranking=asked.ranking)
    except UsageError:
        raise lacking(format, look, asked.columns) from None
    if asked.ranking and task != "preference":
        raise UsageError(
            f"ranking needs pairs, a chosen and a rejected answer; the columns are: {look.describe()}",
            hint="--column chosen=COLUMN --column rejected=COLUMN",
        )
    return fitting(format, columns, task, asked.columns), task
