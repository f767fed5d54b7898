"""The flags that decide about a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dsreg.cli.options import parse_pairs

if TYPE_CHECKING:
    from dsreg.runner import Choices


def choices_of(
    take: str | None,
    skip: Sequence[str] | None,
    strip: Sequence[str] | None,
    option: Sequence[str] | None,
    text_template: str | None,
) -> Choices:
    """What was chosen; raises UsageError for a choice, a feature or an option that does not exist."""
    from pathlib import Path

    from dsreg.errors import UsageError
    from dsreg.model import closest
    from dsreg.runner import Choices, check_feature_names
    from dsreg.tasks import TAKES

    if take is not None and take not in TAKES:
        near = closest(take, TAKES)
        raise UsageError(
            f"--take {take}: there is no such choice",
            hint=f"did you mean `{near}`?" if near else f"choices are {', '.join(TAKES)}",
        )
    template = Path(text_template) if text_template is not None else None
    choices = Choices(
        take, frozenset(skip or ()), frozenset(strip or ()), dict(parse_pairs(option, "--option")), template
    )
    check_feature_names(choices)
    return choices
