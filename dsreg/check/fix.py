"""Repair what is mechanical and safe in an entry: misspelt, misplaced and outdated keys, incomplete tables, ranking."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsreg.check.entry import GROUPS, KNOWN, EntryView, home_of, is_swapped
from dsreg.check.file import FileView, look_at_files
from dsreg.check.hints import Words
from dsreg.model import COLUMN_KEYS, closest
from dsreg.source import complete_tags

_RENAMED = {
    ("sample_num",): ("num_samples",),
    ("columns", "role"): ("tags", "role_tag"),
    ("columns", "content"): ("tags", "content_tag"),
    ("columns", "tool"): ("columns", "tools"),
    ("columns", "tag"): ("columns", "kto_tag"),
}
_DROPPED = ("file_sha1", "load_from", "system_prompt", "source_prefix", "stage")
_COMPLETED = {
    "alpaca": {"prompt": "instruction", "query": "input", "response": "output", "history": "history"},
    "sharegpt": {"messages": "conversations"},
}
_BESIDE = ("system", "tools")


@dataclass
class Fixed:
    """An entry before and after, and what was done in words."""

    before: dict[str, Any]
    after: dict[str, Any]
    done: list[str] = field(default_factory=list)


def fix_entry(name: str, raw: dict[str, Any], dataset_dir: Path) -> Fixed:
    """Repair one entry; looks at the first rows of its data where something depends on them."""
    fixed = Fixed(raw, deepcopy(raw))
    fixed.done += [*_rename_keys(fixed.after), *_move_keys(fixed.after), *_drop_keys(fixed.after)]
    rows = first_rows(name, fixed.after, dataset_dir)
    fixed.done += [*_swap_columns(fixed.after, rows), *_complete_columns(fixed.after, rows)]
    fixed.done += [*_complete_tags(fixed.after, rows), *_set_ranking(fixed.after, rows)]
    return fixed


def first_rows(name: str, raw: dict[str, Any], dataset_dir: Path) -> list[dict[str, Any]]:
    """The first rows of an entry's data; none where they cannot be read."""
    from dsreg.llamafactory.outcome import Stop
    from dsreg.llamafactory.resolve import Registry, resolve_entry
    from dsreg.llamafactory.sources import find_source

    try:
        entry = resolve_entry(Registry(dataset_dir, {name: raw}), name)
        if entry.load_from not in ("file", "script") or not isinstance(entry.dataset_name, str):
            return []
        source = find_source(entry, dataset_dir)
    except (Stop, OSError, ValueError):
        return []
    files = [file for listed in source.splits.values() for file in listed]
    return look_at_files(FileView(entry, raw, files, Words(name, project=False))).head


def _rename_keys(raw: dict[str, Any]) -> Iterator[str]:
    """Misspelt keys, and keys that have another name today."""
    view = EntryView("", raw, Path(), Words("", project=False))
    renamed = [(path, _RENAMED[path]) for path, _ in view.pairs() if path in _RENAMED]
    for path, _ in view.unknown():
        meant = closest(path[-1], GROUPS[path[0]] if len(path) == 2 else KNOWN)
        if meant:
            renamed.append((path, (*path[:-1], meant)))
    for old, new in renamed:
        value = _get(raw, old)
        if _get(raw, new) is None and _plausible(new, value):
            _pop(raw, old)
            _put(raw, new, value)
            yield f"`{'.'.join(old)}` is `{'.'.join(new)}` now"


def _plausible(path: tuple[str, ...], value: Any) -> bool:
    """Whether a value is of the kind that the key takes."""
    if len(path) == 2:
        return isinstance(value, str)
    if path[0] in GROUPS:
        return isinstance(value, dict)
    kinds: dict[str, type | tuple[type, ...]] = {"ranking": bool, "num_samples": int}
    if path[0] == "formatting" and value not in ("alpaca", "sharegpt", "openai"):
        return False
    return isinstance(value, kinds.get(path[0], str))


def _move_keys(raw: dict[str, Any]) -> Iterator[str]:
    """Columns and tags into their tables, tables under their names."""
    view = EntryView("", raw, Path(), Words("", project=False))
    for path, value in list(view.pairs()):
        home = home_of(path, value)
        if not home or path in _RENAMED:
            continue
        if isinstance(value, dict):
            if home in raw:
                continue
            raw[home] = raw.pop(path[-1])
            yield f"`{path[-1]}` is `{home}` now"
        elif _get(raw, (home, path[-1])) is None and isinstance(raw.get(home, {}), dict):
            _pop(raw, path)
            _put(raw, (home, path[-1]), value)
            yield f"`{path[-1]}` moved into `{home}`"


def _drop_keys(raw: dict[str, Any]) -> Iterator[str]:
    """Keys that no LlamaFactory of today reads."""
    for key in _DROPPED:
        if key in raw:
            del raw[key]
            yield f"`{key}` removed: nothing reads it"


def _swap_columns(raw: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    """Columns that are written backwards, where the data shows it."""
    columns = raw.get("columns")
    if not isinstance(columns, dict):
        return
    for key, value in list(columns.items()):
        if is_swapped(key, value) and value not in columns and any(key in row for row in rows):
            del columns[key]
            columns[value] = key
            yield f"`columns.{key}: {value}` turned round"


def _complete_columns(raw: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    """Columns that the data has under their usual names and that a `columns` table leaves out."""
    formatting = "alpaca" if raw.get("formatting", "alpaca") == "alpaca" else "sharegpt"
    usual = {**_COMPLETED[formatting], **{key: key for key in _BESIDE}}
    given = raw.get("columns", {})
    if not isinstance(given, dict):
        return
    present = {
        key: column for key, column in usual.items() if any(row.get(column) not in (None, "", []) for row in rows)
    }
    mapped = set(given.values()) if all(isinstance(value, str) for value in given.values()) else None
    if mapped is None:
        return
    lacking = {key: column for key, column in present.items() if key not in given and column not in mapped}
    if raw.get("ranking") or given.get("chosen"):
        lacking.pop("response", None)
    if "columns" not in raw:  # the defaults count; writing the table means writing them as well
        if not set(lacking) & {*_BESIDE, "history"}:
            return
        held = {key for row in rows for key in row}
        lacking = {
            key: column for key, column in usual.items() if column in held and (key in present or key == "query")
        }
    if lacking:
        raw["columns"] = {**given, **{key: column for key, column in lacking.items() if key in COLUMN_KEYS}}
        yield f"`columns` completed: {', '.join(lacking)}"


def _complete_tags(raw: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    """All seven tags where some are given, or where the messages have other keys and roles than the defaults."""
    if raw.get("formatting") not in ("sharegpt", "openai"):
        return
    tags = raw.get("tags")
    if tags is None and "tags" not in raw:
        seen = _seen_tags(raw, rows)
        if seen:
            raw["tags"] = complete_tags(seen)
            yield "`tags` written as the messages have them"
        return
    if not isinstance(tags, dict):
        return
    given = {tag: value for tag, value in tags.items() if isinstance(value, str) and value}
    seen = _seen_tags(raw, rows) if {"role_tag", "content_tag"} - given.keys() else {}
    whole = complete_tags({**seen, **given})
    added = {tag: value for tag, value in whole.items() if not tags.get(tag) and value not in given.values()}
    if added:
        tags.update(added)
        yield f"`tags` completed: {', '.join(added)}"


def _seen_tags(raw: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, str]:
    """The tags that the messages show, where these are not the defaults."""
    from dsreg.detection.turns import read_shape

    columns = raw.get("columns")
    column = str(columns.get("messages", "")) if isinstance(columns, dict) else "conversations"
    found = [(i, row.get(column)) for i, row in enumerate(rows, 1)]
    lists = [(i, turns) for i, turns in found if isinstance(turns, list) and turns and all(map(_is_dict, turns))]
    shape = read_shape(lists) if lists else None
    if shape is None or (shape.role_key, shape.content_key) == ("from", "value"):
        return {}
    return shape.tags({})


def _set_ranking(raw: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    """`ranking` as true or false, and true where chosen and rejected are mapped and the data has both."""
    value = raw.get("ranking", False)
    if not isinstance(value, bool):
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "none": False}
        meant = words.get(str(value).lower())
        if meant is not None:
            raw["ranking"] = meant
            yield f"`ranking` is {str(meant).lower()}, no longer {value!r}"
        return
    columns = raw.get("columns")
    if value or not isinstance(columns, dict) or columns.get("kto_tag"):
        return
    chosen, rejected = str(columns.get("chosen", "")), str(columns.get("rejected", ""))
    kind: type = str if raw.get("formatting", "alpaca") == "alpaca" else dict
    paired = [isinstance(row.get(chosen), kind) and isinstance(row.get(rejected), kind) for row in rows]
    if chosen and rejected and paired and all(paired):
        raw["ranking"] = True
        yield "`ranking` is true: the rows are pairs"


def _get(raw: dict[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = raw
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _pop(raw: dict[str, Any], path: tuple[str, ...]) -> None:
    table = raw if len(path) == 1 else raw[path[0]]
    del table[path[-1]]
    if len(path) == 2 and not table:
        del raw[path[0]]  # an empty table would unset every default


def _put(raw: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    table = raw if len(path) == 1 else raw.setdefault(path[0], {})
    table[path[-1]] = value


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)
