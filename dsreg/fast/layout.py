"""Where the texts of a row stand: what the `[text]` tables of the format.toml files say, for one conversion.

`[text.read]` names the columns that are texts, or the list of turns; `[text.write]` holds one skeleton of a row for
each task, in which `<slot>` stands for the JSON text of a value. A row that is more than this is for the portable
reader and writer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dsreg.manifest import TextRead, TextWrite
from dsreg.rowcode.turns import turn_roles
from dsreg.runner import Conversion

SLOT = re.compile(r"<([a-z]+)>")
ANSWERS = {"sft": ("answer",), "preference": ("chosen", "rejected"), "kto": ("answer",), "pretrain": ("text",)}


@dataclass(frozen=True)
class Tags:
    """The keys and role names of a turn."""

    role: str
    content: str
    user: str
    assistant: str
    system: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """One conversion of rows that are text only.

    `columns` are the data's columns by what stands in them; `answers` the ones that a row must have; `tags` are there
    where the dialogue is a list of turns; `parts` is the skeleton of a row: literals and slots in turn.
    """

    task: str
    columns: dict[str, str]
    user: tuple[str, ...]
    answers: tuple[str, ...]
    tags: Tags | None
    turn_answers: bool
    parts: tuple[str, ...]
    read: TextRead
    write: TextWrite
    row_note: str

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots in the skeleton."""
        return self.parts[1::2]

    @property
    def answer_in_turns(self) -> bool:
        """Whether the answer is the last of the turns of the data."""
        return self.tags is not None and self.answers == ("answer",)


def find_layout(conversion: Conversion) -> Layout | None:
    """The text-only layout of a conversion; None where its formats, tasks or options have none."""
    steps = conversion.steps
    read, write = conversion.source.format.manifest.text.read, conversion.target.manifest.text.write
    if read is None or write is None or steps.skip or steps.strip or not plain_options(conversion, write):
        return None
    answers = ANSWERS.get(steps.target.task)
    style = str(steps.target.options.get("style")) if write.style else steps.target.task
    if answers is None or style not in write.rows or steps.adapt is not None:
        return None
    return make_layout(conversion, read, write, answers, style)


def plain_options(conversion: Conversion, write: TextWrite) -> bool:
    """Whether the options that could change a row of texts have their defaults."""
    free = {*write.any_option, *(("style",) if write.style else ())}
    options = conversion.steps.target.options
    declared = conversion.target.manifest.options
    if options.get("tools_key") or options.get("extra_keys"):
        return False
    return all(
        options.get(name) == option.default
        for name, option in declared.items()
        if option.side == "write" and name not in free
    )


def make_layout(
    conversion: Conversion, read: TextRead, write: TextWrite, answers: tuple[str, ...], style: str
) -> Layout | None:
    """The layout, if the columns are there and every name stands for one thing."""
    c = conversion.steps.source
    tags = None
    if read.turns:
        tags = find_tags(read.tags or c.tags)
        if tags is None:
            return None
    in_turns = tags is not None and answers == ("answer",)
    names = {key: getattr(read, key) for key in ("system", "pairs", "turns", "label", "text", *answers)}
    if c.task != "kto":
        del names["label"]
    columns = {key: c.columns[name] for key, name in names.items() if name in c.columns}
    user = tuple(c.columns[name] for name in read.user if name in c.columns)
    if (not in_turns and not columns.keys() >= set(answers)) or len(c.used) != len(c.columns):
        return None
    if "text" not in answers and not user and tags is None:
        return None
    parts = tuple(SLOT.split(expand(write, style, tags is not None, conversion.steps.target.task)))
    note = write.row_note.get(style, "")
    return Layout(c.task, columns, user, answers, tags, read.answers == "turns", parts, read, write, note)


def find_tags(tags: dict[str, str]) -> Tags | None:
    """The tags of turns; None where two of them have one name."""
    roles = {role: name for name, role in turn_roles(tags).items()}
    if not {"user", "assistant", "system"} <= roles.keys() or tags["role_tag"] == tags["content_tag"]:
        return None
    others = tuple(name for role, name in roles.items() if role not in ("user", "assistant", "system"))
    return Tags(tags["role_tag"], tags["content_tag"], roles["user"], roles["assistant"], roles["system"], others)


def expand(write: TextWrite, style: str, has_turns: bool, task: str) -> str:
    """The skeleton with the turns of a row of columns laid out: earlier ones, the user's, and the answer's if any."""
    skeleton = write.rows[style]
    if has_turns or not write.user:
        return skeleton
    user = "<earlier>" + write.user.replace("<text>", "<user>")
    answer = "," + write.assistant.replace("<text>", "<answer>")
    in_turns = "<answer>" not in skeleton and task in ("sft", "kto")
    return skeleton.replace("<turns>", user + (answer if in_turns else "")).replace("<context>", user)
