"""What an entry is for, and the stages that would take its rows."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from dsreg.llamafactory.outcome import Stop
from dsreg.llamafactory.resolve import open_registry
from dsreg.llamafactory.stage import STAGES, takes

TRAINED = ("sft", "rm", "dpo", "kto", "ppo")


def purpose(raw: dict[str, Any]) -> str:
    """The stage that an entry was made for, by its `ranking`, its columns and its formatting."""
    columns = raw.get("columns")
    mapped = columns if isinstance(columns, dict) else {}
    if raw.get("ranking"):
        return "dpo"
    if mapped.get("kto_tag"):
        return "kto"
    alpaca = raw.get("formatting", "alpaca") == "alpaca"
    return "pt" if alpaca and mapped.get("prompt") and not mapped.get("response") else "sft"


def stage_of(dataset_dir: Path, name: str) -> str:
    """The stage that an entry of a folder's dataset_info.json is for; sft where it cannot be read."""
    try:
        data = open_registry(dataset_dir).data
    except Stop:
        return "sft"
    raw = data.get(name.strip()) if isinstance(data, dict) else None
    return purpose(raw) if isinstance(raw, dict) else "sft"


def allows(ranking: Any, stage: str) -> bool:
    """Whether LlamaFactory's guard lets the stage use the entry (data/loader.py:177-181, a test of identity)."""
    return ranking is not False if stage in ("rm", "dpo") else ranking is not True


def count_stages(aligned: dict[str, Any], counts: Counter[str], rows: int = 1) -> None:
    """Count the stages whose processor would keep a row, or each of `rows` like it."""
    for stage in _taking(len(aligned["_prompt"]) % 2, len(aligned["_response"])):
        counts[stage] += rows


@cache
def _taking(prompts: int, answers: int) -> list[str]:
    """The stages that take a row; all that counts is whether its prompt is odd, and how many answers there are."""
    return [stage for stage in TRAINED if takes([None] * prompts, [None] * answers, stage)]


def fitting(raw: dict[str, Any], counts: Counter[str]) -> list[str]:
    """The stages that keep as many rows as any other, pretraining only for entries that map nothing but text."""
    open_to = [stage for stage in STAGES if allows(raw.get("ranking", False), stage)]
    most = max((counts[stage] for stage in open_to if stage not in ("pt", "ppo")), default=0)
    text_only = purpose(raw) == "pt"
    return [
        stage
        for stage in open_to
        if (stage == "pt" and text_only) or (counts[stage] and counts[stage] >= most and (most or text_only))
    ]
