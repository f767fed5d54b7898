"""Edit one member of a JSON object in its text, leaving every other byte alone.

No single `json.dumps` setting reproduces the registries that people keep by hand, so an edit touches the member whose
value changes and nothing else: indentation, line ends, order, blank lines, comment-like keys and escapes stay.
"""

from __future__ import annotations

import json
from typing import Any

from dsreg.errors import RegistryError
from dsreg.jsonedit.problem import explain
from dsreg.jsonedit.style import Style, style_of
from dsreg.jsonedit.tree import Member, parse_object

__all__ = ["Document", "canonical", "same_json"]

_BOM = "\ufeff"
_LIMIT = 256 * 1024 * 1024


def canonical(value: Any) -> str:
    """Return compact JSON with sorted keys: two values are the same JSON exactly when these texts are equal."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: `1`, `1.0` and `true` differ, the order of keys does not count."""
    return left is right or canonical(left) == canonical(right)


class Document:
    """A JSON object file, open for edits.

    `value` is what the text says now, the last of a repeated name winning as it does everywhere.
    """

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self._bom = _BOM if text.startswith(_BOM) else ""
        body = text[len(self._bom) :]
        self.value: dict[str, Any] = _loads(body, where)
        start = body.index("{")
        self._tree, end = parse_object(body, start)
        self._head, self._tail = body[:start], body[end:]
        self._style: Style = style_of(self._tree, body)
        self._by_name: dict[str, list[Member]] = {}
        for member in self._tree.members:
            self._by_name.setdefault(member.name, []).append(member)

    @classmethod
    def parse(cls, data: bytes, where: str) -> Document:
        """Read a file's bytes; `where` names it in errors.

        Raises RegistryError with the line, the column, the offending text and what is probably wrong.
        """
        if len(data) > _LIMIT:
            raise RegistryError(f"larger than {_LIMIT >> 20} MiB: this is no registry", where=where)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RegistryError(
                f"not UTF-8 (byte {error.start})", where=f"{where}:{line}", hint="save the file as UTF-8 without BOM"
            ) from None
        return cls(text, where)

    @property
    def names(self) -> list[str]:
        """The members' names in the order of the file, each once."""
        return list(self._by_name)

    @property
    def duplicates(self) -> list[str]:
        """Names that occur more than once."""
        return [name for name, members in self._by_name.items() if len(members) > 1]

    @property
    def has_bom(self) -> bool:
        """Whether the file starts with a byte order mark, which LlamaFactory cannot open."""
        return bool(self._bom)

    def drop_bom(self) -> None:
        """Let the file begin without a byte order mark."""
        self._bom = ""

    def lines(self) -> dict[str, int]:
        """The line each member starts on; of a repeated name, the one that counts."""
        line, found = 1 + self._head.count("\n"), {}
        for member in self._tree.members:
            line += member.lead.count("\n")
            found[member.name] = line
            line += member.text().count("\n") - member.lead.count("\n")
        return found

    def set_member(self, name: str, value: Any) -> None:
        """Give a member this value; only what differs inside it is touched. A new one goes to the end."""
        if name not in self._by_name:
            member = self._style.append(self._tree, name, value, depth=0, indent="")
            self._by_name[name] = [member]
        elif not same_json(self.value[name], value):
            member = self._by_name[name][-1]
            member.value = self._style.changed(member.value, value, depth=1, indent=member.indent(""))
        self.value[name] = value

    def remove_member(self, name: str) -> None:
        """Remove every member of this name. Raises KeyError when there is none."""
        for member in self._by_name.pop(name):
            self._tree.remove(member)
        del self.value[name]

    def rename_member(self, old: str, new: str) -> None:
        """Give a member another name, in its place. Raises KeyError when `old` is absent or `new` is taken."""
        if new in self._by_name or old not in self._by_name:
            raise KeyError(new if new in self._by_name else old)
        for member in self._by_name[old]:
            member.name, member.key = new, self._style.scalar(new)
        self._by_name = {new if name == old else name: found for name, found in self._by_name.items()}
        self.value = {new if name == old else name: found for name, found in self.value.items()}

    def text(self) -> str:
        """The edited text, checked to say exactly `value`. Raises RegistryError if it does not."""
        body = self._head + self._tree.text() + self._tail
        if not same_json(_loads(body, self.where), self.value):
            raise RegistryError("the edit would not give the intended value; nothing was written", where=self.where)
        return self._bom + body

    def encode(self) -> bytes:
        """The edited text as UTF-8, checked as `text` does."""
        return self.text().encode("utf-8")


def _loads(body: str, where: str) -> dict[str, Any]:
    """Parse a whole file, turning every failure into an error that helps."""
    try:
        value = json.loads(body)
    except json.JSONDecodeError as error:
        raise explain(body, error, where) from None
    except RecursionError:
        raise RegistryError("nested too deeply", where=where) from None
    except ValueError as error:  # an integer of thousands of digits
        raise RegistryError(str(error), where=where) from None
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "no object"
        raise RegistryError(
            f"holds {kind}; dataset_info.json is an object of named entries",
            where=where,
            hint="this may be the file of another tool: point `data_dir` in dsreg.toml at the right folder",
        )
    return value
