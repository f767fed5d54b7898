"""What to know about a file of Nova SFT rows as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsreg.notes import Advice, Notes
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse_features import mixed_features, note_features
from dsreg.rowcode.converse_media import MEDIA_FORMATS
from dsreg.rowcode.nova_text import is_doubtful, observe_text, text_advice

MOST_ROWS = 20_000


def observe(row: dict[str, Any], number: int, notes: Notes, c: Constants) -> None:
    """Note the optional parts of one written row, blank texts, and reserved words in another letter case."""
    kinds: set[str] = set()
    if "system" in row:
        observe_text(row["system"][0]["text"], "system", number, notes)
    for i, turn in enumerate(row["messages"]):
        for block in turn["content"]:
            if "text" in block:
                if is_doubtful(block["text"]):
                    observe_text(block["text"], f"messages[{i}]", number, notes)
            elif "toolResult" in block:
                kinds.add("toolResult")
                for part in block["toolResult"]["content"]:
                    if is_doubtful(part["text"]):
                        observe_text(part["text"], f"messages[{i}]", number, notes)
            else:
                kinds.update(block)
                if "reasoningContent" in block:
                    observe_text(block["reasoningContent"]["reasoningText"]["text"], f"messages[{i}]", number, notes)
    note_features(kinds, row, number, notes)
    if "toolConfig" in row and not kinds.isdisjoint(MEDIA_FORMATS):
        notes.see("tools and media", number)


def advise(notes: Notes, rows: int, c: Constants) -> Iterator[Advice]:
    """The advisories on a file of `rows` rows."""
    yield from nova_sizes(rows, c.options["model"])
    for message, hint in mixed_features(notes):
        yield Advice("DS402", message, hint)
    for said in text_advice(notes):
        yield Advice(*said)
    if notes.counts["tools and media"]:
        count, row = notes.counts["tools and media"], notes.first["tools and media"]
        message = f"{count:,} rows have toolConfig and media, first row {row:,}; sagemaker-train refuses those"
        yield Advice("DS415", message, "--skip tools or --strip media such as images")


def nova_sizes(rows: int, model: str) -> Iterator[Advice]:
    """Advisories on how many rows there are."""
    if rows < 8:
        yield Advice("DS401", f"{rows:,} rows; Nova wants 8 or more", "add rows")
    elif rows < 200 and model == "lite-2":
        message = f"{rows:,} rows; AWS's validators want 200 or more for {model} on Bedrock, its guide wants 8"
        yield Advice("DS401", message, "add rows")
    elif rows > MOST_ROWS:
        message = f"{rows:,} rows; Nova takes {MOST_ROWS:,} at most on Bedrock"
        yield Advice("DS401", message, "split the file, or train on SageMaker, where the limit is higher")
