"""The flags of `add` and `set` as what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsreg.cli.options import parse_pairs

if TYPE_CHECKING:
    from dsreg.add import Asked


def asked_of(flags: Mapping[str, Any]) -> Asked:
    """What the flags of a command ask for; raises UsageError for a value that is no KEY=VALUE."""
    from dsreg.add import ENTRY_FLAGS, Asked

    return Asked(
        format=flags["format"],
        ranking=flags["ranking"],
        columns=parse_pairs(flags["column"], "--column"),
        tags=parse_pairs(flags["tag"], "--tag"),
        entry={key: flags[key] for key in ENTRY_FLAGS if flags[key] is not None},
        copy=flags["copy"],
        targets=flags["target"],
        options=parse_pairs(flags["option"], "--option"),
    )
