"""Sentences about what was decided, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsreg.detection.columns import group_of
from dsreg.detection.look import Look, printable, quoted
from dsreg.detection.names import GROUPS
from dsreg.detection.turns import Turns
from dsreg.formats import Format
from dsreg.rowcode.chat import CHAT_ROLES
from dsreg.rowcode.errors import RowError
from dsreg.source import make_source

TASK_WORDS = {
    "sft": "supervised fine-tuning",
    "preference": "preference pairs",
    "kto": "KTO, single answers with a label",
    "prompt": "prompts, with an answer where there is one",
    "pretrain": "pretraining",
}
MEDIA = ("images", "videos", "audios")
SHOWN_ROWS = 3


def some(numbers: list[int]) -> str:
    """Row numbers in a sentence: "row 3", or "rows 2, 3, 9, …"."""
    shown = ", ".join(str(number) for number in numbers[:SHOWN_ROWS])
    return f"row{'s' * (len(numbers) > 1)} {shown}" + (", …" if len(numbers) > SHOWN_ROWS else "")


def column_reasons(format: Format, columns: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    """What was taken by its name, and what was given."""
    for own, column in columns.items():
        if own in given:
            yield f"{own} is {quoted(column)}, as given"
        elif column != format.manifest.columns.get(own, own):
            how = "by its name" if column in GROUPS.get(group_of(format, own), ()) else "the only column of its kind"
            yield f"{own} is {quoted(column)}: {how}"


def role_reasons(shape: Turns, tags: Mapping[str, str], column: str, fixed: bool) -> Iterator[str]:
    """The keys and roles of the turns, and the turns whose role is another."""
    seen = ", ".join(f"{quoted(role)} ×{n}" for role, n in shape.roles.most_common(6))
    yield f"the turns of {quoted(column)} have {quoted(shape.role_key)} and {quoted(shape.content_key)}; roles: {seen}"
    odd = shape.odd_roles(tags)
    if fixed:
        odd = [role for role in odd if role not in CHAT_ROLES]
    if shape.thinking:
        yield "`reasoning_content` is read as the thinking before an answer; LlamaFactory ignores it"
    if odd:
        named = ", ".join(f"{quoted(role)} ({some(shape.rows_of[role])})" for role in odd[:5])
        yield f"other roles than the tags' cannot be read: {named}; correct them in the data"


def task_reasons(task: str, columns: Mapping[str, str], look: Look, ranking: bool | None) -> Iterator[str]:
    """What the rows are for, and by which columns."""
    said = ", as asked" if ranking is not None else ""
    if task == "preference" and "chosen" in columns:
        yield f"{quoted(columns['chosen'])} and {quoted(columns['rejected'])} make preference pairs{said}"
    elif task == "kto" and "kto_tag" in columns:
        yield f"{quoted(columns['kto_tag'])} is true or false: the KTO tag"
    else:
        yield f"the rows are for {TASK_WORDS[task]}"
    if task in ("sft", "prompt"):
        for name in GROUPS["label"]:
            if look.filled(name) and look.kind(name) != "true or false" and name not in columns.values():
                yield f"{quoted(name)} holds {look.kind(name)}; a KTO tag must be true or false, so it is only carried"


def other_reasons(format: Format, columns: Mapping[str, str], look: Look) -> Iterator[str]:
    """Tools, media, system and history; and what is left."""
    if "tools" in columns:
        yield f"{quoted(columns['tools'])} holds the function definitions"
    for own in MEDIA:
        if own in columns:
            yield f"{quoted(columns[own])} holds the {own}"
    for own in ("system", "history"):
        if own in columns and columns[own] == format.manifest.columns[own] and look.filled(columns[own]):
            yield f"{quoted(columns[own])} is read as the {'system prompt' if own == 'system' else 'earlier turns'}"
    rest = [column for column in look.kinds if column not in columns.values()]
    if rest:
        more = f" and {len(rest) - 8} more" if len(rest) > 8 else ""
        names = ", ".join(map(quoted, rest[:8])) + more
        verb = "carried where the target has a place" if format.manifest.extra != "none" else "beside the format's own"
        yield f"further columns, {verb}: {names}"


def copy_reason(format: Format, columns: Mapping[str, str], tags: Mapping[str, str], look: Look) -> str:
    """Why LlamaFactory cannot read the rows as they are; "" if it can.

    LlamaFactory 0.9.5: its ShareGPT converter ignores tool_calls and needs texts; its formatter needs tools as text.
    """
    if format.manifest.llamafactory is None:
        return f"LlamaFactory has no layout for {format.id}: it needs a copy"
    for own in ("messages", "chosen", "rejected"):
        shape = look.turns(columns[own]) if own in columns else None
        if shape is None:
            continue
        if shape.calls:
            return "LlamaFactory would ignore the tool calls: it needs a copy"
        if shape.parts or shape.blocks:
            return "LlamaFactory cannot read content in parts: it needs a copy"
        second = [role for role in shape.odd_roles(tags) if role in CHAT_ROLES]
        if format.id == "openai" and second:
            return f"LlamaFactory knows one name for each role, and not {quoted(second[0])} as well: it needs a copy"
        if own != "messages" and look.kind(columns[own]) == "turns":
            return f"LlamaFactory reads one message in {quoted(columns[own])}, not a list: it needs a copy"
    tools = columns.get("tools")
    if tools is not None and look.kind(tools) in ("list of objects", "turns", "object", "turn"):
        return f"LlamaFactory needs {quoted(tools)} as JSON text: it needs a copy"
    return ""


def unreadable(
    format: Format, columns: Mapping[str, str], tags: Mapping[str, str], ranking: bool, look: Look
) -> tuple[list[int], str]:
    """The numbers of the sample rows that cannot be read so, and what is wrong with the first."""
    constants = make_source("", format, [], columns, tags=tags, ranking=ranking or None).constants
    numbers: list[int] = []
    first = ""
    for number, row in look.rows:
        try:
            format.reader.read_row(plain(row), constants)
        except RowError as error:
            first = first or printable(f"{error.code} {error.path}: {error.message}")
            numbers.append(number)
    return numbers, first


def plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row as the dict that readers take."""
    return row if isinstance(row, dict) else dict(row)
