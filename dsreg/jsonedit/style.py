"""How a file lays out its JSON, so that what is added looks like what is there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from dsreg.jsonedit.tree import Member, Obj, line_start, parse_object

_SAMPLE = 50  # members looked at: a file's style shows in its last few entries
_INDENT = "  "
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the objects of one depth are laid out: what stands before the first and the other members and the brace."""

    multiline: bool
    unit: str
    first: str  # before the first member and the closing brace of an object on one line
    gap: str  # between a comma and the next member on one line
    colon: str


@dataclass(frozen=True, slots=True)
class Style:
    """A file's layouts by depth (0 the file's own object, 1 an entry, 2 what is in it), its line ends and escapes."""

    newline: str
    ascii_only: bool
    layouts: tuple[Layout, Layout, Layout]

    def scalar(self, value: Any) -> str:
        """A value on one line, escaped as the file does it."""
        text = json.dumps(value, ensure_ascii=self.ascii_only)
        # a lone surrogate cannot stand in UTF-8 and must stay an escape
        return text if text.isascii() or not _has_surrogate(text) else json.dumps(value)

    def layout(self, depth: int) -> Layout:
        """The layout of an object this deep; everything below an entry's members looks like them."""
        return self.layouts[min(depth, 2)]

    def render(self, value: Any, depth: int, indent: str) -> str:
        """Text for a new value that stands `depth` objects deep, on a line with this indentation."""
        if not isinstance(value, dict | list) or not value:
            return self.scalar(value)
        layout = self.layout(depth)
        inside = indent + layout.unit
        if isinstance(value, dict):
            items = [f"{self.scalar(k)}{layout.colon}{self.render(v, depth + 1, inside)}" for k, v in value.items()]
            opening, closing, pad = "{", "}", layout.first
        else:
            items = [self.render(item, depth + 1, inside) for item in value]
            opening, closing, pad = "[", "]", ""
        if layout.multiline:
            lines = f",{self.newline}{inside}".join(items)
            return f"{opening}{self.newline}{inside}{lines}{self.newline}{indent}{closing}"
        return opening + pad + f",{layout.gap}".join(items) + pad + closing

    def changed(self, text: str, value: Any, depth: int, indent: str) -> str:
        """The text of an existing value, changed to say `value`: in an object, only the members that differ."""
        old = json.loads(text)
        if not isinstance(old, dict) or not isinstance(value, dict) or not old:
            return self.render(value, depth, indent)
        tree, _ = parse_object(text, 0)
        current: dict[str, Member] = {member.name: member for member in tree.members}
        for name, item in value.items():
            if name not in current:
                self.append(tree, name, item, depth, indent)
            elif json.dumps(old[name], sort_keys=True) != json.dumps(item, sort_keys=True):
                member = current[name]
                member.value = self.changed(member.value, item, depth + 1, member.indent(indent))
        for member in [member for member in tree.members if member.name not in value]:
            tree.remove(member)
        return tree.text()

    def append(self, tree: Obj, name: str, value: Any, depth: int, indent: str) -> Member:
        """Add a member at the end of an object, in the way of its other members."""
        member = Member("", self.scalar(name), name, self.layout(depth).colon, "", "")
        if tree.members:
            last = tree.members[-1]
            member.lead = _lead_of(tree, self.layout(depth))
            member.sep = _most(other.sep for other in tree.members[-_SAMPLE:])
            member.trail, last.trail = last.trail, tree.members[-2].trail if len(tree.members) > 1 else ""
        elif (layout := self.layout(depth)).multiline:
            newline = "\r\n" if tree.inner.endswith("\r") else self.newline  # or the two would read as one line end
            member.lead = tree.inner + newline + indent + layout.unit
            member.trail = newline + indent
        else:
            member.lead, member.trail = tree.inner + layout.first, layout.first
        member.value = self.render(value, depth + 1, member.indent(indent))
        tree.members.append(member)
        return member


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _lead_of(tree: Obj, layout: Layout) -> str:
    """What to write before a member added to these."""
    if len(tree.members) == 1:
        lead = tree.members[0].lead
        return lead[line_start(lead) :] if "\n" in lead else layout.gap
    others = tree.members[-_SAMPLE:] if len(tree.members) > _SAMPLE else tree.members[1:]
    return _most(member.lead for member in others)


def style_of(tree: Obj, text: str) -> Style:
    """Read off a file's style from its text and its members."""
    newline = "\r\n" if "\r\n" in text else "\n"
    entries = _objects(tree.members[-_SAMPLE:])
    nested = [(inner, member.indent(indent)) for tree_, indent in entries for inner, member in _children(tree_)]
    multiline = not tree.members or "\n" in tree.members[-1].lead + tree.members[0].lead
    default = Layout(multiline, _INDENT if multiline else "", "", *_separators([tree]))
    top = _layout([(tree, "")], default)
    entry = _layout(entries, top)
    return Style(newline, text.isascii(), (top, entry, _layout(nested, entry)))


def _children(tree: Obj) -> list[tuple[Obj, Member]]:
    found = [(member, parse_object(member.value, 0)[0]) for member in tree.members if member.value.startswith("{")]
    return [(inner, member) for member, inner in found if inner.members]


def _objects(members: list[Member]) -> list[tuple[Obj, str]]:
    """The non-empty objects among these members' values, with the indentation of the line they start on."""
    return [(inner, member.indent("")) for inner, member in _children(Obj(list(members)))]


def _layout(objects: list[tuple[Obj, str]], default: Layout) -> Layout:
    """The layout that most of these objects share."""
    filled = [(tree, indent) for tree, indent in objects if tree.members]
    if not filled:
        return default
    multiline = _most("\n" in tree.members[0].lead for tree, _ in filled)
    same = [(tree, indent) for tree, indent in filled if ("\n" in tree.members[0].lead) == multiline]
    gap, colon = _separators([tree for tree, _ in same])
    if not multiline:
        return Layout(False, "", _most(tree.members[0].lead for tree, _ in same), gap, colon)
    unit = _most(tree.members[0].indent("").removeprefix(indent) for tree, indent in same)
    return Layout(True, unit, "", gap, colon)


def _separators(trees: list[Obj]) -> tuple[str, str]:
    """The gap after a comma on one line, and the text between key and value, that these objects mostly use."""
    colons = [member.sep for tree in trees for member in tree.members[-_SAMPLE:]]
    colon = _most(colons) if colons else ": "
    gaps = [member.lead for tree in trees for member in tree.members[1:][-_SAMPLE:] if "\n" not in member.lead]
    return _most(gaps) if gaps else " " * colon.endswith(" "), colon


def _most(values: Iterable[_T]) -> _T:
    """The most frequent value; of equals, the last one first seen."""
    counts = Counter(reversed(list(values)))
    return counts.most_common(1)[0][0]
