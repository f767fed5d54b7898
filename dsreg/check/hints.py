"""Hints as edits of dataset_info.json or, in a project, as commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any


class Words:
    """Phrases what to change about one dataset; `project` says whether a TOML is kept for it."""

    def __init__(self, name: str, *, project: bool) -> None:
        self.name = name
        self.project = project

    def column(self, key: str, column: str) -> str:
        """Map a column."""
        return self.columns({key: column})

    def columns(self, columns: Mapping[str, str]) -> str:
        """Map columns."""
        if self.project:
            return self._set(*(f"--column {shlex.quote(f'{key}={value}')}" for key, value in columns.items()))
        inner = ", ".join(f"{_json(key)}: {_json(value)}" for key, value in columns.items())
        return f"write {inner} in `columns`"

    def tags(self, tags: Mapping[str, str]) -> str:
        """Set tags."""
        if self.project:
            return self._set(*(f"--tag {shlex.quote(f'{key}={value}')}" for key, value in tags.items()))
        return f'write "tags": {_json(dict(tags))}'

    def move(self, group: str, key: str, value: str) -> str:
        """Write a column or a tag where it belongs."""
        return self.tags({key: value}) if group == "tags" and self.project else f"write it inside `{group}`"

    def key(self, key: str, value: Any) -> str:
        """Give a key of the entry a value."""
        if self.project and key == "ranking":
            return self._set("--ranking" if value else "--no-ranking")
        if self.project and key == "formatting":
            return self._set(f"--format {value}")
        if self.project and key == "file_name":
            return self._set(shlex.quote(str(value)))
        return f"write {_json(key)}: {_json(value)}"

    def _set(self, *arguments: str) -> str:
        return " ".join(["dsreg set", shlex.quote(self.name), *arguments])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
