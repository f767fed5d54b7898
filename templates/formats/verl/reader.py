"""Read verl's reinforcement learning rows: data_source, prompt, ability, reward_model, extra_info, media."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import read_chat
from dsreg.rowcode.columns import need
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import place_media
from dsreg.rowcode.plain import check_plain
from dsreg.rowcode.verl import read_verl, read_verl_media


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one verl row; raises RowError."""
    column = c.columns.get("prompt", "prompt")
    prompt = need(row, c, "prompt")
    if isinstance(prompt, str):
        raise RowError("DS204", column, "the prompt is text, which verl does not take: --format verl-legacy reads it")
    messages = read_chat(prompt, column)
    if not messages:
        raise RowError("DS202", column, "the prompt has no messages")
    check_plain(messages, column, "verl")
    media = read_verl_media(row, c)
    if media:
        place_media(messages, media, column)
    for i, message in enumerate(messages):
        content = message["content"]
        if not isinstance(content, str) and all(part["type"] == "text" for part in content):
            raise RowError("DS216", f"{column}[{i}].content", "content of several texts has no place in verl")
    return read_verl(row, messages, c)
