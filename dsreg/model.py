"""What the registry's files may say: a dataset's TOML, the settings, and the lock."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dsreg.errors import RegistryError

SOURCE_KEYS = ("file_name", "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name")
"""Where LlamaFactory takes a dataset from; one of them per entry."""

COLUMN_KEYS = (
    *("prompt", "query", "response", "history", "messages", "system", "tools"),
    *("images", "videos", "audios", "chosen", "rejected", "kto_tag"),
)
"""The columns that LlamaFactory knows."""

LEGACY: dict[tuple[str, ...], str] = {
    ("file_sha1",): "it was checked until 0.7.1",
    ("stage",): "`ranking` replaced it in 2023: true for preference data, otherwise leave it out",
    ("sample_num",): "it is called `num_samples` since 0.8.0",
    ("load_from",): "it never was a key of an entry: the source key decides",
    ("system_prompt",): "it was an option of training, removed in 0.4.0",
    ("source_prefix",): "it was an option of training, removed in 0.4.0",
    ("columns", "role"): "it is `tags.role_tag` since 0.5.0",
    ("columns", "content"): "it is `tags.content_tag` since 0.5.0",
    ("columns", "tool"): "it is called `tools`",
    ("columns", "tag"): "it is called `kto_tag` since 0.8.0",
}
"""Keys that some version of LlamaFactory read, or that people believe it does, and what to write today."""

TAG_KEYS = ("role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag", "function_tag", "system_tag")
"""The tags that LlamaFactory knows."""

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth saying that stops nothing."""

    code: str
    message: str
    where: str = ""
    hint: str = ""


class Check(BaseModel):
    """`[check]`: findings to leave out, by code."""

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)
    ignore: list[str] = Field(default_factory=list)


class Dataset(BaseModel):
    """One file of `registry/`. Keys are LlamaFactory's own, but for `format` and what dsreg adds.

    `entry` holds members of an adopted entry that TOML's other keys cannot express: names that mean something else to
    dsreg, values of a wrong type. They are written into the entry as they are. Unknown keys are kept.
    """

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)

    format: str
    formatting: str | None = None
    file_name: str | None = None
    hf_hub_url: str | None = None
    ms_hub_url: str | None = None
    om_hub_url: str | None = None
    script_url: str | None = None
    cloud_file_name: str | None = None
    ranking: bool | None = None
    subset: str | None = None
    split: str | None = None
    folder: str | None = None
    num_samples: int | None = None
    llamafactory: Literal["copy"] | None = None
    targets: list[str] | None = None
    columns: dict[str, str] | None = None
    tags: dict[str, str] | None = None
    card: dict[str, Any] | None = None
    check: Check | None = None
    target: dict[str, dict[str, Any]] | None = None
    entry: dict[str, Any] | None = None

    @property
    def extras(self) -> dict[str, Any]:
        """Keys that dsreg does not know, in the order of the file."""
        return dict(self.model_extra or {})

    def to_toml(self) -> dict[str, Any]:
        """The keys and values of the TOML file, those without a value left out."""
        return self.model_dump(exclude_none=True, exclude_unset=True) | {"format": self.format}


OWN_KEYS = ("format", "llamafactory", "targets", "card", "check", "target", "entry")
"""Keys of a dataset's TOML that are dsreg's and never reach an entry."""

ENTRY_KEYS = tuple(key for key in Dataset.model_fields if key not in OWN_KEYS)
"""LlamaFactory's own keys."""


class Settings(BaseModel):
    """`dsreg.toml`: where the data folder is, findings to leave out, options for all exports to a target."""

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)
    data_dir: str = "data"
    check: Check = Field(default_factory=Check)
    target: dict[str, dict[str, Any]] = Field(default_factory=dict)


TARGET_KEYS = ("container", "take", "skip", "strip")
"""What `[target.<id>]` settles for any target, beside the options of its format."""

COPY_KEYS = ("layout", "task", "media", "take", "skip", "strip")
"""What `[target.llamafactory]` settles about a copy."""


def texts(table: dict[str, Any], key: str) -> list[str]:
    """The texts that a key of a table lists, where one may stand for itself; raises RegistryError for anything else."""
    value = table.get(key, [])
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise RegistryError(_sentence("texts", key, "", value))
    return found


class DataRecord(BaseModel):
    """A data file as it was when dsreg last looked."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    sha256: str
    size: int


class DatasetRecord(BaseModel):
    """What dsreg wrote for one dataset: its entry, its data file, its generated files by path."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    entry: dict[str, Any] | None = None
    data: DataRecord | None = None
    files: dict[str, str] = Field(default_factory=dict)


class ExportRecord(BaseModel):
    """A file that an export wrote."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    dataset: str = ""
    target: str = ""
    sha256: str


class Lock(BaseModel):
    """`dsreg.lock`: what dsreg wrote last, by dataset and by path of an export."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    version: int = 1
    datasets: dict[str, DatasetRecord] = Field(default_factory=dict)
    exports: dict[str, ExportRecord] = Field(default_factory=dict)


def validate(model: type[_Model], values: dict[str, Any], *, where: str, text: str = "") -> _Model:
    """Check values against a model. Raises RegistryError naming the key and, found in `text`, its line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = tuple(str(part) for part in first["loc"])
        line = line_of(text, path)
        raise RegistryError(
            _sentence(first["type"], ".".join(path), first["msg"], first["input"]),
            where=f"{where}:{line}" if line else where,
            hint='add `format = "alpaca"`, `"sharegpt"` or another format' if path == ("format",) else "",
        ) from None


_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "texts": "a list of texts",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


def _sentence(kind: str, key: str, message: str, found: Any) -> str:
    """What is wrong with a value, in the words of the file rather than of the checker."""
    if kind == "missing":
        return f"`{key}` is missing"
    if kind == "extra_forbidden":
        return f"there is no key `{key}`"
    shown = repr(found)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    if kind in _EXPECTED:
        return f"`{key}` must be {_EXPECTED[kind]}, not {shown}"
    return f"`{key}`: {message[:1].lower() + message[1:]}, not {shown}"


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of a TOML text that gives this key a value, or names its table; 0 when it is not found."""
    table: tuple[str, ...] = ()
    found = 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*(.+?)\s*\]+\s*(#.*)?$", line)
        if header and "=" not in line.partition("]")[0]:
            table = _dotted(header[1])
            here = table
        elif "=" in line:
            here = table + _dotted(line.partition("=")[0])
        else:
            continue
        if here == path:
            return number
        if here and here == path[: len(here)]:
            found = number
    return found


def _dotted(key: str) -> tuple[str, ...]:
    """The parts of a dotted TOML key; quoted ones without their quotes, escapes not decoded."""
    parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^.\s]+", key)
    return tuple(part.strip("\"'") for part in parts)


CLOSE = 0.7
"""How alike two words must be for one to be a misspelt other: `train` is no `ranking`."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, if any is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=CLOSE if len(word) > 3 else 0.6)
    return found[0] if found else None


def unknown_keys(dataset: Dataset, where: str, text: str = "") -> list[Notice]:
    """A notice for each key that neither dsreg nor LlamaFactory reads, with the one that was probably meant."""
    # `formatting` follows from `format`, so a misspelling of either means `format`
    known = [key for key in Dataset.model_fields if key not in ("formatting", "entry")]
    notices = [unknown_key((key,), key, known, where, text) for key in dataset.extras]
    notices += [
        unknown_key(("tags", tag), tag, TAG_KEYS, where, text) for tag in dataset.tags or {} if tag not in TAG_KEYS
    ]
    if dataset.check is not None:
        notices += [
            unknown_key(("check", key), key, ["ignore"], where, text) for key in dataset.check.model_extra or {}
        ]
    return notices


def unknown_key(path: tuple[str, ...], key: str, known: Iterable[str], where: str, text: str) -> Notice:
    """The notice of a key at this path that nobody reads, with the known one that was probably meant."""
    line, meant, shown = line_of(text, path), closest(key, known), ".".join(path)
    place = f"{where}:{line}" if line else where
    if path in LEGACY:
        return Notice("DS182", f"`{shown}` is no longer read", place, LEGACY[path])
    hint = f"did you mean `{meant}`?" if meant else "LlamaFactory and dsreg ignore it; it is kept"
    return Notice("DS160", f"unknown key `{shown}`", place, hint)
