"""Write Amazon Nova DPO rows: as for SFT, with two candidates in place of the last answer."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_write import write_converse
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.nova_text import checked_text


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The Nova DPO row of one sample; raises RowError DS302 to DS308 for what one of the checkers would refuse."""
    row = write_converse(sample["messages"], sample.get("tools"), c)
    turns = row["messages"]
    if not turns or turns[-1]["role"] != "user":
        raise RowError("DS302", "messages", "Nova wants a prompt that ends in a user's turn")
    for i, turn in enumerate(turns):
        for block in turn["content"]:
            if "video" in block or "document" in block:
                raise RowError("DS305", f"messages[{i}]", "Nova's DPO takes no videos and no documents")
            if "reasoningContent" in block:
                raise RowError("DS310", f"messages[{i}]", "Nova's DPO takes no reasoning: --strip thinking")
    candidates = [
        nova_dpo_candidate(sample["chosen"], "chosen", "preferred", c),
        nova_dpo_candidate(sample["rejected"], "rejected", "non-preferred", c),
    ]
    turns.append({"role": "assistant", "candidates": candidates})
    return row


def nova_dpo_candidate(answer: list[dict[str, Any]], path: str, label: str, c: Constants) -> dict[str, Any]:
    """One candidate: the texts of one answer and its label."""
    if len(answer) != 1 or "tool_calls" in answer[0]:
        raise RowError("DS308", path, "a candidate is one text of the assistant, without tool calls")
    if "thinking" in answer[0]:
        raise RowError("DS310", path, "Nova's DPO takes no reasoning: --strip thinking")
    content = answer[0]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not parts or any(part["type"] != "text" for part in parts):
        raise RowError("DS305", path, "a candidate is text only")
    return {"content": [{"text": checked_text(part["text"], path, c)} for part in parts], "preferenceLabel": label}
