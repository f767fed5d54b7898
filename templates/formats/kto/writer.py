"""Write KTO rows for LlamaFactory: ShareGPT turns with a boolean kto_tag."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import carry_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.media import lift_media
from dsreg.rowcode.thinking import inline_thinking
from dsreg.rowcode.turns import write_turns


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The KTO row of one sample; raises RowError DS302 where LlamaFactory would drop it or turn its label around."""
    if c.options["thinking"] == "inline":
        sample = inline_thinking(sample)
    messages = [*sample["messages"], *sample["completion"]]
    media: dict[str, Any] = {}
    if any(type(message["content"]) is not str for message in messages):
        messages, media = lift_media(messages, "messages")
    system, turns = write_turns(messages, "messages")
    if len(turns) % 2 or not turns:
        raise RowError("DS302", "messages", "the turns before the answer do not end with a human or an observation")
    if sample["label"] and not turns[-1]["value"]:
        raise RowError("DS303", "completion", "LlamaFactory counts a desirable answer without text as undesirable")
    return carry_extra(sample, {"conversations": turns, "kto_tag": sample["label"], "system": system, **media})
