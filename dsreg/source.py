"""What is converted: files, their format, and the columns and tags by which their rows are read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsreg.errors import UsageError
from dsreg.formats import Format, options_of
from dsreg.rowcode.columns import as_object
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.rows import BadRow
from dsreg.tasks import EXTRA_COLUMNS

# What LlamaFactory users call the roles when the keys are role and content, as OpenAI's API has them.
CHAT_TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "observation_tag": "tool",
    "function_tag": "function_call",
    "system_tag": "system",
}


@dataclass(frozen=True)
class Source:
    """Data to be read: a name for its outputs, its format, its files, and the constants of its reader."""

    name: str
    format: Format
    files: list[Path]
    constants: Constants

    @property
    def task(self) -> str:
        """What its rows are for."""
        return self.constants.task

    def sample(self, value: Any) -> dict[str, Any]:
        """What one row, as it stands in a file, is read as; raises RowError for one that cannot be read."""
        if type(value) is BadRow:
            raise RowError(value.code, value.path, value.message)
        sample: dict[str, Any] = self.format.reader.read_row(as_object(value, ""), self.constants)
        return sample


def split_columns(format: Format, given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The format's own columns and the extras (data column -> name) among the given ones.

    Raises UsageError for a name that is neither.
    """
    own = {name: column for name, column in given.items() if name in format.manifest.columns and column}
    extras = {column: name for name, column in given.items() if name in EXTRA_COLUMNS and name not in own and column}
    for name in given:
        if name not in format.manifest.columns and name not in EXTRA_COLUMNS:
            near = difflib.get_close_matches(name, [*format.manifest.columns, *EXTRA_COLUMNS], 1)
            swapped = next((n for n, c in format.manifest.columns.items() if c == name), None)
            hint = (
                f"did you mean `{near[0]}`?"
                if near
                else f"columns of {format.id}: {', '.join(format.manifest.columns)}"
            )
            if swapped and swapped != name:
                hint = f"the format's name comes first: {swapped}={name}"
            raise UsageError(f"{format.id} has no column `{name}`", hint=hint)
    return own, extras


# Columns that only rows for one task are read for; on others they are further columns like any.
TASK_COLUMNS = {"chosen": "preference", "rejected": "preference", "kto_tag": "kto", "label": "kto"}


def columns_of_task(columns: Mapping[str, str], task: str) -> dict[str, str]:
    """The columns that a reader takes on rows for this task: the others are carried."""
    return {name: column for name, column in columns.items() if TASK_COLUMNS.get(name, task) == task}


def columns_in(format: Format, rows: Iterable[Mapping[str, Any]], given: Mapping[str, str]) -> dict[str, str]:
    """The format's columns that occur in these rows, by their default names, under what was given."""
    present = {key for row in rows for key in row}
    found = {name: column for name, column in format.manifest.columns.items() if column in present}
    taken = set(given.values())
    return {**{name: column for name, column in found.items() if column not in taken}, **given}


def complete_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """All seven tags: the given ones, and for the rest what goes with them in the field."""
    usual = CHAT_TAGS if tags.get("assistant_tag") == "assistant" else TURN_TAGS
    return {**usual, **{name: value for name, value in tags.items() if value}}


def make_source(
    name: str,
    format: Format,
    files: list[Path],
    columns: Mapping[str, str],
    *,
    tags: Mapping[str, str] | None = None,
    ranking: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> Source:
    """A source whose columns are exactly the given ones; raises UsageError when they make no task."""
    own, extras = split_columns(format, columns)
    task = format.task_of(own, ranking=ranking)
    constants = Constants(
        task=task,
        columns=columns_of_task(own, task),
        extras=extras,
        tags=complete_tags(tags or {}),
        options=options_of(format, "read", dict(options or {})),
    )
    return Source(name, format, files, constants)
