"""Messages of content blocks, as Amazon Bedrock's Converse layout has them, written under Nova's rules.

Where AWS's validators differ, what is written passes all of them. Sources: the Nova user guides on preparing data,
nova_ft_dataset_validator.py of amazon-nova-samples, amzn-nova-forge 1.4.10, and sagemaker-train 1.27.0.
"""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_media import check_media_counts, write_media
from dsreg.rowcode.converse_tools import Link, check_tool_links, write_tool_result, write_tool_use, write_tools_once
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.nova_text import checked_text, is_doubtful

CONVERSE_VERSION = "bedrock-conversation-2024"


def write_converse(messages: list[dict[str, Any]], tools: Any, c: Constants) -> dict[str, Any]:
    """The row of a dialogue, from its schema version to its messages; raises RowError DS302 to DS306.

    Who has to speak last is for the caller to check.
    """
    row: dict[str, Any] = {"schemaVersion": CONVERSE_VERSION}
    start = 0
    if messages and messages[0]["role"] == "system":
        start = 1
        text = messages[0]["content"]
        if type(text) is not str:
            raise RowError("DS302", "messages[0].content", "the system prompt is of several texts; Nova takes one")
        if text:
            row["system"] = [{"text": checked_text(text, "messages[0].content", c)}]
    specs: dict[str, Any] = {}
    if tools:
        specs = write_tools_once(tools)
        row["toolConfig"] = {"tools": [*specs.values()]}
    links: list[Link] = []
    row["messages"] = write_converse_turns(messages, start, links, c)
    if links:
        check_tool_links(links, specs)
    return row


def write_converse_turns(
    messages: list[dict[str, Any]], start: int, links: list[Link], c: Constants
) -> list[dict[str, Any]]:
    """User and assistant turns in strict alternation; tool results make up a user's turn. Adds calls to `links`."""
    turns: list[dict[str, Any]] = []
    media: dict[str, int] = {}
    previous = "assistant"
    for i in range(start, len(messages)):
        message = messages[i]
        role = message["role"]
        content = message["content"]
        if role == "tool":
            result = write_tool_result(message, links, i, c)
            if i > start and messages[i - 1]["role"] == "tool":
                links.append((len(turns) - 1, result["toolUseId"], None))
                turns[-1]["content"].append({"toolResult": result})
                continue
            links.append((len(turns), result["toolUseId"], None))
            role = "user"
            blocks: list[dict[str, Any]] = [{"toolResult": result}]
        elif len(message) == 2 and type(content) is str:
            if is_doubtful(content):
                checked_text(content, f"messages[{i}]", c)
            blocks = [{"text": content}]
        else:
            blocks = write_blocks(message, f"messages[{i}]", media, c)
            if "tool_calls" in message:
                links.extend([(len(turns), call["id"], call["name"]) for call in message["tool_calls"]])
        if role == previous or role == "system":
            refuse_order(message["role"], previous, i, start)
        turns.append({"role": role, "content": blocks})
        previous = role
    if media:
        check_media_counts(media)
    return turns


def refuse_order(role: str, previous: str, i: int, start: int) -> None:
    """Raise RowError DS302 for a message that cannot stand where it does."""
    if role == "system":
        message = "Nova has one system prompt, before the dialogue; this is " + ("another" if start else "a later one")
    else:
        before = "the start" if i == start else f"`{previous}`"
        message = f"`{role}` follows {before}; Nova wants user and assistant in turn"
    raise RowError("DS302", f"messages[{i}]", message)


def write_blocks(message: dict[str, Any], path: str, media: dict[str, int], c: Constants) -> list[dict[str, Any]]:
    """The content blocks of a message: reasoning, text and media, then tool calls."""
    blocks: list[dict[str, Any]] = []
    content = message["content"]
    calls = message.get("tool_calls", ())
    if "thinking" in message:
        text = checked_text(message["thinking"], f"{path}.thinking", c)
        blocks.append({"reasoningContent": {"reasoningText": {"text": text}}})
    if isinstance(content, list):
        if not content:
            raise RowError("DS303", f"{path}.content", "the content is empty")
        if message["role"] != "user" and any(part["type"] != "text" for part in content):
            raise RowError("DS305", path, "only a user's turn can hold media")
        blocks.extend(write_part_block(part, f"{path}.content[{n}]", media, c) for n, part in enumerate(content))
    elif content or not calls:
        blocks.append({"text": checked_text(content, path, c)})
    blocks.extend([write_tool_use(call, path) for call in calls])
    return blocks


def write_part_block(part: dict[str, Any], path: str, media: dict[str, int], c: Constants) -> dict[str, Any]:
    """One part of a message's content as a text or media block."""
    if part["type"] == "text":
        return {"text": checked_text(part["text"], path, c)}
    return write_media(part, path, media, c)
