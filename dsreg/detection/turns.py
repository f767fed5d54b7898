"""Lists of turns: which keys hold the role and the text, which roles occur, and what tags follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsreg.detection.names import CONTENT_KEYS, CONVERSE_BLOCKS, KEY_PAIRS, ROLE_KEYS, ROLE_TAGS, ROLES

CHAT_VALUES = {
    "role_tag": ("role",),
    "content_tag": ("content",),
    "user_tag": ("user",),
    "assistant_tag": ("assistant",),
    "observation_tag": ("tool", "function"),
    "system_tag": ("system", "developer"),
    "function_tag": (),
}


@dataclass
class Turns:
    """What was seen in a column of turns."""

    role_key: str
    content_key: str
    count: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    rows_of: dict[str, list[int]] = field(default_factory=dict)
    last: Counter[str] = field(default_factory=Counter)
    parts: int = 0
    blocks: int = 0
    calls: int = 0
    candidates: int = 0
    thinking: int = 0

    def add(self, number: int, turns: Sequence[Mapping[str, Any]]) -> None:
        """Count the turns of one row."""
        for turn in turns:
            self.count += 1
            role = role_text(turn.get(self.role_key))
            self.roles[role] += 1
            rows = self.rows_of.setdefault(role, [])
            if number not in rows:
                rows.append(number)
            content = turn.get(self.content_key)
            kind = content_kind(content)
            self.parts += kind == "parts"
            self.blocks += kind == "blocks"
            self.calls += bool(turn.get("tool_calls") or turn.get("function_call"))
            self.candidates += isinstance(turn.get("candidates"), (list, tuple))
            self.thinking += bool(turn.get("reasoning_content") or turn.get("reasoning"))
        self.last[ROLES.get(role_text(turns[-1].get(self.role_key)).lower(), "")] += 1

    def tags(self, given: Mapping[str, str]) -> dict[str, str]:
        """The tags that the data shows, under the given ones: per meaning the most common name of a role."""
        tags = {"role_tag": self.role_key, "content_tag": self.content_key}
        taken = set(given.values())
        for tag, meaning in ROLE_TAGS.items():
            names = [role for role, _ in self.roles.most_common() if ROLES.get(role.lower()) == meaning]
            names = [role for role in names if role not in taken]
            if names:
                tags[tag] = names[0]
        return {**tags, **{tag: value for tag, value in given.items() if value}}

    def is_chat(self, given: Mapping[str, str]) -> bool:
        """Whether these are the keys and roles of OpenAI's API, whose names are fixed."""
        tags = self.tags(given)
        return (
            self.blocks <= self.parts
            and ("user_tag" in tags or "assistant_tag" in tags)
            and all(
                value in CHAT_VALUES.get(tag, ()) or (tag in ROLE_TAGS and value not in self.roles)
                for tag, value in tags.items()
            )
        )

    def odd_roles(self, tags: Mapping[str, str]) -> list[str]:
        """The roles that are none of the tags'."""
        known = {tags[tag] for tag in ROLE_TAGS if tag in tags}
        return [role for role in self.roles if role not in known]


def role_text(value: Any) -> str:
    """A role as text; anything else than text counts as a role without a name."""
    return value if isinstance(value, str) else ""


def content_kind(content: Any) -> str:
    """Whether a content is a list of OpenAI's typed "parts", of Converse "blocks", or "" for anything else."""
    if not isinstance(content, (list, tuple)) or not content:
        return ""
    if not all(isinstance(item, Mapping) for item in content):
        return ""
    if any("type" in item for item in content):
        return "parts"
    return "blocks" if all(not CONVERSE_BLOCKS.isdisjoint(item) for item in content) else ""


def read_shape(dialogues: list[tuple[int, list[Mapping[str, Any]]]]) -> Turns | None:
    """What these lists of objects are like as turns, or None if they do not look like turns."""
    every = [turn for _, turns in dialogues for turn in turns]
    keys: Counter[str] = Counter(key for turn in every for key in turn if isinstance(key, str))
    half = len(every) / 2
    common = [key for key, n in keys.items() if n > half]
    role_key = next((key for key in (*ROLE_KEYS, *common) if key in common and says_roles(every, key)), None)
    if role_key is None:
        role_key = next((role for role, content in KEY_PAIRS if role in common and content in keys), None)
    if role_key is None:
        return None
    content_key = find_content_key(role_key, common, keys)
    if content_key is None:
        return None
    shape = Turns(role_key, content_key)
    for number, turns in dialogues:
        shape.add(number, turns)
    return shape


def says_roles(turns: list[Mapping[str, Any]], key: str) -> bool:
    """Whether most turns have the name of a known role under this key."""
    return sum(role_text(turn.get(key)).lower() in ROLES for turn in turns) > len(turns) / 2


def find_content_key(role_key: str, common: list[str], keys: Counter[str]) -> str | None:
    """The key of the text: a usual one, or the only other one. Turns that only call or choose may lack it."""
    usual = [key for key in CONTENT_KEYS if key in common and key != role_key]
    if usual:
        return usual[0]
    others = [key for key in common if key != role_key]
    if len(others) == 1 and others[0] not in ("tool_calls", "candidates"):
        return others[0]
    return next((content for role, content in KEY_PAIRS if role == role_key and content in keys), None)
