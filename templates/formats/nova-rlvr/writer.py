"""Write Amazon Nova RLVR rows: messages, reference_answer, tools, and fields for the reward function."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import write_tools
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import text_or_json
from dsreg.rowcode.nova_text import checked_text
from dsreg.rowcode.plain import write_plain


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The RLVR row of one sample; raises RowError DS302 to DS310 for what one of AWS's checkers would refuse."""
    messages = write_plain(sample["messages"], "messages", "Nova RLVR")
    for i, message in enumerate(messages):
        path = f"messages[{i}].content"
        if message["role"] == "system" and i:
            raise RowError("DS302", f"messages[{i}]", "a system message can only stand first")
        if checked_text(message["content"], path, c).isspace():
            raise RowError("DS303", path, "the text is blank")
    if not any(message["role"] == "user" for message in messages):
        raise RowError("DS302", "messages", "Nova wants a turn of the user")
    row: dict[str, Any] = {"messages": messages, "reference_answer": nova_rlvr_reference(sample.get("answer"), c)}
    if sample.get("tools"):
        row["tools"] = write_tools(sample["tools"])
        for i, tool in enumerate(row["tools"]):
            nova_rlvr_check_tool(tool["function"], f"tools[{i}].function")
    for key, value in sample.get("extra", {}).items():
        if key in ("messages", "reference_answer", "tools"):
            if value in (None, "", []):
                continue  # nothing is lost
            hint = f"carry it under another name: --column attributes={key}"
            raise RowError("DS310", key, f"a further column is called `{key}`, which is Nova's own; {hint}")
        if key == "id" and value is not None:
            value = text_or_json(value, "id")
            if not value:
                raise RowError("DS310", "id", "the id is empty")
        if key != "id" or value is not None:
            row[key] = value
    return row


def nova_rlvr_reference(answer: Any, c: Constants) -> Any:
    """The ground truth as the option wants it; an empty or absent one is refused by one checker or another."""
    if answer is None or answer == "" or answer == {} or answer == []:
        raise RowError("DS307", "answer", "Nova RLVR wants a reference answer, and this row has none")
    if c.options["reference_answer"] == "object":
        return answer if isinstance(answer, dict) else {"answer": answer}
    if not isinstance(answer, str):
        raise RowError("DS307", "answer", "the ground truth is no text: --option reference_answer=object")
    return answer


def nova_rlvr_check_tool(function: dict[str, Any], path: str) -> None:
    """Raise RowError DS306 for a function that amzn-nova-forge refuses."""
    schema = function.get("parameters")
    if not function.get("name") or not isinstance(function.get("description"), str) or not function["description"]:
        raise RowError("DS306", f"{path}.description", f"Nova wants a name and a description: {function['name']!r:.60}")
    if not isinstance(schema, dict) or schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        reason = f"Nova wants parameters of type object with properties: {function['name']!r:.60}"
        raise RowError("DS306", f"{path}.parameters", reason)
