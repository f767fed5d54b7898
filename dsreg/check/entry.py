"""The entry: keys that LlamaFactory ignores, keys in the wrong place, and what does not go together."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsreg.check.finding import Hit, Rule, short
from dsreg.check.hints import Words
from dsreg.model import COLUMN_KEYS, LEGACY, SOURCE_KEYS, TAG_KEYS, closest

PLACE_KEYS = ("formatting", "ranking", "subset", "split", "folder", "num_samples")
GROUPS = {"columns": COLUMN_KEYS, "tags": TAG_KEYS}
KNOWN = (*SOURCE_KEYS, *PLACE_KEYS, *GROUPS)
IGNORED = "LlamaFactory ignores it"


@dataclass
class EntryView:
    """One entry as the rules see it; `words` phrases hints for the place it is kept in."""

    name: str
    raw: dict[str, Any]
    dataset_dir: Path
    words: Words

    @property
    def formatting(self) -> Any:
        """The formatting in force."""
        return self.raw.get("formatting", "alpaca")

    def group(self, group: str) -> dict[str, Any]:
        """`columns` or `tags`, empty where it is absent or no object."""
        value = self.raw.get(group)
        return value if isinstance(value, dict) else {}

    def pairs(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Every key of the entry and of its columns and tags, with its value."""
        for key, value in self.raw.items():
            if key in GROUPS and isinstance(value, dict):
                yield from (((key, inner), item) for inner, item in value.items())
            else:
                yield (key,), value

    def unknown(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """The keys that LlamaFactory does not read and that no better rule speaks of."""
        for path, value in self.pairs():
            known = GROUPS[path[0]] if len(path) == 2 else KNOWN
            if path[-1] in known or path in LEGACY:
                continue
            if home_of(path, value) or (path[0] == "columns" and len(path) == 2 and is_swapped(path[1], value)):
                continue
            yield path, value


def home_of(path: tuple[str, ...], value: Any) -> str:
    """The group that a key belongs to when it stands elsewhere, "" otherwise."""
    if len(path) == 1 and isinstance(value, dict):
        return {"tag": "tags", "column": "columns"}.get(path[0], "")
    if not isinstance(value, str) or " " in value:  # a sentence is no column: people keep prompts in entries
        return ""
    return next((group for group, names in GROUPS.items() if path[-1] in names and path[0] != group), "")


def is_swapped(key: str, value: Any) -> bool:
    """Whether a column is written backwards: the data's name first, LlamaFactory's second."""
    return key not in COLUMN_KEYS and isinstance(value, str) and value in COLUMN_KEYS


def misspelt_keys(view: EntryView) -> Iterator[Hit]:
    """A key that LlamaFactory does not know is close to one that it does; it reads the entry as if it were absent."""
    for path, _ in view.unknown():
        meant = closest(path[-1], GROUPS[path[0]] if len(path) == 2 else KNOWN)
        if meant:
            stays = f"; the formatting in force is {view.formatting!r}" if meant == "formatting" else ""
            yield Hit(f"unknown key `{'.'.join(path)}`{stays}", path, f"did you mean `{meant}`?")


def own_keys(view: EntryView) -> Iterator[Hit]:
    """A key that LlamaFactory does not know and that resembles none: people keep their own there."""
    found = [path for path, _ in view.unknown() if not closest(path[-1], GROUPS[path[0]] if len(path) == 2 else KNOWN)]
    if found:
        names = ", ".join(f"`{'.'.join(path)}`" for path in found)
        yield Hit(f"LlamaFactory does not know {names}", found[0])


def legacy_keys(view: EntryView) -> Iterator[Hit]:
    """A key that an older LlamaFactory read, or that was never one, with what replaced it."""
    for path, _ in view.pairs():
        if path in LEGACY and path != ("file_sha1",):
            yield Hit(f"`{'.'.join(path)}` is no longer read", path, LEGACY[path])


def misplaced_keys(view: EntryView) -> Iterator[Hit]:
    """A column or tag stands outside `columns` or `tags`, or these are called `column` or `tag`."""
    for path, value in view.pairs():
        home = home_of(path, value)
        if not home or path in LEGACY:
            continue
        shown = ".".join(path)
        if isinstance(value, dict):
            yield Hit(f"`{shown}` is called `{home}`", path, f"rename it to `{home}`")
        else:
            yield Hit(f"`{shown}` belongs in `{home}`", path, view.words.move(home, path[-1], str(value)))


def swapped_columns(view: EntryView) -> Iterator[Hit]:
    """`columns` is written backwards: LlamaFactory's name comes first, the data's column second."""
    for key, value in view.group("columns").items():
        if is_swapped(key, value):
            hint = view.words.column(str(value), key)
            yield Hit(f"`{key}: {value}` is written backwards: LlamaFactory's name comes first", ("columns", key), hint)


def checksum(view: EntryView) -> Iterator[Hit]:
    """`file_sha1` was checked until 0.7.1; a value of 40 hexadecimal digits is compared here with the file."""
    if "file_sha1" not in view.raw:
        return
    given, file = view.raw["file_sha1"], view.raw.get("file_name")
    path = ("file_sha1",)
    if not isinstance(given, str) or not re.fullmatch(r"[0-9a-fA-F]{40}", given):
        yield Hit(f"`file_sha1` is {short(given)}, which is no checksum", path, "remove it", "note")
        return
    target = view.dataset_dir / file if isinstance(file, str) and "\0" not in file else None
    if target is None or not target.is_file():
        return
    with target.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha1").hexdigest()
    if found == given.lower():
        yield Hit("`file_sha1` is true of the file; no LlamaFactory since 0.7.1 reads it", path, "", "note")
    else:
        hint = f'"file_sha1": "{found}", or remove it'
        yield Hit(f"`file_sha1` is {given}, but the file's is {found}: it was changed since", path, hint)


def ranking_no_bool(view: EntryView) -> Iterator[Hit]:
    """`ranking` is neither true nor false: every stage lets it pass, and its truth decides how rows are read."""
    if not isinstance(view.raw.get("ranking", False), bool):
        hint = view.words.key("ranking", str(view.raw["ranking"]).lower() in ("true", "1", "yes"))
        yield Hit(f"`ranking` is {short(view.raw['ranking'])}, not true or false", ("ranking",), hint)


def ranking_with_label(view: EntryView) -> Iterator[Hit]:
    """`ranking` and `kto_tag` exclude each other: KTO takes single answers with a label."""
    if view.raw.get("ranking") and view.group("columns").get("kto_tag"):
        yield Hit("`ranking` and `columns.kto_tag` exclude each other", ("ranking",), "keep one of them")


def pairs_without_ranking(view: EntryView) -> Iterator[Hit]:
    """`chosen` and `rejected` are mapped but `ranking` is not true, so no stage reads them."""
    columns = view.group("columns")
    if columns.get("chosen") and columns.get("rejected") and not view.raw.get("ranking"):
        hint = view.words.key("ranking", True)
        yield Hit("`chosen` and `rejected` are mapped, but `ranking` is not true", ("columns", "chosen"), hint)


def unselectable_name(view: EntryView) -> Iterator[Hit]:
    """LlamaFactory splits `dataset:` at commas and strips the parts, so some names can never be selected."""
    if "," in view.name or view.name != view.name.strip() or not view.name:
        reason = "a comma" if "," in view.name else "a space at its end" if view.name else "no character"
        yield Hit(f"the name {view.name!r} has {reason}, so it cannot be selected", (), "rename it")


def far_path(view: EntryView) -> Iterator[Hit]:
    """`file_name` is absolute, or leads out of the folder by itself or by a link: it works, but only here."""
    file = view.raw.get("file_name")
    if not isinstance(file, str) or any(key in view.raw for key in SOURCE_KEYS if key != "file_name"):
        return
    absolute = Path(file).is_absolute() or re.match(r"[A-Za-z]:[\\/]", file) is not None
    if not absolute and ".." not in Path(file).parts:
        try:
            folder, real = (Path(os.path.realpath(path)) for path in (view.dataset_dir, view.dataset_dir / file))
        except ValueError:  # no name that a file can have
            return
        if not real.is_relative_to(folder):
            yield Hit(f"{file!r} is a link that leads out of the folder", ("file_name",))
        return
    if not absolute or (view.dataset_dir / file).exists():
        yield Hit(f"{file!r} {'is an absolute path' if absolute else 'leads out of the folder'}", ("file_name",))
        return
    near = view.dataset_dir / re.split(r"[\\/]", file)[-1]
    hint = view.words.key("file_name", near.name) if near.exists() else "move the file here and name it relatively"
    yield Hit(f"{file!r} is not there; the path looks like one of another machine", ("file_name",), hint)


def rewriting_converter(view: EntryView) -> Iterator[Hit]:
    """`formatting: openai` writes "detailed thinking off" into every system prompt, and drops text beside calls."""
    if view.raw.get("formatting") == "openai":
        hint = 'use "sharegpt" with role_tag, content_tag and the roles in `tags`, where no row calls tools'
        yield Hit("`formatting: openai` rewrites system prompts", ("formatting",), hint)


def equal_tags(view: EntryView) -> Iterator[Hit]:
    """Two tags have the same value: the later one in LlamaFactory's order wins, the other is never met."""
    roles = [tag for tag in TAG_KEYS[2:] if view.group("tags").get(tag)]
    for at, tag in enumerate(roles):
        twins = [other for other in roles[:at] if view.group("tags")[other] == view.group("tags")[tag]]
        if twins:
            yield Hit(f"`{twins[0]}` and `{tag}` are both {view.group('tags')[tag]!r}", ("tags", tag))


RULES = [
    Rule("DS180", "warning", misspelt_keys, IGNORED, '"format": "sharegpt"', "data/parser.py:27-90"),
    Rule("DS181", "note", own_keys, f"{IGNORED}, and dsreg keeps it", '"owner": "team geo"', "data/parser.py:27-90"),
    Rule("DS182", "warning", legacy_keys, IGNORED, '"sample_num": 100', "history of data/parser.py"),
    Rule("DS183", "warning", checksum, IGNORED, '"file_sha1": "0000000000…"', "removed in 0.7.1"),
    Rule("DS184", "warning", swapped_columns, IGNORED, '"columns": {"question": "prompt"}', "data/parser.py:80-90"),
    Rule("DS185", "warning", misplaced_keys, IGNORED, '"messages": "chat" beside "file_name"', "data/parser.py:80-90"),
    Rule("DS188", "warning", ranking_no_bool, "every stage takes it", '"ranking": "true"', "data/loader.py:177-181"),
    Rule("DS189", "warning", ranking_with_label, "no stage reads the rows as meant", "", "data/converter.py:109-119"),
    Rule("DS190", "warning", pairs_without_ranking, "rm and dpo refuse the entry", "", "data/loader.py:177-181"),
    Rule("DS191", "warning", unselectable_name, "nothing can select it", '"a, b": {…}', "hparams/data_args.py:148"),
    Rule("DS192", "note", far_path, "the folder cannot be moved alone", '"file_name": "/mnt/team/a.json"'),
    Rule(
        "DS194",
        "note",
        rewriting_converter,
        "every row without tools is trained with `detailed thinking off`",
        '"formatting": "openai"',
        "data/converter.py:353-367",
    ),
    Rule("DS196", "warning", equal_tags, "rows are read with the wrong role", "", "data/converter.py:137-143"),
]
