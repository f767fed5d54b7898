"""Prompt, completion, chosen, rejected: each a text (TRL's standard style) or a list of messages (conversational).

The rules are those of TRL 1.16 (dataset formats guide; data_utils.py). One style must hold for all sides of a row, and
for all rows of a file: TRL decides by the first row, and by whichever column a set yields first.
"""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.chat import answer_part, read_chat, write_chat, write_tools
from dsreg.rowcode.columns import as_text, carry_extra, json_name, need, need_text
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

EXTRA_KEY = "extra column "
# What TRL takes for something even when it is empty.
EMPTY_KEYS = frozenset(["images", "image", "chat_template_kwargs", "tools"])


def read_side(row: dict[str, Any], c: Constants, name: str, role: str, start: int = 0) -> list[dict[str, Any]]:
    """The messages of one side; a text is one message of that role. Raises RowError."""
    value, column = need(row, c, name), c.columns[name]
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if not isinstance(value, list):
        raise RowError("DS204", column, f"expected text or a list of messages, found {json_name(value)}")
    return read_chat(value, column, start)


def read_answer(row: dict[str, Any], c: Constants, name: str, start: int) -> list[dict[str, Any]]:
    """The messages of an answer after `start` others; raises RowError, DS202 unless they are the assistant's."""
    return answer_part(read_side(row, c, name, "assistant", start), c.columns[name], name)


def one_style(row: dict[str, Any], c: Constants, names: list[str]) -> bool:
    """Whether the sides of the row are texts; raises RowError DS204 when some are texts and others lists."""
    values = {name: need(row, c, name) for name in names}
    texts = [name for name, value in values.items() if isinstance(value, str)]
    lists = [name for name, value in values.items() if isinstance(value, list)]
    if texts and lists:
        reason = f"`{lists[0]}` is a list of messages but `{texts[0]}` is text; trainers misread such rows"
        raise RowError("DS204", c.columns[lists[0]], reason)
    return bool(texts)


def read_prompt(row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """The context of a row: what its prompt says, under the system prompt of a column of its own; raises RowError."""
    messages = read_side(row, c, "prompt", "user")
    if not messages:
        raise RowError("DS202", c.columns["prompt"], "the prompt has no messages")
    return under_system(messages, row, c)


def under_system(messages: list[dict[str, Any]], row: dict[str, Any], c: Constants) -> list[dict[str, Any]]:
    """The messages under the system prompt of a column, if the row has one; raises RowError DS211 for a second one."""
    column = c.columns.get("system")
    value = row.get(column) if column is not None else None
    if column is None or value is None or value == "" or value == []:
        return messages
    system = read_chat(value, column) if isinstance(value, list) else [{"role": "system", "content": value}]
    if isinstance(value, list) and (len(system) != 1 or system[0]["role"] != "system"):
        raise RowError("DS206", column, "expected one system message")
    if not isinstance(value, list):
        as_text(value, column)
    if same_value(messages[:1], system):
        return messages
    if messages and messages[0]["role"] == "system":
        raise RowError("DS211", column, "the row has a system prompt both here and as its first message")
    return system + messages


def read_pair(row: dict[str, Any], c: Constants) -> dict[str, list[dict[str, Any]]]:
    """The context and both answers of a preference row, its prompt explicit or implicit; raises RowError."""
    column = c.columns.get("prompt")
    if column is None or row.get(column) is None:
        return split_pair(row, c)
    one_style(row, c, ["prompt", "chosen", "rejected"])
    messages = read_side(row, c, "prompt", "user")
    if not messages:
        raise RowError("DS202", column, "the prompt has no messages")
    start = len(messages)
    chosen, rejected = (read_answer(row, c, name, start) for name in ("chosen", "rejected"))
    return {"messages": under_system(messages, row, c), "chosen": chosen, "rejected": rejected}


def split_pair(row: dict[str, Any], c: Constants) -> dict[str, list[dict[str, Any]]]:
    """The longest beginning that both answers share is the prompt; each answer keeps one message at least."""
    if one_style(row, c, ["chosen", "rejected"]):
        return split_texts(row, c)
    chosen, rejected = read_side(row, c, "chosen", ""), read_side(row, c, "rejected", "")
    shared = 0
    while shared < min(len(chosen), len(rejected)) - 1 and same_value(chosen[shared], rejected[shared]):
        shared += 1
    if not shared:
        reason = "there is no prompt: no `prompt` column, and chosen and rejected do not begin with the same message"
        raise RowError("DS202", c.columns["chosen"], reason)
    sides = {
        "chosen": answer_part(chosen, c.columns["chosen"], "chosen", shared),
        "rejected": answer_part(rejected, c.columns["rejected"], "rejected", shared),
    }
    return {"messages": under_system(chosen[:shared], row, c), **sides}


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are equal; values too deeply nested to be compared are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def split_texts(row: dict[str, Any], c: Constants) -> dict[str, list[dict[str, Any]]]:
    """As TRL splits texts: at the first character that differs, a space before it going to the answers."""
    chosen, rejected = need_text(row, c, "chosen"), need_text(row, c, "rejected")
    last = min(len(chosen), len(rejected)) - 1
    at = next((i for i in range(last) if chosen[i] != rejected[i]), max(last, 0))
    if at and chosen[at - 1] == " " and chosen[at : at + 1] != rejected[at : at + 1]:
        at -= 1
    return {
        "messages": under_system([{"role": "user", "content": chosen[:at]}], row, c),
        "chosen": [{"role": "assistant", "content": chosen[at:]}],
        "rejected": [{"role": "assistant", "content": rejected[at:]}],
    }


def survey_sides(sample: dict[str, Any], notes: Any) -> None:
    """Note what decides the style of a file, sides that are more than one text, and which columns its rows have."""
    if not is_standard(sample):
        notes.see("conversational", 0)
    if sample.get("tools"):
        notes.see("tools", 0)
    for key in side_extra(sample["extra"]) if "extra" in sample else ():
        if key not in EMPTY_KEYS:
            notes.see(f"{EXTRA_KEY}{key}", 0)


def decide_sides(notes: Any, c: Constants) -> None:
    """Settle one style for the file, and the keys that all of its rows have: Arrow wants the same on each."""
    if c.options["style"] == "auto":
        c.options["style"] = "conversational" if notes.counts["conversational"] else "standard"
    c.options["tools_key"] = bool(notes.counts["tools"])
    c.options["extra_keys"] = [kind.removeprefix(EXTRA_KEY) for kind in notes.counts if kind.startswith(EXTRA_KEY)]


def split_dialogue(messages: list[dict[str, Any]]) -> int:
    """The place where the completion of a dialogue begins: after the last message that is not an answer's.

    Raises RowError DS302 for a dialogue without a prompt, or that does not end with the assistant.
    """
    if not messages or messages[-1]["role"] != "assistant":
        raise RowError("DS302", "messages", "the row does not end in an assistant's turn, which is the completion")
    start = len(messages)
    while start and messages[start - 1]["role"] in ("assistant", "tool"):
        start -= 1
    if not start:
        raise RowError("DS302", "messages", "no message stands before the completion")
    return start


def is_standard(sample: dict[str, Any]) -> bool:
    """Whether a sample is a text and its answer or answers, with no more to it: what the standard style can hold."""
    messages = sample["messages"]
    sides = [sample[name] for name in ("chosen", "rejected", "completion") if name in sample]
    if not sides:
        messages, sides = messages[:-1], [messages[-1:]]
    return is_text(messages, "user") and all(is_text(side, "assistant") for side in sides) and not sample.get("tools")


def is_text(messages: list[dict[str, Any]], role: str) -> bool:
    """Whether the messages are one, of that role, with nothing but text."""
    if len(messages) != 1:
        return False
    message = messages[0]
    return len(message) == 2 and message["role"] == role and isinstance(message["content"], str)


def write_sides(sample: dict[str, Any], sides: dict[str, Any], c: Constants) -> dict[str, Any]:
    """The row of these sides in the file's style; `auto` decides by the row where no survey has been made.

    Raises RowError DS302 for a side without messages, DS308 for a row that the standard style cannot hold.
    """
    style, standard = c.options["style"], is_standard(sample)
    if style == "standard" and not standard:
        reason = "style=standard holds one text and its answer; this row has more turns, a system prompt or tools"
        raise RowError("DS308", "messages", reason)
    row: dict[str, Any] = {}
    for name, side in sides.items():
        if not side:
            raise RowError("DS302", name, f"the {name} has no messages")
        plain = standard and style != "conversational"
        row[name] = side[0]["content"] if plain else write_chat(side, "object")
    if sample.get("tools"):
        row["tools"] = write_tools(sample["tools"])
    elif c.options.get("tools_key"):
        row["tools"] = None
    if "extra" not in sample and not c.options.get("extra_keys"):
        return row
    row = carry_extra({"extra": side_extra(sample.get("extra", {}))}, row)
    return {**dict.fromkeys(c.options.get("extra_keys", ())), **row}


def side_extra(extra: dict[str, Any]) -> dict[str, Any]:
    """The further columns, without those that TRL takes for something when they are empty.

    An empty `images` makes it a dataset of pictures, a null `chat_template_kwargs` aborts (TRL 1.16).
    """
    return {key: value for key, value in extra.items() if value or key not in EMPTY_KEYS}
