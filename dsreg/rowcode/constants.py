"""What is the same for all rows of one conversion."""

from __future__ import annotations

from typing import Any


class Constants:
    """The constants of one dataset and one side of its conversion.

    `task` is what a row is for; `columns` maps a format's names to the data's columns (unmapped names are absent);
    `tags` are LlamaFactory's seven role and key names; `options` are the format's own settings.
    """

    __slots__ = ("columns", "options", "tags", "task")

    def __init__(self, task: str, columns: dict[str, str], tags: dict[str, str], options: dict[str, Any]) -> None:
        self.task = task
        self.columns = columns
        self.tags = tags
        self.options = options
