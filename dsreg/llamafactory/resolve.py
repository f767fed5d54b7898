"""dataset_info.json as LlamaFactory opens it, and an entry as LlamaFactory resolves it (data/parser.py)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .outcome import Fatal, Note, Stop

REGISTRY_NAME = "dataset_info.json"

COLUMNS = (
    *("prompt", "query", "response", "history", "messages", "system", "tools"),
    *("images", "videos", "audios", "chosen", "rejected", "kto_tag"),
)
TAGS = ("role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag", "function_tag", "system_tag")
HUB_KEYS = ("hf_hub_url", "ms_hub_url", "om_hub_url")
SOURCE_KEYS = (*HUB_KEYS, "script_url", "cloud_file_name", "file_name")


@dataclass
class Entry:
    """An entry with every attribute as LlamaFactory holds it; values keep whatever JSON type the file gives them."""

    load_from: str
    dataset_name: Any
    formatting: Any = "alpaca"
    ranking: Any = False
    subset: Any = None
    split: Any = "train"
    folder: Any = None
    num_samples: Any = None
    system: Any = None
    tools: Any = None
    images: Any = None
    videos: Any = None
    audios: Any = None
    chosen: Any = None
    rejected: Any = None
    kto_tag: Any = None
    prompt: Any = "instruction"
    query: Any = "input"
    response: Any = "output"
    history: Any = None
    messages: Any = "conversations"
    role_tag: Any = "from"
    content_tag: Any = "value"
    user_tag: Any = "human"
    assistant_tag: Any = "gpt"
    observation_tag: Any = "observation"
    function_tag: Any = "function_call"
    system_tag: Any = "system"


@dataclass(frozen=True)
class Registry:
    """An opened dataset_info.json: where it is and what it holds (None: LlamaFactory sees no registry)."""

    path: Path
    data: Any


def open_registry(dataset_dir: Path) -> Registry:
    """Open `dataset_dir`/dataset_info.json; raises Stop("registry") where LlamaFactory says `Cannot open …`."""
    path = dataset_dir / REGISTRY_NAME
    try:
        with path.open(encoding="utf-8") as file:
            return Registry(path, json.load(file))
    except (OSError, ValueError, RecursionError) as err:
        raise _stop("registry_unreadable", f"Cannot open {path} due to {err}.") from err


def resolve_entry(registry: Registry, name: str, environ: Mapping[str, str] = os.environ) -> Entry:
    """Resolve `name` as parser.py does; raises Stop("registry").

    The source is decided by the presence of keys, not their values; `columns` and `tags`, when present at all,
    replace every default of theirs.
    """
    modelscope, openmind = (
        environ.get(key, "0").lower() in ("true", "y", "1") for key in ("USE_MODELSCOPE_HUB", "USE_OPENMIND_HUB")
    )
    if registry.data is None:  # the file holds `null`: taken for a hub id, as with dataset_dir: ONLINE
        return Entry("ms_hub" if modelscope else "om_hub" if openmind else "hf_hub", name)
    raw = _raw_entry(registry, name)
    load_from, key = _source(raw, modelscope, openmind)
    if key not in raw:
        raise _stop("no_source", f"KeyError: {key!r}", name)
    entry = Entry(load_from, raw[key])
    entry.formatting = raw.get("formatting", "alpaca")
    entry.ranking = raw.get("ranking", False)
    entry.split = raw.get("split", "train")
    entry.subset, entry.folder, entry.num_samples = raw.get("subset"), raw.get("folder"), raw.get("num_samples")
    for group, names in (("columns", COLUMNS), ("tags", TAGS)):
        if group not in raw:
            continue
        given = raw[group]
        if not isinstance(given, dict):
            message = f"AttributeError: {type(given).__name__!r} object has no attribute 'get'"
            raise _stop(f"{group}_not_object", message, f"{name}.{group}")
        for attribute in names:
            setattr(entry, attribute, given.get(attribute))
    return entry


def _raw_entry(registry: Registry, name: str) -> dict[str, Any]:
    data = registry.data
    if not isinstance(data, dict):
        if isinstance(data, list | str) and name in data:
            raise _stop("entry_not_object", f"TypeError: the registry is a {_kind(data)}, not an object", name)
        raise _stop("undefined_dataset", f"Undefined dataset {name} in {REGISTRY_NAME}.", name)
    if name not in data:
        raise _stop("undefined_dataset", f"Undefined dataset {name} in {REGISTRY_NAME}.", name)
    raw = data[name]
    if not isinstance(raw, dict):
        raise _stop("entry_not_object", f"TypeError: the entry {name!r} is a {_kind(raw)}, not an object", name)
    return raw


def _source(raw: dict[str, Any], modelscope: bool, openmind: bool) -> tuple[str, str]:
    """The winning source and its key, by presence (parser.py:128-144)."""
    hugging_face = "hf_hub_url" in raw
    if "ms_hub_url" in raw and (modelscope or not hugging_face):
        return "ms_hub", "ms_hub_url"
    if "om_hub_url" in raw and (openmind or not hugging_face):
        return "om_hub", "om_hub_url"
    if hugging_face:
        return "hf_hub", "hf_hub_url"
    if "script_url" in raw:
        return "script", "script_url"
    if "cloud_file_name" in raw:
        return "cloud_file", "cloud_file_name"
    return "file", "file_name"


def ignored_sources(registry: Registry, name: str, entry: Entry) -> list[Note]:
    """A note for each source key of the entry that another one beats."""
    raw = registry.data.get(name) if isinstance(registry.data, dict) else None
    if not isinstance(raw, dict):
        return []
    present = [key for key in SOURCE_KEYS if key in raw]
    winner = _KEY_OF_SOURCE[entry.load_from]
    return [Note("source_ignored", f"`{key}` is never read: `{winner}` wins", key) for key in present if key != winner]


_KEY_OF_SOURCE = {
    "hf_hub": "hf_hub_url",
    "ms_hub": "ms_hub_url",
    "om_hub": "om_hub_url",
    "script": "script_url",
    "cloud_file": "cloud_file_name",
    "file": "file_name",
}


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _stop(reason: str, message: str, path: str = "") -> Stop:
    return Stop(Fatal("registry", message, reason, path))
