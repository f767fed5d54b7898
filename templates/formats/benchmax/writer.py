"""Write benchmax rows: prompt_messages, messages or prompt, a ground truth, and keys for the environment."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.canonical import canonical_example_id, canonical_value
from dsreg.rowcode.chat import write_chat
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The benchmax row of one sample; raises RowError DS302 to DS310."""
    if not sample["messages"]:
        raise RowError("DS302", "messages", "benchmax wants a message")
    messages = write_chat(sample["messages"])
    for message in messages:
        if message["content"] is None:
            del message["content"]
    shape = c.options["shape"]
    rest = {"ground_truth": sample["answer"]} if "answer" in sample else {}
    for key, value in sample.get("extra", {}).items():
        if key in (shape, "prompt_messages", "ground_truth"):
            if value in (None, "", []):
                continue  # nothing is lost
            hint = f"carry it under another name: --column attributes={key}"
            raise RowError("DS310", key, f"a further column is called `{key}`, which is benchmax's own; {hint}")
        rest[key] = value
    payload = {"prompt_messages": messages, **rest}
    if c.options["id"] == "canonical":
        payload.pop("id", None)
        return {shape: benchmax_prompt(messages, rest, shape), **rest, "id": canonical_example_id(payload)}
    try:
        canonical_value(payload, "")
    except RecursionError:
        raise RowError("DS310", "", "nested too deeply") from None
    return {shape: benchmax_prompt(messages, rest, shape), **rest}


def benchmax_prompt(messages: list[dict[str, Any]], rest: dict[str, Any], shape: str) -> Any:
    """The prompt in its shape; a plain text needs a single turn of the user and a ground truth of text."""
    if shape != "prompt":
        return messages
    if len(messages) != 1 or messages[0].keys() != {"role", "content"} or messages[0]["role"] != "user":
        raise RowError("DS308", "messages", "shape=prompt holds one turn of the user: --option shape=prompt_messages")
    content = messages[0]["content"]
    if not isinstance(content, str) or not content:
        raise RowError("DS303", "prompt", "shape=prompt wants text that is not empty")
    truth = rest.get("ground_truth")
    if not isinstance(truth, str) or not truth:
        reason = "shape=prompt wants a ground truth of text: castform's scaffold refuses others"
        raise RowError("DS307", "ground_truth", f"{reason}; --option shape=prompt_messages holds any")
    return content
