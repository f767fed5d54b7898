"""Where a key stands: the line in dataset_info.json, or in a dataset's TOML."""

from __future__ import annotations

from dsreg.jsonedit.tree import parse_object
from dsreg.model import line_of


class InfoPlaces:
    """The lines of dataset_info.json by name and key; of a repeated key the last one counts."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._text = text
        self._members = _members(text, text.find("{"))

    def line(self, *path: str) -> int | None:
        """The line of the key that `path` leads to, or of the nearest one around it."""
        found, members = None, self._members
        for key in path:
            if key not in members:
                break
            at, value_at = members[key]
            found = self._text.count("\n", 0, at) + 1
            members = _members(self._text, value_at) if self._text.startswith("{", value_at) else {}
        return found

    def of_entry(self, name: str, path: tuple[str, ...]) -> tuple[str, int | None]:
        """File and line of a key inside an entry."""
        return self.file, self.line(name, *path)


class TomlPlaces:
    """The lines of a dataset's TOML."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._text = text

    def of_entry(self, name: str, path: tuple[str, ...]) -> tuple[str, int | None]:
        """File and line of a key of the entry that this TOML makes."""
        line = line_of(self._text, path)
        if not line and path[:1] == ("formatting",):
            line = line_of(self._text, ("format",))
        return self.file, line or line_of(self._text, path[:1]) or None


def _members(text: str, start: int) -> dict[str, tuple[int, int]]:
    """Where key and value of each member of the object at `text[start]` begin."""
    if start < 0:
        return {}
    tree, _ = parse_object(text, start)
    at, found = start + 1, {}
    for member in tree.members:
        key_at = at + len(member.lead)
        found[member.name] = (key_at, key_at + len(member.key) + len(member.sep))
        at += len(member.text()) + 1
    return found
