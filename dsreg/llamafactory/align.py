"""LlamaFactory's three converters (data/converter.py) as plain functions: a loaded row -> an aligned row.

They follow the original line by line, accidents included; where the original raises, they raise RowAbort with a
reason. `Context` is what a converter knows beside the row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .media import find_medias
from .outcome import Note, RowAbort
from .resolve import Entry

Row = dict[str, Any]
Message = dict[str, Any]

OPENAI_JOIN = "\n</tool_response>\n<tool_response>\n"
THINKING_OFF = "detailed thinking off"


@dataclass
class Context:
    """The entry, the media folder, and the notes and drop reason gathered for the row at hand."""

    entry: Entry
    media_dir: Path
    notes: list[Note] = field(default_factory=list)
    broken: tuple[str, str] | None = None

    def break_row(self, reason: str, path: str) -> None:
        """Remember the first thing that makes the converter empty the row."""
        self.broken = self.broken or (reason, path)


def convert(row: Row, context: Context) -> Row:
    """Align one row; raises RowAbort where LlamaFactory's converter raises.

    `context.notes` and `context.broken` are set anew for the row.
    """
    context.notes, context.broken = [], None
    try:
        return CONVERTERS[context.entry.formatting](row, context)
    except RowAbort:
        raise
    except Exception as err:  # a value nobody foresaw; the original would raise as well
        raise RowAbort("row_unreadable", "", f"{type(err).__name__}: {err}") from err


def has_converter(formatting: Any) -> bool:
    """Whether `formatting` names one of LlamaFactory's converters."""
    return isinstance(formatting, str) and formatting in CONVERTERS


def cell(row: Row, column: Any, what: str) -> Any:
    """The value of a mapped column; raises RowAbort as `row[column]` would raise."""
    try:
        return row[column]
    except KeyError:
        if column is None:
            raise RowAbort("column_unset", what, f"KeyError: None: the entry leaves `{what}` unset") from None
        raise RowAbort("missing_column", str(column), f"KeyError: {column!r}: no such column in the data") from None
    except TypeError as err:
        raise RowAbort("bad_column_name", what, f"TypeError: {err}") from None


def _alpaca(row: Row, context: Context) -> Row:
    entry = context.entry
    prompt = _history(row, context)
    query: list[str] = []
    for what, column in (("prompt", entry.prompt), ("query", entry.query)):
        if column and (text := cell(row, column, what)):
            if not isinstance(text, str):
                message = f"TypeError: sequence item {len(query)}: expected str instance, {_type(text)} found"
                # what is read before the texts are joined would raise first, but the end is the same
                raise RowAbort("prompt_not_text", str(column), message)
            query.append(text)
    prompt.append({"role": "user", "content": "\n".join(query)})
    if entry.kto_tag and isinstance(tag := cell(row, entry.kto_tag, "kto_tag"), bool):
        answer = {"role": "assistant", "content": cell(row, entry.response, "response")}
        response = _kto_pair([answer], tag)
    elif entry.ranking and _both(row, entry, str):
        response = [{"role": "assistant", "content": row[column]} for column in (entry.chosen, entry.rejected)]
    elif entry.response and isinstance(text := cell(row, entry.response, "response"), str):
        response = [{"role": "assistant", "content": text}]
    else:
        response = []
    system = cell(row, entry.system, "system") if entry.system else ""
    tools = cell(row, entry.tools, "tools") if entry.tools else ""
    return _aligned(row, context, prompt, response, system, tools)


def _history(row: Row, context: Context) -> list[Message]:
    column = context.entry.history
    turns: list[Message] = []
    if not column or not isinstance(history := cell(row, column, "history"), list):
        return turns
    for at, pair in enumerate(history):
        path = f"{column}[{at}]"
        try:
            question, answer = pair
        except (TypeError, ValueError) as err:
            raise RowAbort("history_shape", path, f"{type(err).__name__}: {err}") from None
        if not isinstance(pair, list):
            context.notes.append(Note("history_keys", f"{_type(pair)} instead of [question, answer]", path))
        turns += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return turns


def _both(row: Row, entry: Entry, kind: type) -> bool:
    """Whether chosen and rejected both have the type the converter looks for, read in its order."""
    chosen = isinstance(cell(row, entry.chosen, "chosen"), kind)
    return chosen and isinstance(cell(row, entry.rejected, "rejected"), kind)


def _kto_pair(answer: list[Message], desirable: bool) -> list[Message]:
    empty = {"role": "assistant", "content": ""}
    return [*answer, empty] if desirable else [empty, *answer]


def tag_of(message: Any, tag: Any, what: str, path: str) -> Any:
    """`message[tag]` with a reason when it fails: no object, no such key, or the tag itself unset."""
    try:
        return message[tag]
    except KeyError:
        if tag is None:
            raise RowAbort("tag_unset", path, f"KeyError: None: the entry leaves `{what}` unset") from None
        raise RowAbort("missing_key", path, f"KeyError: {tag!r}: the message has no such key") from None
    except (TypeError, IndexError) as err:
        raise RowAbort("messages_not_list", path, f"{type(err).__name__}: {err}") from None


def roles_of(entry: Entry) -> dict[Any, str]:
    """The entry's role tags as LlamaFactory maps them; of equal tags the last wins."""
    try:
        return {
            entry.user_tag: "user",
            entry.assistant_tag: "assistant",
            entry.observation_tag: "observation",
            entry.function_tag: "function",
            entry.system_tag: "system",
        }
    except TypeError as err:
        raise RowAbort("bad_column_name", "tags", f"TypeError: {err}") from None


def _role(roles: dict[Any, str], role: Any, path: str) -> str:
    try:
        return roles[role]
    except KeyError:
        raise RowAbort("unknown_role", path, f"KeyError: {role!r}: no tag has this role") from None
    except TypeError as err:
        raise RowAbort("unknown_role", path, f"TypeError: {err}") from None


def _opening(row: Row, context: Context, strict: bool) -> tuple[Any, list[Any], int]:
    """The system prompt, the messages after it, and how many were taken off (0 or 1)."""
    entry = context.entry
    messages = cell(row, entry.messages, "messages")
    if messages is None and entry.system_tag:
        raise RowAbort("messages_null", str(entry.messages), "TypeError: object of type 'NoneType' has no len()")
    if entry.system_tag and _length(messages, str(entry.messages)) != 0:
        path = f"{entry.messages}[0]"
        if tag_of(_first(messages, path), entry.role_tag, "role_tag", path) == entry.system_tag:
            return tag_of(messages[0], entry.content_tag, "content_tag", path), messages[1:], 1
    if not entry.system:
        return "", messages, 0
    if strict:
        return cell(row, entry.system, "system"), messages, 0
    return row.get(entry.system, ""), messages, 0


def _length(messages: Any, path: str) -> int:
    try:
        return len(messages)
    except TypeError as err:
        raise RowAbort("messages_not_list", path, f"TypeError: {err}") from None


def _first(messages: Any, path: str) -> Any:
    try:
        return messages[0]
    except (KeyError, TypeError, IndexError) as err:
        raise RowAbort("messages_not_list", path, f"{type(err).__name__}: {err}") from None


def _each(messages: Any, path: str) -> Any:
    if messages is None:
        raise RowAbort("messages_null", path, "TypeError: 'NoneType' object is not iterable")
    try:
        return enumerate(messages)
    except TypeError as err:
        raise RowAbort("messages_not_list", path, f"TypeError: {err}") from None


def _sharegpt(row: Row, context: Context) -> Row:
    entry, where = context.entry, str(context.entry.messages)
    role_tag, content_tag = entry.role_tag, entry.content_tag
    roles = roles_of(entry)
    accepted = ((entry.user_tag, entry.observation_tag), (entry.assistant_tag, entry.function_tag))
    system, messages, taken = _opening(row, context, strict=True)
    turns: list[Message] = []
    for at, message in _each(messages, where):
        try:
            role = message[role_tag]
            if role not in accepted[at % 2]:
                context.break_row("role_order", f"{where}[{at + taken}].{role_tag}")
                break
            turns.append({"role": roles[role], "content": message[content_tag]})
        except (KeyError, TypeError, IndexError):
            turns.append(_turn(message, entry, roles, f"{where}[{at + taken}]"))
    _check_count(turns, context)
    prompt, response = _split(row, context, turns, accepted[-1], roles)
    tools = cell(row, entry.tools, "tools") if entry.tools else ""
    return _aligned(row, context, prompt, response, system, tools)


def _turn(message: Any, entry: Entry, roles: dict[Any, str], path: str) -> Message:
    """A message as a turn, each step with the reason why it fails."""
    role = tag_of(message, entry.role_tag, "role_tag", path)
    name = _role(roles, role, f"{path}.{entry.role_tag}")
    return {"role": name, "content": tag_of(message, entry.content_tag, "content_tag", path)}


def _check_count(turns: list[Message], context: Context) -> None:
    ranked = bool(context.entry.ranking)
    if len(turns) % 2 != int(ranked):
        context.break_row("message_count", str(context.entry.messages))


def _split(
    row: Row, context: Context, turns: list[Message], answering: tuple[Any, Any], roles: dict[Any, str]
) -> tuple[list[Message], list[Message]]:
    """Prompt and response of a chat row (converter.py:178-217 and 311-351)."""
    entry = context.entry
    if context.broken:
        return [], []
    if entry.kto_tag and isinstance(tag := cell(row, entry.kto_tag, "kto_tag"), bool):
        return turns[:-1], _kto_pair(turns[-1:], tag)
    if entry.ranking and _both(row, entry, dict):
        pair = [(str(column), row[column]) for column in (entry.chosen, entry.rejected)]
        said = [tag_of(answer, entry.role_tag, "role_tag", column) for column, answer in pair]
        if any(role not in answering for role in said):
            context.notes.append(Note("pair_role", f"roles of chosen and rejected: {said}", pair[0][0]))
        return turns, [
            {
                "role": _role(roles, role, f"{column}.{entry.role_tag}"),
                "content": tag_of(answer, entry.content_tag, "content_tag", column),
            }
            for (column, answer), role in zip(pair, said, strict=True)
        ]
    return turns[:-1], turns[-1:]


def _openai(row: Row, context: Context) -> Row:
    entry = context.entry
    roles = roles_of(entry)
    system, messages, taken = _opening(row, context, strict=False)
    turns = _openai_turns(messages, context, roles, taken)
    answering = ("assistant", "function")
    accepted = (("user", "observation"), answering)
    for at, turn in enumerate(turns):
        if turn["role"] not in accepted[at % 2]:
            context.break_row("role_order", str(entry.messages))
            break
    _check_count(turns, context)
    prompt, response = _split(row, context, turns, answering, roles)
    tools = row.get(entry.tools, "") if entry.tools else ""
    if isinstance(tools, dict | list):
        tools = json.dumps(tools, ensure_ascii=False)
    return _aligned(row, context, prompt, response, _openai_system(system, tools), tools)


def _openai_turns(messages: Any, context: Context, roles: dict[Any, str], taken: int) -> list[Message]:
    """The messages with tool_calls made function turns and tool results joined; trailing results are lost."""
    entry, where = context.entry, str(context.entry.messages)
    turns: list[Message] = []
    results: list[Any] = []
    for at, message in _each(messages, where):
        path = f"{where}[{at + taken}]"
        role = tag_of(message, entry.role_tag, "role_tag", path)
        content = tag_of(message, entry.content_tag, "content_tag", path)
        if role in [entry.assistant_tag, entry.function_tag] and (calls := message.get("tool_calls")):
            if content:
                context.notes.append(Note("text_beside_call_lost", "the text is replaced by the calls", path))
            content = json.dumps(_functions(calls, f"{path}.tool_calls"), ensure_ascii=False)
            role = entry.function_tag
        if role == entry.observation_tag:
            results.append(content)
            continue
        if results:
            turns.append({"role": "observation", "content": _join(results, path)})
            results = []
        turns.append({"role": _role(roles, role, f"{path}.{entry.role_tag}"), "content": content})
    if results:
        context.notes.append(Note("tool_result_lost", f"{len(results)} tool results at the end are lost", where))
    return turns


def _functions(calls: Any, path: str) -> list[Any]:
    try:
        return [call["function"] for call in calls]
    except (KeyError, TypeError, IndexError) as err:
        raise RowAbort("tool_calls_shape", path, f"{type(err).__name__}: {err}") from None


def _join(results: list[Any], path: str) -> str:
    try:
        return OPENAI_JOIN.join(results)
    except TypeError as err:
        raise RowAbort("tool_content_not_text", path, f"TypeError: {err}") from None


def _openai_system(system: Any, tools: Any) -> Any:
    """The system prompt as the openai converter rewrites it (converter.py:353-367)."""
    try:
        if not system:
            return system if tools else THINKING_OFF
        if tools:
            system += "\n"
        elif "detailed thinking on" not in system and THINKING_OFF not in system:
            system += "\n" + THINKING_OFF
    except TypeError as err:
        raise RowAbort("system_not_text", "system", f"TypeError: {err}") from None
    return system


def _aligned(
    row: Row, context: Context, prompt: list[Message], response: list[Message], system: Any, tools: Any
) -> Row:
    entry = context.entry
    aligned: Row = {"_prompt": prompt, "_response": response, "_system": system, "_tools": tools}
    for what, column in (("images", entry.images), ("videos", entry.videos), ("audios", entry.audios)):
        aligned[f"_{what}"] = find_medias(cell(row, column, what), str(column), context) if column else None
    return aligned


def _type(value: Any) -> str:
    return type(value).__name__


CONVERTERS: dict[str, Callable[[Row, Context], Row]] = {"alpaca": _alpaca, "sharegpt": _sharegpt, "openai": _openai}
