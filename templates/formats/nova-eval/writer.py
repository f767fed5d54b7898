"""Write Amazon Nova evaluation rows (gen_qa): query, response, system, images."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS303 to DS308 for what amzn-nova-forge would refuse."""
    messages = list(sample["messages"])
    answer = sample.get("answer")
    if c.task == "sft" and messages and messages[-1]["role"] == "assistant":
        answer = messages.pop()["content"]
    system = messages.pop(0)["content"] if messages and messages[0]["role"] == "system" else ""
    if len(messages) != 1 or messages[0]["role"] != "user":
        raise RowError("DS308", "messages", "gen_qa holds one question: a user's turn, and a system prompt before it")
    query, images = nova_eval_query(messages[0]["content"])
    if not isinstance(answer, str) or not answer.strip():
        raise RowError("DS307", "answer", "gen_qa wants a response that is text, and not empty")
    row: dict[str, Any] = {"query": query, "response": answer}
    if not isinstance(system, str):
        raise RowError("DS308", "messages[0].content", "the system prompt is of several texts; gen_qa takes one")
    if system:
        row["system"] = system
    if images:
        row["images"] = images
    return row


def nova_eval_query(content: Any) -> tuple[str, list[dict[str, Any]]]:
    """The text of the question, and its images as data URIs."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if len(texts) != 1 or not texts[0].strip():
        raise RowError("DS303", "messages", "gen_qa wants one question that is text, and not empty")
    images = []
    for part in parts:
        if part["type"] == "text":
            continue
        source = part["source"]
        if part["type"] != "image" or not isinstance(source, str) or not source.startswith("data:"):
            raise RowError("DS305", "messages", f"gen_qa takes images as data URIs, not {source!r:.60}")
        images.append({"data": source})
    return texts[0], images
