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


class TextRead(BaseModel):
    """Where the texts of a row stand that holds nothing else, in the format's own names of columns.

    The user's text is in `user`, joined where those are several, or the dialogue in `turns`, with `tags` if they are
    always the same; earlier turns may stand in `pairs`. `answers` says whether chosen and rejected are turns as well.
    Columns in `empty` may hold an empty list or text; with a column in `avoid`, a row is something else.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    system: str | None = None
    user: list[str] = []
    pairs: str | None = None
    turns: str | None = None
    tags: dict[str, str] = {}
    answer: str | None = None
    chosen: str | None = None
    rejected: str | None = None
    answers: Literal["texts", "turns"] = "texts"
    label: str | None = None
    text: str | None = None
    empty: list[str] = []
    avoid: list[str] = []


class TextWrite(BaseModel):
    """How a row that holds only texts looks as compact JSON: `<slot>` stands for a text, or for what is made of some.

    `rows` has a skeleton for each task; for each choice of the option `style`, if `style` is set. What `<turns>`,
    `<context>`, `<pairs>` and `<system>` in it are made of is in `user`, `assistant`, `pair` and `system`; `no_system`
    stands where there is no system prompt. Options in `any_option` change nothing about such rows, all others must have
    their defaults.

    A row goes the portable way if `not_blank` is set and a text is blank, if `reserved` is set and a text may hold a
    word that Nova reserves, and if it has earlier turns and `earlier` is not set; all rows do if the data has further
    columns and `extras` is not set. `row_note`, by task or style, and `system_note` are what the writer would note
    about every row, and about one with a system prompt.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    rows: dict[str, str]
    style: bool = False
    user: str = ""
    assistant: str = ""
    pair: str = ""
    system: str = ""
    no_system: str = ""
    any_option: list[str] = []
    not_blank: bool = False
    reserved: bool = False
    earlier: bool = True
    extras: bool = True
    row_note: dict[str, str] = {}
    system_note: str = ""


class Text(BaseModel):
    """What is needed to convert rows that hold only texts without decoding them; see `dsreg.fast`."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    read: TextRead | None = None
    write: TextWrite | None = None


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
    text: Text = Text()
