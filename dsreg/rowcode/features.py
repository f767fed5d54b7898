"""What a sample uses that a target may not be able to hold."""

from __future__ import annotations

from itertools import chain
from typing import Any

TURNS = ("messages", "chosen", "rejected", "completion")
MEDIA_FEATURES = {"image": "images", "video": "videos", "audio": "audios", "document": "documents"}
STRIP_KEYS = {"thinking": "thinking", "weight": "weight", "name": "name", "other_keys": "other"}


def find_features(sample: dict[str, Any]) -> set[str]:
    """The names of the features a sample uses: system, multi_turn, tools, tool_calls, images, thinking, …"""
    found: set[str] = set()
    if sample.get("tools"):
        found.add("tools")
    users = 0
    for key in TURNS:
        if key in sample:
            roles = [message["role"] for message in sample[key]]
            users += roles.count("user")
            if "system" in roles:
                found.add("system")
            for message in sample[key]:
                if len(message) > 2:
                    message_features(message, found)
                if type(message["content"]) is not str:
                    content_features(message["content"], found)
    if users > 1:
        found.add("multi_turn")
    return found


def may_use(sample: dict[str, Any], marks: frozenset[str]) -> bool:
    """Whether a message of the sample has one of these keys."""
    return any(not marks.isdisjoint(chain.from_iterable(sample[key])) for key in TURNS if key in sample)


def message_features(message: dict[str, Any], found: set[str]) -> None:
    """Add the features of a message that has more than a role and content."""
    calls = message.get("tool_calls")
    if calls:
        found.add("tool_calls")
        if len(calls) > 1:
            found.add("parallel_tools")
        if message["content"]:
            found.add("text_beside_call")
    if message["role"] == "tool":
        found.add("tool_calls")
    elif "name" in message:
        found.add("name")
    if "thinking" in message:
        found.add("thinking")
    if "weight" in message:
        found.add("weight")
    if "other" in message:
        found.add("other_keys")


def content_features(parts: list[dict[str, Any]], found: set[str]) -> None:
    """Add the features of content that is a list of parts."""
    kinds = {part["type"] for part in parts}
    found.update(MEDIA_FEATURES[kind] for kind in kinds if kind != "text")
    if kinds <= {"text"}:
        found.add("content_parts")


def strip_features(sample: dict[str, Any], strip: frozenset[str]) -> dict[str, Any]:
    """A copy of the sample without the named features; what cannot go without breaking the row stays."""
    sample = dict(sample)
    turns = [message for key in TURNS for message in sample.get(key, ())]
    if "tools" in strip and not any("tool_calls" in message or message["role"] == "tool" for message in turns):
        sample.pop("tools", None)
    for key in TURNS:
        if key in sample:
            kept = [m for m in sample[key] if not ("system" in strip and m["role"] == "system")]
            sample[key] = [strip_message(message, strip) for message in kept]
    return sample


def strip_message(message: dict[str, Any], strip: frozenset[str]) -> dict[str, Any]:
    """A copy of the message without the named features."""
    gone = {key for feature, key in STRIP_KEYS.items() if feature in strip}
    if message["role"] == "tool":
        gone.discard("name")
    message = {key: value for key, value in message.items() if key not in gone}
    if "text_beside_call" in strip and message.get("tool_calls"):
        message["content"] = ""
    content = message["content"]
    if isinstance(content, list):
        kept = [part for part in content if MEDIA_FEATURES.get(part["type"]) not in strip]
        text = all(part["type"] == "text" for part in kept) and len(kept) != len(content)
        if kept:  # a turn of nothing but media is nothing without them
            message["content"] = "".join(part["text"] for part in kept) if text else kept
    return message
