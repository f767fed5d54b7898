"""A dataset's entry in dataset_info.json: made from its TOML, and TOML made from an entry that is there already."""

from __future__ import annotations

import datetime
import math
from typing import Any

from dsreg.errors import RegistryError
from dsreg.jsonedit import same_json
from dsreg.model import ENTRY_KEYS, OWN_KEYS, SOURCE_KEYS, Dataset, texts
from dsreg.names import stem_of
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.tasks import EXTRA_COLUMNS

# What LlamaFactory's `formatting` is for the formats it reads itself; None is its default, alpaca.
# Not `openai` for `openai`: that converter rewrites system prompts (and crashes on some files before 0.9.5).
FORMATTING: dict[str, str | None] = {"alpaca": None, "pretrain": None, "sharegpt": "sharegpt", "openai": "sharegpt"}

_PLACES = ("subset", "split", "folder", "num_samples")
_TYPES: dict[str, type] = {"ranking": bool, "num_samples": int, "columns": dict, "tags": dict}
# what the rows of a format are for where that is no plain chat; other formats say it by `ranking` and their columns
_COPY_TASKS = {
    **dict.fromkeys(("nova-dpo", "hf-preference", "sagemaker-dpo", "openai-dpo"), "preference"),
    **dict.fromkeys(("kto", "hf-kto"), "kto"),
    **dict.fromkeys(("pretrain", "nova-cpt"), "pretrain"),
}
_DEPTH = 40


def entry_of(name: str, dataset: Dataset) -> dict[str, Any] | None:
    """The dataset's member of dataset_info.json; None when LlamaFactory cannot read it and no copy is asked for.

    Raises RegistryError when the TOML holds a value that JSON has no place for.
    """
    if dataset.llamafactory == "copy":
        entry = _copy_entry(name, dataset)
    elif dataset.formatting is not None or dataset.format in FORMATTING:
        entry = _own_entry(dataset)
    else:
        return None
    entry.update((key, _json_value(value, key)) for key, value in dataset.extras.items())
    for key, value in (dataset.entry or {}).items():
        plain = _json_value(value, f"entry.{key}")
        merged = key in ("columns", "tags") and isinstance(plain, dict) and isinstance(entry.get(key), dict)
        entry[key] = {**entry[key], **plain} if merged else plain
    return entry


def _own_entry(dataset: Dataset) -> dict[str, Any]:
    """The entry of a dataset that LlamaFactory reads as it is."""
    entry = _given(dataset, SOURCE_KEYS)
    formatting = dataset.formatting if dataset.formatting is not None else FORMATTING[dataset.format]
    if formatting is not None:
        entry["formatting"] = formatting
    entry |= _given(dataset, ("ranking", *_PLACES))
    columns = _columns(dataset)
    if columns is not None:
        entry["columns"] = columns
    if dataset.tags is not None:
        entry["tags"] = dict(dataset.tags)
    return entry


def _columns(dataset: Dataset) -> dict[str, str] | None:
    """The columns that the entry names: None leaves LlamaFactory's defaults in force, {} unsets them all."""
    columns = dataset.columns
    if dataset.format == "pretrain":
        columns = columns or {}
        # the text of a pretraining set is LlamaFactory's `prompt`
        rest = {key: value for key, value in columns.items() if key not in (*EXTRA_COLUMNS, "text")}
        return rest if "prompt" in rest else {"prompt": columns.get("text", "text"), **rest}
    return own_columns(dataset)


def own_columns(dataset: Dataset) -> dict[str, str] | None:
    """The table of columns without those that only dsreg maps; None where there is no table, or nothing else in it."""
    if not dataset.columns:
        return dataset.columns
    return {key: value for key, value in dataset.columns.items() if key not in EXTRA_COLUMNS} or None


def copy_path(name: str) -> str:
    """Where the copy that LlamaFactory reads stands, relative to the data folder."""
    return f"converted/{stem_of(name)}.json"


def copy_task(dataset: Dataset) -> str:
    """What the rows of a copy are for: "sft", "preference", "kto" or "pretrain".

    `[target.llamafactory] task` says it; otherwise it follows from `ranking`, the mapped columns and the format.
    """
    columns = dataset.columns or {}
    if task := _copy_option(dataset, "task"):
        return str(task)
    if dataset.ranking or {"chosen", "rejected"} <= columns.keys():
        return "preference"
    if columns.get("kto_tag") or columns.get("label"):
        return "kto"
    return _COPY_TASKS.get(dataset.format, "sft")


def copy_layout(dataset: Dataset) -> str:
    """How a copy is laid out, "sharegpt" or "alpaca": `[target.llamafactory] layout`, or what its task demands."""
    return str(_copy_option(dataset, "layout") or ("alpaca" if copy_task(dataset) == "pretrain" else "sharegpt"))


def copy_columns(dataset: Dataset) -> dict[str, str]:
    """Every column that each row of a copy has, by LlamaFactory's name for it.

    Media columns are there when the TOML maps them or `[target.llamafactory] media` lists them.
    """
    task = copy_task(dataset)
    if task == "pretrain":
        return {"prompt": "text"}
    if copy_layout(dataset) == "alpaca":
        columns = {"prompt": "instruction", "query": "input", "response": "output", "history": "history"}
        if task == "preference":
            del columns["response"]
    else:
        columns = {"messages": "conversations"}
    columns |= {"system": "system", "tools": "tools"}
    if task == "preference":
        columns |= {"chosen": "chosen", "rejected": "rejected"}
    if task == "kto":
        columns |= {"kto_tag": "kto_tag"}
    media = {*texts((dataset.target or {}).get("llamafactory", {}), "media"), *(dataset.columns or {})}
    return columns | {key: key for key in ("images", "videos", "audios") if key in media}


def _copy_option(dataset: Dataset, key: str) -> Any:
    return (dataset.target or {}).get("llamafactory", {}).get(key)


def _copy_entry(name: str, dataset: Dataset) -> dict[str, Any]:
    """The entry of a dataset that LlamaFactory reads through a converted copy."""
    entry: dict[str, Any] = {"file_name": copy_path(name)}
    sharegpt = copy_layout(dataset) == "sharegpt"
    formatting = dataset.formatting if dataset.formatting is not None else ("sharegpt" if sharegpt else None)
    if formatting is not None:
        entry["formatting"] = formatting
    if copy_task(dataset) == "preference":
        entry["ranking"] = True
    entry |= _given(dataset, ("split", "num_samples"))
    entry["columns"] = copy_columns(dataset)
    if sharegpt:
        entry["tags"] = dict(TURN_TAGS)  # all seven: a partial table would leave the others unset
    return entry


def _given(dataset: Dataset, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key in keys if (value := getattr(dataset, key)) is not None}


def _json_value(value: Any, path: str) -> Any:
    """A TOML value as JSON: dates become text. Raises RegistryError for what JSON cannot say."""
    if isinstance(value, dict):
        return {key: _json_value(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item, f"{path}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise RegistryError(f"`{path}` is {value}, which JSON cannot hold", hint="write a number or text")
    return value


def dataset_of_entry(entry: Any) -> Dataset | str:
    """A dataset whose rendered entry equals `entry`, oddities and unknown keys included; or why there is none."""
    if not isinstance(entry, dict):
        return f"not an object but {_kind(entry)}"
    reason = _unfit(entry, "", 0)
    if reason:
        return reason
    dataset = Dataset.model_validate(_toml_of(entry))
    if not _survives(dataset, entry):
        return "it does not come back the same from TOML"
    return dataset


def _toml_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The keys of a TOML that renders this entry."""
    formatting, columns = entry.get("formatting"), entry.get("columns")
    values: dict[str, Any] = {"format": formatting if formatting in ("sharegpt", "openai") else "alpaca"}
    verbatim: dict[str, Any] = {}
    for key, value in entry.items():
        if key == "formatting" and value == "sharegpt":
            continue
        if key in ("columns", "tags") and isinstance(value, dict):
            values[key], rest = _split(value)
            if rest:
                verbatim[key] = rest
        elif key in OWN_KEYS or (key in ENTRY_KEYS and type(value) is not _TYPES.get(key, str)):
            verbatim[key] = value
        else:
            values[key] = value
    if _is_pretraining(entry) and isinstance(columns, dict):
        values |= {"format": "pretrain", "columns": {"text": columns["prompt"]}}
    if verbatim:
        values["entry"] = verbatim
    return values


def _split(table: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Columns or tags that the TOML's own table can hold, and those that must be written as they are."""
    plain = {key: value for key, value in table.items() if isinstance(value, str)}
    return plain, {key: value for key, value in table.items() if key not in plain or key in EXTRA_COLUMNS}


def _is_pretraining(entry: dict[str, Any]) -> bool:
    """Whether an entry maps nothing but the text: all that a pretraining set needs, and of use to no other."""
    columns = entry.get("columns")
    if not isinstance(columns, dict) or list(columns) != ["prompt"] or not isinstance(columns["prompt"], str):
        return False
    return bool(columns["prompt"]) and "formatting" not in entry and not entry.get("ranking")


def _unfit(value: Any, path: str, depth: int) -> str:
    """Why TOML cannot hold a value, or ""."""
    at = f" at `{path}`" if path else ""
    if value is None:
        return f"null{at}, which TOML does not have"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value}{at}, which JSON does not have"
    if isinstance(value, str):
        return "" if _encodable(value) else f"half a character (a lone surrogate){at}"
    if depth > _DEPTH:
        return f"more than {_DEPTH} levels deep"
    if isinstance(value, dict):
        pairs = [(f"{path}.{key}" if path else str(key), key, item) for key, item in value.items()]
        reasons = (_unfit(key, path, depth) or _unfit(item, where, depth + 1) for where, key, item in pairs)
        return next((reason for reason in reasons if reason), "")
    if isinstance(value, list):
        reasons = (_unfit(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
        return next((reason for reason in reasons if reason), "")
    return ""


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: Any) -> str:
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else kinds.get(type(value), type(value).__name__)


def _survives(dataset: Dataset, entry: dict[str, Any]) -> bool:
    """Whether the dataset, written as TOML and read again, renders this entry."""
    import tomllib

    import tomli_w

    try:
        read = Dataset.model_validate(tomllib.loads(tomli_w.dumps(dataset.to_toml())))
        return same_json(entry_of("", read), entry)
    except (ValueError, TypeError):
        return False
