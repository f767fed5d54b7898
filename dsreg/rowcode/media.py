"""Media placeholders in text, and the content parts they stand for."""

from __future__ import annotations

import re
from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

MEDIA_COLUMNS = {"images": "image", "videos": "video", "audios": "audio"}


def read_media(row: dict[str, Any], c: Constants) -> dict[str, list[Any]]:
    """The media of a row by kind; a single value counts as a list of one, empty means none."""
    media = {}
    for name, kind in MEDIA_COLUMNS.items():
        column = c.columns.get(name)
        value = row.get(column) if column is not None else None
        if not value:
            continue
        media[kind] = value if isinstance(value, list) else [value]
        for i, source in enumerate(media[kind]):
            if source is None:
                raise RowError("DS208", f"{column}[{i}]", "the media list holds null")
    return media


def place_media(messages: list[dict[str, Any]], media: dict[str, list[Any]], path: str) -> None:
    """Turn `<image>`, `<video>` and `<audio>` into content parts, in place, in the order of the media columns.

    Raises RowError DS208 when a row has media of a kind but not as many placeholders: LlamaFactory aborts on those.
    """
    if not media:
        return
    kinds = "|".join(media)
    waiting = {kind: iter(sources) for kind, sources in media.items()}
    found = dict.fromkeys(media, 0)
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            continue
        pieces = re.split(f"<({kinds})>", content)
        if len(pieces) == 1:
            continue
        parts: list[dict[str, Any]] = []
        for i, piece in enumerate(pieces):
            if i % 2:
                found[piece] += 1
                parts.append({"type": piece, "source": next(waiting[piece], None)})
            elif piece:
                parts.append({"type": "text", "text": piece})
        message["content"] = parts
    for kind, sources in media.items():
        if found[kind] != len(sources):
            raise RowError("DS208", path, f"{len(sources)} {kind}(s) but {found[kind]} <{kind}> placeholder(s)")


def refuse_placeholders(answers: list[dict[str, Any]], media: dict[str, list[Any]], path: str) -> None:
    """Raise RowError DS208 for a placeholder in one of two answers: the media would belong to both, or to neither."""
    for kind in media:
        if any(isinstance(answer["content"], str) and f"<{kind}>" in answer["content"] for answer in answers):
            raise RowError("DS208", path, f"<{kind}> stands in an answer; media can only stand in the prompt of a pair")


def lift_media(messages: list[dict[str, Any]], path: str) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
    """Write media parts as placeholders: the messages with text content, and the sources by column name.

    Raises RowError DS305 where a literal placeholder in the text would be taken for one of the media.
    """
    media: dict[str, list[Any]] = {}
    flat = []
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            pieces = []
            for part in content:
                if part["type"] == "text":
                    pieces.append(part["text"])
                else:
                    pieces.append(f"<{part['type']}>")
                    media.setdefault(f"{part['type']}s", []).append(part["source"])
            message = {**message, "content": "".join(pieces)}
        flat.append(message)
    for column, sources in media.items():
        placeholder = f"<{MEDIA_COLUMNS[column]}>"
        if sum(message["content"].count(placeholder) for message in flat) != len(sources):
            raise RowError("DS305", path, f"the text holds a literal {placeholder} beside the row's {column}")
    return flat, media
