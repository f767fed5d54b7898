"""What is wrong with a row, in the words of its data, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from dsreg.check.finding import short
from dsreg.check.hints import Words
from dsreg.check.locate import value_at
from dsreg.llamafactory.reasons import REASONS
from dsreg.llamafactory.resolve import Entry
from dsreg.model import COLUMN_KEYS, closest

ROLE_TAGS = ("user_tag", "assistant_tag", "observation_tag", "function_tag", "system_tag")
_KINDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}


class Told(NamedTuple):
    """What the prediction says of a row: its number from 0, the reason, the path inside, LlamaFactory's words."""

    row: int
    reason: str
    path: str
    why: str


def describe(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    """The sentence of a finding; `row` is None where the row is not at hand, `columns` are those of the data."""
    if told.reason in _SENTENCES:
        return _SENTENCES[told.reason](told, row, entry, columns)
    explain = REASONS[told.reason].explain.rstrip(".")
    explain = explain[:1].lower() + explain[1:]
    found = value_at(row, told.path)
    if told.reason in _SHOWS_VALUE:
        return f"{explain}: {kind(found)}{_shown(found)}" if row is not None else explain
    return f"{explain}: {_first_line(told.why)}" if told.why and not told.why.startswith("Dropped") else explain


_SHOWS_VALUE = frozenset(
    (
        *("response_not_text", "prompt_not_text", "content_not_text", "messages_not_list", "messages_null"),
        *("kto_tag_not_bool", "history_shape", "system_not_text"),
    )
)


def kind(value: Any) -> str:
    """What a JSON value is."""
    return _KINDS.get(type(value), "an object")


def _shown(value: Any) -> str:
    return "" if value is None else f" {short(value)}"


def _first_line(text: str) -> str:
    text = text.splitlines()[0] if text else text
    return text if len(text) <= 160 else text[:159] + "…"


def _roles(row: Any, entry: Entry) -> list[Any]:
    """The roles of a row's messages."""
    messages = row.get(entry.messages) if isinstance(row, dict) else None
    turns = messages if isinstance(messages, list) else []
    return [turn.get(entry.role_tag) if isinstance(turn, dict) else None for turn in turns]


def known_roles(entry: Entry) -> list[Any]:
    """The roles that the entry's tags name."""
    return [role for tag in ROLE_TAGS if (role := getattr(entry, tag))]


def _role_order(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    roles, known = _roles(row, entry), known_roles(entry)
    odd = next((role for role in roles if role not in known), None)
    if odd is not None:
        return f"the role {short(odd)} is none of the tags: {', '.join(map(str, known))}"
    at = re.search(r"\[(\d+)\]", told.path)
    number = int(at[1]) if at else _first_odd(roles, entry)
    if not roles or number >= len(roles):
        return "roles do not alternate"
    before = roles[number - 1] if number else None
    if roles[number] == entry.system_tag:
        return f"`{roles[number]}` stands in the middle; only the first message can be the system prompt"
    if before is None or before == entry.system_tag:
        return f"the dialogue starts with `{roles[number]}`"
    return f"`{roles[number]}` follows `{before}`"


def _first_odd(roles: list[Any], entry: Entry) -> int:
    asking = (entry.user_tag, entry.observation_tag)
    start = 1 if roles[:1] == [entry.system_tag] else 0
    return next((i for i in range(start, len(roles)) if (roles[i] in asking) != ((i - start) % 2 == 0)), len(roles))


def _message_count(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    roles = _roles(row, entry)
    if not roles:
        return "the number of messages does not fit"
    need = "before chosen and rejected the user must speak last" if entry.ranking else "no answer follows"
    return f"the dialogue ends with `{roles[-1]}`: {need}"


def _missing_column(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    key = next((key for key in COLUMN_KEYS if getattr(entry, key) == told.path), "")
    has = f"; it has {_listed(columns)}" if columns else ""
    return f"the data has no column {told.path!r}, which is `{key}`{has}"


def _column_unset(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    has = f"; the data has {_listed(columns)}" if columns else ""
    return f"`columns` leaves `{told.path}` unset{has}"


def _missing_key(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    message = value_at(row, told.path)
    has = f" with the keys {_listed(list(message))}" if isinstance(message, dict) else ""
    missing = next((tag for tag in ("role_tag", "content_tag") if _lacks(message, getattr(entry, tag))), "role_tag")
    return f"a message{has} lacks {getattr(entry, missing)!r}, which is `{missing}`"


def _lacks(message: Any, key: Any) -> bool:
    return isinstance(message, dict) and key not in message


def _unknown_role(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    role = value_at(row, told.path)
    return f"the role {short(role)} is none of the tags: {', '.join(map(str, known_roles(entry)))}"


def _pair_incomplete(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    want = "text" if entry.formatting == "alpaca" else "one message as an object"
    if not isinstance(row, dict):
        return f"chosen and rejected are not both {want}"
    chosen, rejected = kind(row.get(entry.chosen)), kind(row.get(entry.rejected))
    return f"chosen and rejected must both be {want}; they are {chosen} and {rejected}"


def _media_count(told: Told, row: Any, entry: Entry, columns: list[str]) -> str:
    return f"placeholders and media do not match: {told.why}"


def _listed(names: list[Any]) -> str:
    return ", ".join(map(str, names[:12])) + (", …" if names[12:] else "") if names else "none"


_Sentence = Callable[[Told, Any, Entry, list[str]], str]
_SENTENCES: dict[str, _Sentence] = {
    "role_order": _role_order,
    "message_count": _message_count,
    "missing_column": _missing_column,
    "column_unset": _column_unset,
    "missing_key": _missing_key,
    "unknown_role": _unknown_role,
    "pair_incomplete": _pair_incomplete,
    "media_count": _media_count,
    "converter_unknown": lambda told, row, entry, columns: (
        f"`formatting` is {short(entry.formatting)}, not alpaca, sharegpt or openai"
    ),
    "media_missing": lambda told, row, entry, columns: told.why,
}


def _hint_column(told: Told, words: Words, entry: Entry, columns: list[str]) -> str:
    """Map the column that was probably meant, or none."""
    key = next((key for key in COLUMN_KEYS if getattr(entry, key) == told.path), told.path)
    near = closest(told.path, columns) or closest(key, columns)
    if near:
        return words.column(key, near)
    if key in ("query", "history", "system", "tools"):
        left = {"prompt": entry.prompt, "response": entry.response}
        kept = {own: column for own, column in left.items() if column in columns}
        return f"leave `{key}` out of `columns`: {words.columns(kept)}" if kept else ""
    return f"map `{key}` to one of the data's columns" if columns else ""


def _hint_unset(told: Told, words: Words, entry: Entry, columns: list[str]) -> str:
    near = closest(told.path, columns)
    usual = {"messages": "conversations", "prompt": "instruction", "response": "output", "query": "input"}
    near = near or next((column for column in (usual.get(told.path, ""), told.path) if column in columns), None)
    mapping = words.column(told.path, near or "COLUMN")
    return f"{mapping} (where `columns` is there at all, every name left out is unset)"


def _say(text: str) -> Callable[[Told, Words, Entry, list[str]], str]:
    return lambda told, words, entry, columns: text


def _fix_stage(told: Told, words: Words, entry: Entry, columns: list[str]) -> str:
    if entry.kto_tag:
        return "--stage kto"
    return "--stage dpo" if entry.ranking else "use a stage that fits, or map what the stage needs"


ROW_HINTS: dict[str, Callable[[Told, Words, Entry, list[str]], str]] = {
    "converter_unknown": _say("write alpaca, sharegpt or openai, in small letters"),
    "missing_column": _hint_column,
    "column_unset": _hint_unset,
    "response_unset": lambda told, words, entry, columns: (
        f"{words.column('response', closest('response', columns) or 'COLUMN')}, or --stage pt"
    ),
    "role_order": _say("let user or tool, then assistant or call, take turns; join turns of the same role"),
    "message_count": _say("end the dialogue with the assistant, or cut the last turn"),
    "no_messages": _say("remove the row"),
    "response_not_text": _say("write the answer as text; an object as its JSON text"),
    "prompt_not_text": _say("write the prompt as text"),
    "content_not_text": _say("write the content as text; leave no null"),
    "history_shape": _say('write [["question", "answer"], …]'),
    "history_keys": _say('write [["question", "answer"], …]'),
    "messages_null": _say("write [] or remove the row"),
    "messages_not_list": _say("write a list of messages, not its JSON text"),
    "unknown_role": _say("rename the role, or name it in `tags`"),
    "pair_incomplete": _say("write both answers as the format wants them; ranked lists become two columns"),
    "pair_role": _say("give both answers the assistant's role"),
    "kto_tag_not_bool": _say("write true or false, without quotes, not 1 or 0"),
    "kto_flips": _say("fill the answer, or remove the row"),
    "one_answer": _fix_stage,
    "two_answers": _fix_stage,
    "prompt_even": _say("let the prompt end with the user's turn"),
    "tools_not_json": _say('write the JSON text of a list, or "" for no tools: not " ", not Python\'s quotes'),
    "tools_shape": _say('write {"name": …, "description": …, "parameters": {"type": "object", "properties": …}}'),
    "call_not_json": _say('write {"name": …, "arguments": {…}} as JSON text; line breaks inside as \\n'),
    "call_shape": _say('write {"name": …, "arguments": {…}}, several of them as a list'),
    "tool_calls_shape": _say("write a list of objects with `function`"),
    "tool_content_not_text": _say("write the tool's result as text"),
    "tool_result_lost": _say("end the row with the assistant's answer"),
    "text_beside_call_lost": _say("give the text a turn of its own, or leave it out"),
    "media_null": _say("leave out nulls: a row without media has []"),
    "media_count": _say("as many <image>, <video> or <audio> in the texts as files in the list"),
    "media_missing": _say("paths are relative to media_dir, by default the folder of dataset_info.json"),
    "empty_prompt_pt": _say("--stage sft for dialogues, or repair the row"),
    "system_not_text": _say("write the system prompt as text"),
}
