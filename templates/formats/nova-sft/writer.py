"""Write Amazon Nova SFT rows: the Converse layout that all of AWS's published validators accept together."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_features import mixed_features, observe_features
from dsreg.rowcode.converse_write import write_converse
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.thinking import split_thinking


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The Nova row of one sample; raises RowError DS302 to DS306 for what one of the validators would refuse."""
    if c.options["thinking"] == "split":
        sample = split_thinking(sample)
    row = write_converse(sample["messages"], sample.get("tools"), c)
    turns = row["messages"]
    if len(turns) < 2 or turns[-1]["role"] != "assistant":
        raise RowError("DS302", "messages", "Nova wants a dialogue that ends in an assistant's turn")
    if c.options["model"] != "lite-2":
        nova_sft_check_model(row, c.options["model"])
    return row


def nova_sft_check_model(row: dict[str, Any], model: str) -> None:
    """Raise RowError DS306 for tools and DS310 for reasoning, which only Nova 2 models are trained on."""
    if "toolConfig" in row:
        raise RowError("DS306", "tools", f"Nova {model} is not trained on tools; lite-2 is")
    for i, turn in enumerate(row["messages"]):
        for block in turn["content"]:
            if "toolUse" in block or "toolResult" in block:
                raise RowError("DS306", f"messages[{i}]", f"Nova {model} is not trained on tools; lite-2 is")
            if "reasoningContent" in block:
                raise RowError("DS310", f"messages[{i}]", f"Nova {model} takes no reasoning: --strip thinking")


def survey_needed(c: Constants) -> bool:
    """Whether the file has to be seen as a whole first: only when it shall be homogeneous."""
    return bool(c.options["homogeneous"])


def survey(sample: dict[str, Any], c: Constants, notes: Any) -> None:
    """Note which optional parts the row of one sample will use; raises what `write_row` does."""
    observe_features(write_row(sample, c), notes.counts["nova row"] + 1, notes)


def decide(notes: Any, c: Constants) -> None:
    """Refuse the file, with RowError DS402, when an optional part is in some rows only."""
    mixed = list(mixed_features(notes))
    if mixed:
        raise RowError("DS402", "", "; ".join(f"{message} ({hint})" for message, hint in mixed))
