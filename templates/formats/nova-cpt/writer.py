"""Write Amazon Nova pre-training rows: one text, and no other key."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of one sample; raises RowError DS303 for blank text, which both validators refuse."""
    text = sample["text"]
    if not text or text.isspace():
        raise RowError("DS303", "text", "the text is blank")
    return {"text": text}
