"""Text that Nova takes: not empty, and without the words that its validators reserve.

Five lists of reserved words exist, two of them matched without regard to letter case: nova_ft_dataset_validator.py of
amazon-nova-samples, amzn-nova-forge 1.4.10, and the Nova user guides. A hit in the letter case of any list refuses the
row; a hit only when case is ignored is worth a word about the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

# "Chatbot:" passes, "Bot:" does not.
RESERVED_WORDS = (
    *("System:", "SYSTEM:", "User:", "USER:", "Bot:", "BOT:", "Assistant:", "ASSISTANT:", "Thought:"),
    *("<image>", "<video>", "<unk>", "[EOS]"),
)
RESERVED_IN_ANY_CASE = ("system:", "user:", "bot:", "assistant:", "thought:", "<image>", "<video>", "<unk>", "[eos]")
# What the words have around the one character that is rare in texts, so that few texts are searched for each of them.
RESERVED_COLON = re.compile(r":(?<=[mrtMRT]:)")
RESERVED_ANGLE = re.compile(r"<(?=[iuvIUV])")
RESERVED_SQUARE = re.compile(r"\[(?=[eE])")


def is_doubtful(text: str) -> bool:
    """Whether a text may be blank or hold a reserved word in some letter case: all others need no closer look."""
    if ":" in text and RESERVED_COLON.search(text):
        return True
    if "<" in text and RESERVED_ANGLE.search(text):
        return True
    if "[" in text and RESERVED_SQUARE.search(text):
        return True
    return not text or text.isspace()


def checked_text(text: str, path: str, c: Constants) -> str:
    """The text if Nova takes it; raises RowError DS303 for empty text and DS304 for a reserved word."""
    if is_doubtful(text):
        if not text:
            raise RowError("DS303", path, "the text is empty")
        if c.options["reserved"] == "reject":
            refuse_reserved(text, path)
    return text


def refuse_reserved(text: str, path: str) -> None:
    """Raise RowError DS304 for a reserved word, with its offset."""
    for word in RESERVED_WORDS:
        if word in text:
            at = text.index(word)
            raise RowError("DS304", path, f"the text holds {word!r} at {at}, a word that Nova reserves")


def observe_text(text: str, path: str, row: int, notes: Any) -> None:
    """Note what validators let pass and training may not: blank text, and reserved words in another letter case."""
    if not is_doubtful(text):
        return
    if not text or text.isspace():
        notes.see("blank text", row)
        return
    low = text.lower()
    for word in RESERVED_IN_ANY_CASE:
        if word in low:
            if f"reserved {word}" not in notes.counts:
                notes.see(f"reserved {word} at {path}, offset {low.index(word)}", row)
            notes.see(f"reserved {word}", row)


def text_advice(notes: Any) -> Iterator[tuple[str, str, str]]:
    """Code, sentence and hint for what `observe_text` noted."""
    for word in RESERVED_IN_ANY_CASE:
        kind = f"reserved {word}"
        count = notes.counts[kind]
        if count:
            row = notes.first[kind]
            places = [seen for seen, first in notes.first.items() if first == row and seen.startswith(f"{kind} at ")]
            at = places[0].removeprefix(kind) if places else ""
            said = "1 text holds" if count == 1 else f"{count:,} texts hold"
            message = f"{said} {word!r} in some letter case, the first in row {row:,}{at}"
            yield "DS403", f"{message}; one of AWS's validators refuses the word in any", "reword those texts"
    if notes.counts["blank text"]:
        count, row = notes.counts["blank text"], notes.first["blank text"]
        said = "1 text is" if count == 1 else f"{count:,} texts are"
        message = f"{said} nothing but white space, the first in row {row:,}; no validator objects"
        yield "DS414", message, "fill those texts, or remove the rows"
