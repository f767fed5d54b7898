"""A proposal in words: what was decided about a dataset, why, and how its first row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsreg.cli import output
from dsreg.cli.chat import chat_lines

if TYPE_CHECKING:
    from dsreg.add import Proposal

_SHOWN_KEYS = ("subset", "split", "folder", "num_samples", "llamafactory")


def tell_proposal(name: str, proposal: Proposal) -> None:
    """Say what is registered and why, with one row as it is read, and what may be wrong."""
    for text in _summary(name, proposal):
        output.say(text)
    for reason in proposal.reasons:
        output.say(f"  - {reason}")
    if proposal.sample is not None:
        output.say(f"{proposal.place} as it is read:")
        for text in chat_lines(proposal.sample, indent="  "):
            output.say(text)
    for warning in proposal.warnings:
        output.warn(warning)
    if proposal.problem is not None:
        output.warn(
            f"{proposal.read:,} of the first {proposal.looked:,} rows can be read; the first that cannot: "
            f"{output.cut(str(proposal.problem), 300)}"
        )


def _summary(name: str, proposal: Proposal) -> list[str]:
    dataset = proposal.dataset
    rows: list[tuple[str, str]] = [("format", dataset.format)]
    if proposal.task:
        rows.append(("task", proposal.task))
    rows += [(key, str(value)) for key in _SHOWN_KEYS if (value := getattr(dataset, key)) is not None]
    if dataset.ranking:
        rows.append(("ranking", "true"))
    if dataset.columns:
        rows.append(("columns", output.pairs(dataset.columns)))
    if dataset.tags:
        rows.append(("tags", output.pairs({key.removesuffix("_tag"): tag for key, tag in dataset.tags.items()})))
    if dataset.targets:
        rows.append(("targets", ", ".join(dataset.targets)))
    rows += [(id, output.pairs(options)) for id, options in (dataset.target or {}).items()]
    return [f"{name}: {proposal.source}", *output.table(rows, indent="  ")]


def proposal_json(name: str, proposal: Proposal) -> dict[str, Any]:
    """A proposal as JSON-shaped data."""
    return {
        "name": name,
        "dataset": proposal.dataset.to_toml(),
        "task": proposal.task,
        "reasons": proposal.reasons,
        "warnings": proposal.warnings,
        "looked_at": proposal.looked,
        "read": proposal.read,
        "first_problem": proposal.problem.as_json() if proposal.problem else None,
        "place": proposal.place,
        "sample": proposal.sample,
    }
