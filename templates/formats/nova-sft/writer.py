"""Write Amazon Nova SFT rows: the Converse layout that all of AWS's published validators accept together."""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.converse import write_converse


def write_row(sample: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The Nova row of one sample; raises RowError DS302 to DS306 for what one of the validators would refuse."""
    return write_converse(sample, sample["messages"], c)
