"""What a format says about itself in its format.toml."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Task = Literal["sft", "preference", "kto", "prompt", "pretrain"]


class Option(BaseModel):
    """A setting of a format, given with `--option name=value` or in the registry.

    `unfit` lists, by choice, the containers that cannot hold what it makes.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    side: Literal["read", "write"] = "write"
    default: str | bool | int = ""
    choices: list[str] = []
    unfit: dict[str, list[str]] = {}
    help: str


class Manifest(BaseModel):
    """One format: what it is for, what it can hold, how its columns and files are called."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    title: str
    for_: list[str] = Field(alias="for")
    tasks: list[Task]
    container: Literal["json", "jsonl", "parquet"] = "jsonl"
    path: str = "{name}"
    extra: Literal["carried", "named", "none"] = "none"
    supports: list[str]
    brings: list[str] | None = None
    by_column: list[str] = []
    llamafactory: Literal["alpaca", "sharegpt"] | None = None
    facts: str
    rules: list[str] = []
    sizes: str = ""
    columns: dict[str, str]
    named: list[str] = []
    needs: dict[Task, list[str]]
    options: dict[str, Option] = {}
    descriptors: list[str] = []
    parquet: dict[str, Any] = {}
    text: dict[str, dict[str, Any]] = {}
