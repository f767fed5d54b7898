"""The files against the entry: suffix and content, columns, roles, types; what a person needs to see to repair it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from dsreg.check.describe import known_roles
from dsreg.check.finding import Hit, Rule, short
from dsreg.check.hints import Words
from dsreg.errors import DsregError
from dsreg.llamafactory.resolve import Entry
from dsreg.rows import BadRow, open_rows, sniff

HEAD_ROWS = 200
SCANNED_ROWS = 100_000
"""How many rows are gone through again for a histogram."""
_SNIFFED_FILES = 50
_READ_AS = {".json": ("json", "jsonl"), ".jsonl": ("json", "jsonl"), ".csv": ("csv",), ".txt": ("txt",)}
_USUAL = {
    "alpaca": {"prompt": "instruction", "query": "input", "response": "output", "history": "history"},
    "sharegpt": {"messages": "conversations"},
}
_ANY = ("system", "tools", "images", "videos", "audios", "kto_tag")
_WORDS = {"json": "a JSON array", "jsonl": "JSON Lines", "txt": "text", "csv": "CSV", "tsv": "TSV"}


@dataclass
class FileView:
    """The data of one entry: its files, its first rows, and the reasons that the prediction gave for its rows."""

    entry: Entry
    raw: dict[str, Any]
    files: list[Path]
    words: Words
    reasons: Counter[str] = field(default_factory=Counter)
    fatal: str = ""
    head: list[dict[str, Any]] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """The columns that the first rows have."""
        return list(dict.fromkeys(key for row in self.head for key in row))

    def rows(self, most: int = SCANNED_ROWS) -> Iterator[dict[str, Any]]:
        """The rows of the files that are objects, again from the start; ends where the files cannot be read on."""
        try:
            for path in self.files:
                with open_rows(path, kind="txt" if path.suffix == ".txt" else None) as stream:
                    yield from (row for row in islice(stream, most) if isinstance(row, dict))
        except DsregError:
            return


def look_at_files(view: FileView) -> FileView:
    """Read the first rows."""
    view.head = list(islice(view.rows(), HEAD_ROWS))
    return view


def wrong_suffix(view: FileView) -> Iterator[Hit]:
    """The content is not what the suffix says; LlamaFactory goes by the suffix."""
    for path in view.files[:_SNIFFED_FILES]:
        expected = _READ_AS.get(path.suffix)
        found = _sniffed(path)
        if expected and found and found not in expected and not (path.suffix == ".csv" and found == "txt"):
            hint = f"rename it to {path.with_suffix('.jsonl' if found == 'jsonl' else f'.{found}').name}"
            yield Hit(f"{path.name} holds {_WORDS.get(found, found)}, whatever its suffix says", ("file_name",), hint)


def other_json(view: FileView) -> Iterator[Hit]:
    """JSON Lines in a .json file or one array in a .jsonl file: both are read, by LlamaFactory and by dsreg."""
    for path in view.files[:_SNIFFED_FILES]:
        found = _sniffed(path)
        if (path.suffix, found) in ((".json", "jsonl"), (".jsonl", "json")):
            yield Hit(f"{path.name} holds {_WORDS[found]}", ("file_name",))


def _sniffed(path: Path) -> str:
    try:
        return sniff(path)
    except DsregError:
        return ""


def unread_columns(view: FileView) -> Iterator[Hit]:
    """The data has a column that LlamaFactory would read, and the entry does not map it.

    A `columns` table is complete: every name left out of it is unset, whatever its default was.
    """
    formatting = "alpaca" if view.entry.formatting == "alpaca" else "sharegpt"
    given = view.raw.get("columns")
    columns = given if isinstance(given, dict) else {}
    mapped = {column for key in (*_USUAL[formatting], *_ANY) if (column := getattr(view.entry, key, None))}
    mapped |= {column for column in (view.entry.chosen, view.entry.rejected) if column}
    for key, usual in {**_USUAL[formatting], **{key: key for key in _ANY}}.items():
        if getattr(view.entry, key) or key in columns or usual in mapped:
            continue
        if any(row.get(usual) not in (None, "", []) for row in view.head):
            reason = "`columns` leaves" if key in _USUAL[formatting] and columns else "the entry leaves"
            message = f"the data has {usual!r}, and {reason} `{key}` unset"
            hint = f"{view.words.column(key, usual)}, or {_silence(key)} to say that it is not wanted"
            yield Hit(message, ("columns",), view.words.column(key, usual) if view.words.project else hint)


def _silence(key: str) -> str:
    return f'"{key}": ""'


_ROLE_REASONS = ("role_order", "unknown_role", "missing_key", "tag_unset", "no_messages")


def foreign_roles(view: FileView) -> Iterator[Hit]:
    """The roles or keys in the messages are not those of `tags`; shows all that occur, and the tags that fit."""
    if view.entry.formatting not in ("sharegpt", "openai") or not any(view.reasons[r] for r in _ROLE_REASONS):
        return
    from dsreg.detection.turns import read_shape

    dialogues = [(i, turns) for i, row in enumerate(view.rows(), 1) if (turns := _turns(row, view.entry))]
    shape = read_shape(dialogues)
    if shape is None:
        return
    known = known_roles(view.entry)
    keys = (shape.role_key, shape.content_key)
    odd = [role for role in shape.roles if role not in known]
    if not odd and keys == (view.entry.role_tag, view.entry.content_tag):
        return
    counted = ", ".join(f"{role or 'none'} {count:,}" for role, count in shape.roles.most_common(12))
    named = "; ".join(f"{role!r} in {_numbers(shape.rows_of[role])}" for role in odd[:5])
    message = f"messages have the keys {keys[0]} and {keys[1]}, and the roles {counted}"
    if odd and keys == (view.entry.role_tag, view.entry.content_tag):
        message = f"the roles that occur are {counted}; not among the tags: {named}"
    tags = _complete(shape.tags({}))
    given = {tag: getattr(view.entry, tag) for tag in tags}
    unset = ", ".join(tag for tag, value in given.items() if not value)
    if unset:
        message += f"; `tags` leaves {unset} unset"
    yield Hit(message, ("tags",), view.words.tags(tags) if tags != given else "rename the odd roles in the data")


def two_systems(view: FileView) -> tuple[int, list[int]]:
    """How many rows have a system column and begin with a system turn that says something else; the first of them.

    LlamaFactory uses the turn (data/converter.py:150-156).
    """
    entry = view.entry
    if not (entry.system and entry.system_tag) or entry.formatting not in ("sharegpt", "openai"):
        return 0, []
    count, first = 0, list[int]()
    for number, row in enumerate(view.rows()):
        turns = _turns(row, entry)
        opening = turns[0] if turns and turns[0].get(entry.role_tag) == entry.system_tag else {}
        if opening and row.get(entry.system) not in (None, "", opening.get(entry.content_tag)):
            count += 1
            first += [number] if len(first) < 3 else []
    return count, first


def _turns(row: dict[str, Any], entry: Entry) -> list[Any]:
    turns = row.get(entry.messages) if isinstance(entry.messages, str) else None
    return turns if isinstance(turns, list) and turns and all(isinstance(turn, dict) for turn in turns) else []


def _complete(tags: dict[str, str]) -> dict[str, str]:
    from dsreg.source import complete_tags

    return complete_tags(tags)


def _numbers(rows: list[int]) -> str:
    shown = ", ".join(str(row) for row in rows[:5])
    return f"row{'s' if rows[1:] else ''} {shown}{f' and {len(rows) - 5:,} more' if rows[5:] else ''}"


_LAYOUT_REASONS = ("missing_column", "column_unset", "converter_unknown", "messages_not_list", "response_unset")


def other_layout(view: FileView) -> Iterator[Hit]:
    """The rows look like another layout than the one in force."""
    if not any(view.reasons[r] for r in _LAYOUT_REASONS):
        return
    found = detected(view.head)
    if found is None:
        return
    layout, named = ("sharegpt" if found.tags else found.format), view.entry.formatting
    if layout == named or (layout == "pretrain" and named == "alpaca"):
        return
    if found.llamafactory_copy:
        yield Hit(f"the rows look like {found.format}, which LlamaFactory cannot read", (), "dsreg add, which converts")
        return
    hint = view.words.key("formatting", layout) if layout in ("alpaca", "sharegpt") else ""
    if found.tags and not view.words.project:
        columns, tags = short(found.columns, 400), short(found.tags, 400)
        hint = f'write "formatting": "sharegpt", "columns": {columns} and "tags": {tags}'
    path = ("formatting",)
    yield Hit(f"the rows look like {layout}, and the entry is read as {short(named)}", path, hint)


def detected(head: list[dict[str, Any]]) -> Any:
    """What the rows are taken for when nothing is known of them, or None."""
    from dsreg.detection import detect

    try:
        return detect(head)
    except DsregError:
        return None


def mixed_types(view: FileView) -> Iterator[Hit]:
    """A column holds values of several JSON types, which Arrow cannot hold in one column."""
    if view.fatal in ("type_change", "schema_lock"):
        for _, text in type_changes(view.rows()):
            yield Hit(text, (), "write one type; free objects as their JSON text")


def type_changes(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """A name and a sentence for each column of several JSON types, with the first row of each."""
    seen: dict[str, dict[str, int]] = {}
    for number, row in enumerate(rows, 1):
        for key, value in row.items():
            if value is not None:
                seen.setdefault(key, {}).setdefault(_type(value), number)
    for key, types in seen.items():
        if len(types) > 1:
            yield key, f"column {key!r} holds " + ", ".join(f"{kind} (row {row:,})" for kind, row in types.items())


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "numbers"
    kinds: dict[type, str] = {str: "text", list: "lists", dict: "objects"}
    return kinds.get(type(value), type(value).__name__)


def broken_rows(view: FileView) -> Iterator[tuple[Path, int | None, int, str, str, str]]:
    """What dsreg's own reader says of files that LlamaFactory cannot parse: file, line, row, path, message, hint."""
    for path in view.files:
        try:
            with open_rows(path) as stream:
                bad = ((stream.line, stream.row, row.path, row.message) for row in stream if isinstance(row, BadRow))
                for line, number, inside, message in islice(bad, 3):
                    yield path, line, number, inside, message, ""
        except DsregError as error:
            place = error.where.rsplit(":", 1)[-1]
            yield path, int(place) if place.isdigit() else None, 0, "", error.message, error.hint


RULES = [
    Rule("DS143", "warning", wrong_suffix, "LlamaFactory goes by the suffix", "[{…}] in t.txt", "data/loader.py:77-89"),
    Rule("DS144", "note", other_json, "it is read all the same", "one array in rows.jsonl", "datasets, json builder"),
    Rule(
        "DS145",
        "error",
        foreign_roles,
        "LlamaFactory drops or refuses rows with other roles",
        '"from": "user" where the tags say human',
        "data/converter.py:137-176",
    ),
    Rule("DS146", "warning", unread_columns, "LlamaFactory never reads it", "", "data/parser.py:80-90"),
    Rule(
        "DS147", "error", mixed_types, "LlamaFactory stops before training", '"meta": "x", then "meta": 5', "datasets"
    ),
    Rule("DS149", "error", other_layout, "LlamaFactory looks for columns that are not there", ""),
]
