"""What is the same for all rows of one conversion."""

from __future__ import annotations

from typing import Any


class Constants:
    """The constants of one side of a conversion: what a reader or a writer knows before the first row.

    `task` is what a row is for; `columns` maps a format's names to the data's columns (an unmapped name is absent);
    `extras` maps further columns of the data to the names they are carried under; `tags` are LlamaFactory's seven key
    and role names; `options` are the format's own settings, complete with their defaults.
    `used` are the columns that the reader takes, `mapped` all that have a name: none may occur twice in a row.
    """

    __slots__ = ("columns", "extras", "mapped", "options", "tags", "task", "used")

    def __init__(
        self,
        task: str,
        columns: dict[str, str] | None = None,
        extras: dict[str, str] | None = None,
        tags: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.task = task
        self.columns = columns or {}
        self.extras = extras or {}
        self.tags = tags or {}
        self.options = options or {}
        self.used = frozenset(self.columns.values())
        self.mapped = (*self.used, *self.extras)
