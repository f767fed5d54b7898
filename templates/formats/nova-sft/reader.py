"""Read Amazon Nova SFT rows: system, messages of content blocks, toolConfig."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import as_list, need, read_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse import read_converse_system, read_converse_turn, read_tool_specs
from dsreg.rowcode.errors import RowError


def read_row(row: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The sample of one Nova row; raises RowError."""
    messages = read_converse_system(row, "system")
    column = c.columns["messages"]
    for i, turn in enumerate(as_list(need(row, c, "messages"), column)):
        messages.extend(read_converse_turn(turn, f"{column}[{i}]"))
    version = row.get("schemaVersion")
    if version is not None and not isinstance(version, str):
        raise RowError("DS204", "schemaVersion", "the schema version must be text")
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    tools = read_tool_specs(row, "toolConfig")
    if tools:
        sample["tools"] = tools
    extra = read_extra(row, c)
    if extra:
        sample["extra"] = extra
    return sample
