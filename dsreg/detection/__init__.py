"""Propose format, columns, tags and ranking from sample rows, and say why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsreg.detection.choose import Asked, Choice, asks, check_asked, choices, columns_of_task
from dsreg.detection.columns import find_columns, rivals
from dsreg.detection.look import Look, quoted
from dsreg.detection.reasons import (
    column_reasons,
    copy_reason,
    other_reasons,
    role_reasons,
    some,
    task_reasons,
    unreadable,
)
from dsreg.detection.refuse import (
    CHAT_COLUMNS,
    RANKED,
    lacking,
    refuse_columnar,
    refuse_json_text,
    refuse_no_rows,
    refuse_ranked,
    refuse_registry,
    refuse_rivals,
    refuse_roles,
    undecided,
)
from dsreg.detection.signatures import Signature
from dsreg.detection.turns import Turns
from dsreg.errors import UsageError
from dsreg.formats import Format, built_in, find_format
from dsreg.source import CHAT_TAGS, complete_tags
from dsreg.tasks import EXTRA_COLUMNS


@dataclass(frozen=True)
class Detection:
    """What sample rows were taken for.

    `columns` are the format's columns and the given extras (name to column of the data), `tags` all seven or none,
    `ranking` whether LlamaFactory needs to be told of pairs, `llamafactory_copy` whether it cannot read the rows as
    they are. `reasons` are sentences, one for each decision; `alternatives` other formats that would read the rows.
    """

    format: str
    task: str
    columns: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    ranking: bool = False
    llamafactory_copy: bool = False
    reasons: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)


def detect(
    rows: Sequence[Any],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    ranking: bool | None = None,
    formats: Mapping[str, Format] | None = None,
    file: str = "FILE",
    container: str = "",
) -> Detection:
    """What these sample rows are; given values win over what is seen.

    `columns` maps a format's names to the data's ("" for a column that shall not be used); `formats` are those to
    choose from, the built-in ones by default; `file` and its `container` are for the commands in hints. Raises
    UsageError, with the choices, where the rows do not decide it, and NotFoundError for a format that does not exist.
    """
    known = built_in() if formats is None else formats
    asked = Asked(columns or {}, {tag: value for tag, value in (tags or {}).items() if value}, ranking)
    check_tags(asked.tags)
    wanted = None if format is None else known[format] if format in known else find_format(format)
    if wanted is not None and not wanted.reads:
        raise UsageError(f"{wanted.id} is only a target; it cannot be read", hint="dsreg formats list")
    look = Look(rows, file, container)
    if wanted is not None and not look.kinds:
        return nothing_seen(wanted, asked)
    refuse_no_rows(look)
    refuse_columnar(look)
    refuse_registry(look)
    check_asked(look, known, wanted, asked)
    if wanted is not None:
        return describe(named_choice(wanted, look, asked), look, asked, chosen=True)
    refuse_json_text(look, CHAT_COLUMNS)
    found = list(choices(look, known, asked))
    if not found:
        refuse_ranked(look, RANKED)
        raise undecided(look, known, asked.columns)
    first = describe(found[0], look, asked, chosen=False)
    first.alternatives.extend(alternatives(found, look, asked))
    return first


def check_tags(tags: Mapping[str, str]) -> None:
    """Raise UsageError for a tag that LlamaFactory does not have."""
    for tag in tags:
        if tag not in CHAT_TAGS:
            raise UsageError(f"there is no tag {quoted(tag)}", hint=f"tags: {', '.join(CHAT_TAGS)}")


def nothing_seen(format: Format, asked: Asked) -> Detection:
    """The detection for a format that was named, where there is no row to look at: the columns of its first task."""
    manifest = format.manifest
    task = "preference" if asked.ranking and "preference" in manifest.needs else manifest.tasks[0]
    own = {name: manifest.columns[name] for name in manifest.needs.get(task, []) if name in manifest.columns}
    tags = default_tags(format, asked) if manifest.llamafactory == "sharegpt" else {}
    return Detection(
        format=format.id,
        task=task,
        columns={**own, **{name: column for name, column in asked.columns.items() if column}},
        tags=tags,
        ranking=task == "preference" and manifest.llamafactory is not None,
        llamafactory_copy=manifest.llamafactory is None,
        reasons=[f"the format is {format.id}, as given; there were no rows to look at"],
    )


def named_choice(format: Format, look: Look, asked: Asked) -> Choice:
    """The columns and the task of a format that was named; raises UsageError when its columns are not there."""
    found = find_columns(format, look, asked.columns, loose=True)
    if not found:
        raise lacking(format, look, asked.columns)
    columns, task = columns_of_task(format, found, look, asked)
    return Choice(format, Signature(format.id, {}, ""), columns, task)


def default_tags(format: Format, asked: Asked) -> dict[str, str]:
    """The tags of a format where no turns were seen."""
    usual = CHAT_TAGS if format.id == "openai" else {}
    return complete_tags({**usual, **asked.tags})


def find_tags(choice: Choice, look: Look, asked: Asked) -> tuple[dict[str, str], Turns | None]:
    """All seven tags of a format with turns, and the turns; raises UsageError where the roles cannot be told."""
    if choice.format.manifest.llamafactory != "sharegpt":
        return {}, None
    column = choice.columns["messages"]
    shape = look.turns(column)
    if shape is None:
        refuse_json_text(look, [column])
        return default_tags(choice.format, asked), None
    tags = shape.tags(asked.tags)
    if choice.format.id == "openai":
        refuse_no_chat(shape, tags, column)
        return complete_tags({**CHAT_TAGS, **tags}), shape
    refuse_roles(shape, tags, column)
    return complete_tags(tags), shape


def refuse_no_chat(shape: Turns, tags: Mapping[str, str], column: str) -> None:
    """Raise UsageError where turns were said to be OpenAI's and have other keys or roles."""
    fixed = ("role_tag", "content_tag", "user_tag", "assistant_tag")
    wrong = [tags[tag] for tag in fixed if tags.get(tag, CHAT_TAGS[tag]) != CHAT_TAGS[tag]]
    if wrong:
        raise UsageError(
            f"{quoted(column)} has {' and '.join(map(quoted, wrong))}; openai has fixed names: role, content, "
            "user, assistant",
            hint="--format sharegpt",
        )
    if shape.blocks > shape.parts:
        raise UsageError(
            f"{quoted(column)} has content blocks without a type, which are Nova's", hint="--format nova-sft"
        )


def describe(choice: Choice, look: Look, asked: Asked, *, chosen: bool) -> Detection:
    """The detection of a choice, with its reasons; raises UsageError where something else decides against it."""
    format, columns, task = choice.format, choice.columns, choice.task
    refuse_rivals(format, rivals(format, columns, look, asked.columns), look)
    if format.id == "alpaca":
        refuse_ranked(look, ["output", *(columns[own] for own in ("response", "chosen", "rejected") if own in columns)])
    tags, shape = find_tags(choice, look, asked)
    ranking = task == "preference" and format.manifest.llamafactory is not None
    extras = {own: column for own, column in asked.columns.items() if own in EXTRA_COLUMNS and column}
    copy = copy_reason(format, columns, tags, look)
    found = Detection(
        format=format.id,
        task=task,
        columns={**columns, **{own: column for own, column in extras.items() if own not in columns}},
        tags=tags,
        ranking=ranking,
        llamafactory_copy=bool(copy),
    )
    why = f"the format is {format.id}, as given" if chosen else f"{format.id}: {choice.signature.reason}"
    found.reasons.append(why)
    found.reasons.extend(column_reasons(format, found.columns, asked.columns))
    if shape is not None:
        found.reasons.extend(role_reasons(shape, tags, columns["messages"], format.id == "openai"))
    if shape is not None and task == "sft" and asks(columns, look):
        found.reasons.append("most dialogues end with the user: there is no answer to train")
    found.reasons.extend(task_reasons(task, columns, look, asked.ranking))
    found.reasons.extend(other_reasons(format, found.columns, look))
    found.reasons.extend([copy] if copy else [])
    found.reasons.extend(row_reasons(found, format, look))
    return found


def row_reasons(found: Detection, format: Format, look: Look) -> Iterator[str]:
    """What is wrong with rows of the sample."""
    if len(look.rows) < look.total:
        yield f"{look.total - len(look.rows)} of {look.total} rows are no objects"
    numbers, first = unreadable(format, found.columns, found.tags, found.ranking, look)
    if numbers:
        yield f"{len(numbers)} of {len(look.rows)} rows seen cannot be read: {some(numbers)}; the first: {first}"


def alternatives(found: Sequence[Choice], look: Look, asked: Asked) -> Iterator[str]:
    """The other formats that read the sample at least as well as the chosen one, and why each was not chosen."""
    worst = len(look.rows)
    for i, choice in enumerate(found):
        try:
            tags, _ = find_tags(choice, look, asked)
        except UsageError:
            continue
        numbers, _ = unreadable(choice.format, choice.columns, tags, choice.task == "preference", look)
        if i == 0:
            worst = len(numbers)
        elif len(numbers) <= worst:
            yield f"{choice.format.id}: {choice.signature.otherwise or choice.signature.reason}"
