"""The text of one JSON object as pieces that, joined, give the same text again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def line_start(space: str) -> int:
    """Where the last line of this white space begins, counting its line break (`\\r\\n` or `\\n`); -1 without one."""
    at = space.rfind("\n")
    return at - 1 if at > 0 and space[at - 1] == "\r" else at


@dataclass(eq=False, slots=True)
class Member:
    """`lead "key" sep value trail`: all the text between two commas."""

    lead: str
    key: str
    name: str
    sep: str
    value: str
    trail: str

    def text(self) -> str:
        """The member as it stands in the file."""
        return f"{self.lead}{self.key}{self.sep}{self.value}{self.trail}"

    def indent(self, default: str) -> str:
        """What stands before the key on its line; `default` when it shares a line with something else."""
        return self.lead[self.lead.rfind("\n") + 1 :] if "\n" in self.lead else default


@dataclass(slots=True)
class Obj:
    """An object: its members, or the white space between the braces of an empty one."""

    members: list[Member] = field(default_factory=list)
    inner: str = ""

    def text(self) -> str:
        """The object as it stands in the file, braces included."""
        return "{" + (",".join(member.text() for member in self.members) or self.inner) + "}"

    def remove(self, member: Member) -> None:
        """Take one member out, undoing exactly what adding it would have done."""
        at = self.members.index(member)
        if len(self.members) == 1:
            self.inner = _inner_before(member)
        elif at == 0:
            self.members[1].lead = member.lead
        elif at == len(self.members) - 1:
            self.members[-2].trail = member.trail
        del self.members[at]


def _inner_before(member: Member) -> str:
    """The white space that an empty object had before this only member was added."""
    if "\n" in member.lead and "\n" in member.trail:
        return member.lead[: line_start(member.lead)]
    return member.lead.removesuffix(member.trail) if member.trail else member.lead


def parse_object(text: str, start: int) -> tuple[Obj, int]:
    """Cut the object at `text[start]`, known to be valid JSON, into pieces; return it and where it ends."""
    tree = Obj()
    at = start + 1
    while True:
        key_at = _skip(text, at)
        lead = text[at:key_at]
        if text[key_at] == "}":  # only an empty object: valid JSON has no trailing comma
            tree.inner = lead
            return tree, key_at + 1
        name, key_end = _decode(text, key_at)
        value_at = _skip(text, _skip(text, key_end) + 1)
        _, value_end = _decode(text, value_at)
        at = _skip(text, value_end)
        tree.members.append(
            Member(
                lead,
                text[key_at:key_end],
                name,
                text[key_end:value_at],
                text[value_at:value_end],
                text[value_end:at],
            )
        )
        at += 1
        if text[at - 1] == "}":
            return tree, at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
