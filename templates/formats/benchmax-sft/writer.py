"""Write benchmax-sft-v1 rows, a closed contract: what is written here, benchmax.sft.SftDataset takes."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.benchmax_sft import check_size, write_metadata, write_sft_message, write_sft_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS302 to DS310 for what the contract refuses."""
    messages = sample["messages"]
    if not 1 <= len(messages) <= 1024:
        raise RowError("DS302", "messages", f"{len(messages):,} messages; benchmax-sft-v1 takes 1 to 1,024")
    row: dict[str, Any] = {"messages": [write_sft_message(m, f"messages[{i}]") for i, m in enumerate(messages)]}
    if sample.get("tools"):
        row["tools"] = write_sft_tools(sample["tools"])
    benchmax_sft_check_calls(row)
    if not any(m["role"] == "assistant" and m.get("weight", 1) == 1 for m in row["messages"]):
        raise RowError("DS302", "messages", "no answer has weight 1, so there is nothing to train")
    metadata = write_metadata(sample.get("extra", {}), c.options["metadata"])
    if metadata:
        row["metadata"] = metadata
    check_size(row)
    return row


def benchmax_sft_check_calls(row: dict[str, Any]) -> None:
    """Each call is of a declared tool under an id of its own, and has its result next, in the order of the calls.

    Results without an id are given that of the call they answer. Raises RowError DS306.
    """
    names = {tool["function"]["name"] for tool in row.get("tools", ())}
    seen: set[str] = set()
    waiting: list[str] = []
    for i, message in enumerate(row["messages"]):
        path = f"messages[{i}]"
        if message["role"] == "tool":
            call_id = message.setdefault("tool_call_id", waiting[0] if waiting else "")
            if not waiting or call_id != waiting.pop(0):
                reason = f"the result of {call_id!r:.60} does not follow its call, in the order of the calls"
                raise RowError("DS306", path, reason)
            continue
        if waiting:
            raise RowError("DS306", path, f"the call {waiting[0]!r:.60} has no result before this turn")
        for call in message.get("tool_calls", ()):
            if call["function"]["name"] not in names:
                raise RowError("DS306", path, f"the tool {call['function']['name']!r:.60} is called but not defined")
            if not call["id"] or call["id"] in seen:
                raise RowError("DS306", path, f"the call id {call['id']!r:.60} is empty or used twice")
            seen.add(call["id"])
            waiting.append(call["id"])
    if waiting:
        raise RowError("DS306", "messages", f"the row ends before the result of the call {waiting[0]!r:.60}")
