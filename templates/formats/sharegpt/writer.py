"""Write ShareGPT rows in LlamaFactory's own names, under its odd and even rule."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import carry_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import json_text
from dsreg.rowcode.media import lift_media
from dsreg.rowcode.thinking import inline_thinking
from dsreg.rowcode.turns import write_turns


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The ShareGPT row of one sample; raises RowError DS302 where LlamaFactory would drop it.

    `system` and `tools` stand on every row, since LlamaFactory loads through Arrow and reads empty text as none.
    """
    if c.options["thinking"] == "inline":
        sample = inline_thinking(sample)
    messages = [*sample["messages"], *sample["completion"]] if c.task == "kto" else sample["messages"]
    media: dict[str, Any] = {}
    if any(type(message["content"]) is not str for message in messages):
        messages, media = lift_media(messages, "messages")
    system, turns = write_turns(messages, "messages")
    if len(turns) % 2 != (c.task == "preference") or not turns:
        last = turns[-1]["from"] if turns else "nothing"
        raise RowError("DS302", "messages", f"the row ends with `{last}`; LlamaFactory drops such rows")
    row: dict[str, Any] = {"conversations": turns}
    if c.task == "preference":
        row["chosen"] = sharegpt_turn(sample, "chosen")
        row["rejected"] = sharegpt_turn(sample, "rejected")
    elif c.task == "kto":
        row["kto_tag"] = sample["label"]
    row["system"] = system
    row["tools"] = json_text(sample["tools"], "tools") if sample.get("tools") else ""
    row.update(media)
    return carry_extra(sample, row)


def sharegpt_turn(sample: dict[str, Any], key: str) -> dict[str, Any]:
    """One answer as an object; LlamaFactory holds a single turn of text there."""
    answer = sample[key]
    if len(answer) != 1 or not isinstance(answer[0]["content"], str):
        raise RowError("DS302", key, f"LlamaFactory holds a single turn of text as {key}")
    return write_turns([{"role": "user", "content": ""}, *answer], key)[1][-1]
