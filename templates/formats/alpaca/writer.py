"""Write Alpaca rows: the last turn as instruction and output, earlier ones as history."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import carry_extra, json_name
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import json_text
from dsreg.rowcode.media import lift_media
from dsreg.rowcode.thinking import inline_thinking


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The Alpaca row of one sample; raises RowError DS302 where the turns are not question and answer in turn.

    Text keys stand on every row, since LlamaFactory loads through Arrow and reads empty text as none.
    """
    if c.options["thinking"] == "inline":
        sample = inline_thinking(sample)
    messages = sample["messages"]
    media: dict[str, Any] = {}
    if any(type(message["content"]) is not str for message in messages):
        messages, media = lift_media(messages, "messages")
    output = None
    if c.task == "sft":
        if not messages or messages[-1]["role"] != "assistant":
            raise RowError("DS302", "messages", "the row does not end in an assistant's turn")
        output, messages = messages[-1]["content"], messages[:-1]
    row = alpaca_dialogue(messages)
    if c.task == "kto":
        output = alpaca_answer(sample, "completion")
    elif c.task == "prompt":
        output = sample.get("answer", "")
        if not isinstance(output, str):
            raise RowError("DS307", "answer", f"LlamaFactory reads only text as an answer, found {json_name(output)}")
    if c.task == "preference":
        row["chosen"] = alpaca_answer(sample, "chosen")
        row["rejected"] = alpaca_answer(sample, "rejected")
    else:
        row["output"] = output
    if c.task == "kto":
        row["kto_tag"] = sample["label"]
    if sample.get("tools"):
        row["tools"] = json_text(sample["tools"], "tools")
    row.update(media)
    return carry_extra(sample, row)


def alpaca_dialogue(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Instruction, input, system and history of the turns before the answer."""
    system, start = "", 0
    if messages and messages[0]["role"] == "system":
        system, start = messages[0]["content"], 1
    history = []
    for i in range(start, len(messages) - 1, 2):
        question, answer = messages[i], messages[i + 1]
        if question["role"] != "user" or answer["role"] != "assistant":
            wrong = i + (question["role"] == "user")
            raise RowError("DS302", f"messages[{wrong}]", "Alpaca holds only a user's turn and its answer, in turn")
        history.append([question["content"], answer["content"]])
    if (len(messages) - start) % 2 == 0 or messages[-1]["role"] != "user":
        raise RowError("DS302", "messages", "Alpaca needs a user's turn before the answer")
    return {"instruction": messages[-1]["content"], "input": "", "system": system, "history": history}


def alpaca_answer(sample: dict[str, Any], key: str) -> str:
    """The text of a chosen, rejected or labelled answer."""
    answer = sample[key]
    if len(answer) != 1 or not isinstance(answer[0]["content"], str):
        raise RowError("DS302", key, "Alpaca holds one text answer")
    return answer[0]["content"]
