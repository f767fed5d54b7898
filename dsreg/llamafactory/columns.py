"""What a block of text-only rows holds, column by column, without a loop over rows: for runs.py.

Texts stay as they stand in the file, in quotes and escaped. Anything unusual raises NotPlain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import accumulate, chain, pairwise
from operator import add, attrgetter, itemgetter
from typing import Any, Literal, NamedTuple

import msgspec
import orjson

from dsreg.rows.lines import longer_lines

from .resolve import Entry
from .stage import surely_taken

EMPTY, NULLS = b'""', (b"", b"null")
_TEXT, _TEXT_OR_NONE = frozenset((b'"',)), frozenset((b'"', b"n", b""))
_MAY_BE_DATE = frozenset(b"0123456789\\")
_NO_MEDIA = frozenset((*NULLS, b"[]"))
_FIRST = itemgetter(0)
_PAIRS = msgspec.json.Decoder(list[tuple[msgspec.Raw, msgspec.Raw]] | None)


class NotPlain(Exception):
    """Rows that the way for all rows has to look at."""


class Shape(NamedTuple):
    """Which columns an entry reads and how; `turn` is the type of a message, None for alpaca."""

    optional: tuple[str, ...]
    needed: tuple[str, ...]
    tools: str | None
    media: tuple[str, ...]
    history: str | None
    label: str | None
    prompt: tuple[str, ...]
    system: str | None
    messages: str | None = None
    turn: Any = None
    role: str = ""
    content: str = ""
    asking: tuple[str, ...] = ()
    answering: tuple[str, ...] = ()
    opening: str | None = None

    @property
    def mapped(self) -> list[str]:
        """All columns that rows are looked up by."""
        single = (self.tools, self.history, self.label, self.messages)
        return [*self.optional, *self.needed, *self.media, *(name for name in single if name)]


def shape_of(entry: Entry) -> Shape | None:
    """The shape of an entry's text-only rows; None where it has none."""
    names = [entry.prompt, entry.query, entry.response, entry.history, entry.messages, entry.system, entry.tools]
    names += [entry.images, entry.videos, entry.audios, entry.chosen, entry.rejected, entry.kto_tag]
    given = [name or None for name in names]
    if not all(name is None or isinstance(name, str) for name in given):
        return None
    prompt, query, response, history, messages, system, tools, *others, chosen, rejected, label = given
    pair = bool(entry.ranking) and not label
    if pair and not (chosen and rejected):
        return None
    media = _named(*others)
    if entry.formatting == "alpaca":
        answers = _named(chosen, rejected) if pair else _named(response)
        asked = _named(prompt, query)
        optional = (*asked, *_named(system))
        found = Shape(optional, answers, tools, media, history, label, asked, system) if answers else None
    elif entry.formatting == "sharegpt" and messages:
        answers = _named(chosen, rejected) if pair else ()
        found = Shape((system,) if system else (), answers, tools, media, None, label, (), system, messages)
        found = _dialogue(entry, found)
    else:
        found = None
    return found if found and len(set(found.mapped)) == len(found.mapped) else None


def _named(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name)


def _dialogue(entry: Entry, shape: Shape) -> Shape | None:
    """The shape with the tags; None where they are not all different texts that cannot be dates."""
    keys = (entry.role_tag, entry.content_tag)
    roles = [entry.user_tag, entry.assistant_tag, entry.observation_tag, entry.function_tag, entry.system_tag]
    asking, answering = _named(*roles[0:3:2]), _named(*roles[1:4:2])
    used = [*asking, *answering, *_named(entry.system_tag)]
    if not all(isinstance(key, str) and key for key in keys) or keys[0] == keys[1]:
        return None
    if not all(isinstance(tag, str) for tag in used) or not (entry.user_tag and entry.assistant_tag):
        return None
    if any(roles.count(role) > 1 for role in used) or any(role[:1].isdigit() for role in used):
        return None
    turn = msgspec.defstruct(
        "Turn",
        [("role", Literal[tuple(used)]), ("content", msgspec.Raw)],
        rename={"role": keys[0], "content": keys[1]},
        gc=False,
        forbid_unknown_fields=True,
    )
    return shape._replace(
        turn=turn,
        role=keys[0],
        content=keys[1],
        asking=asking,
        answering=answering,
        opening=entry.system_tag or None,
    )


@dataclass
class Texts:
    """The aligned texts of the rows of one block: what observers of whole columns are given.

    `contents` gives, row by row, the texts of all messages, decoded; `answers` are the columns of the answers, one or
    two; `label` that of the KTO label. A system text is null where there is none.
    """

    count: int
    system: list[bytes]
    contents: Callable[[], Iterator[tuple[Any, ...]]]
    answers: list[list[bytes]]
    label: list[bytes] | None = None


@dataclass
class Kinds:
    """What is known of the columns after some blocks: which texts are proven, and the values of all others."""

    proven: dict[str, bool] = field(default_factory=dict)
    others: dict[str, list[bytes]] = field(default_factory=dict)
    nulls: set[str] = field(default_factory=set)

    def see_text(self, name: str, values: list[bytes]) -> None:
        """Take in texts; one that cannot be a date proves that a column holds text."""
        if not self.proven.get(name):
            self.proven[name] = any(value[1:2] and value[1] not in _MAY_BE_DATE for value in values)

    def see(self, name: str, values: list[bytes], heads: set[bytes]) -> None:
        """Take in the values of a column that may hold anything."""
        if heads <= _TEXT_OR_NONE and name not in self.others:
            if b"n" in heads:
                self.nulls.add(name)
            if b'"' in heads:
                self.see_text(name, values)
            return
        if name in self.proven:
            raise NotPlain
        self.others.setdefault(name, []).extend(filter(None, values))


def read_block(block: bytes, rows: list[Any], names: dict[str, str], shape: Shape, kinds: Kinds) -> Texts:
    """The texts of a block's rows, of which `names` gives the attribute of each column; raises NotPlain."""
    columns: dict[str, list[bytes]] = {}
    sizes: list[Iterable[int]] = []
    fixed = 1  # the braces of a row, and one comma less than it has members
    for name, attribute in names.items():
        columns[name] = values = list(map(bytes, map(attrgetter(attribute), rows)))
        heads = _heads(values)
        _judge(name, values, heads, shape)
        kinds.see(name, values, heads)
        cost = cost_of(name)
        if heads <= _TEXT_OR_NONE:
            sizes.append(map(len, values))
        else:
            sizes.append([len(msgspec.json.format(value, indent=-1)) if value else 0 for value in values])
        if b"" not in heads:
            fixed += cost
        elif len(heads) > 1:
            sizes.append([cost if value else 0 for value in values])
    texts = _alpaca(rows, columns, shape) if shape.turn is None else _sharegpt(rows, columns, shape, kinds, sizes)
    keys = [*names, shape.messages or "", *shape.needed, shape.role, shape.content]
    _no_key_twice(block, fixed, sizes, min(cost_of(key) for key in keys if key) + 1)
    return texts


def _heads(values: Collection[bytes]) -> set[bytes]:
    """The first bytes of values; b"" where one is missing."""
    try:
        return {bytes((head,)) for head in set(map(_FIRST, values))}
    except IndexError:
        return {b"", *_heads(list(filter(None, values)))}


def cost_of(key: str) -> int:
    """The bytes that a member of an object takes beside its value: the key, a colon, and a comma."""
    return len(orjson.dumps(key)) + 2


def _typed(shape: Shape) -> tuple[str, ...]:
    """The columns that are decoded into messages."""
    return () if shape.turn is None else (str(shape.messages), *shape.needed)


def _judge(name: str, values: list[bytes], heads: set[bytes], shape: Shape) -> None:
    """Raise NotPlain for a mapped column that holds more than plain rows may."""
    if name in shape.needed:
        fits = heads == _TEXT
    elif name in shape.optional:
        fits = heads <= _TEXT_OR_NONE
    elif name == shape.tools:
        fits = heads == _TEXT and surely_taken(tools=map(orjson.loads, set(values)))
    elif name in shape.media:
        fits = set(values) <= _NO_MEDIA
    elif name == shape.label:
        fits = set(values) <= {b"true", b"false"}
    else:
        fits = True
    if not fits:
        raise NotPlain


def _no_key_twice(block: bytes, fixed: int, sizes: list[Iterable[int]], limit: int) -> None:
    """Raise NotPlain where a row may have a member twice, or a line is not one row.

    A line is about as long as its row takes at least: a member more takes `limit` bytes. Longer lines are measured
    without the spaces between values.
    """
    text = block if block.endswith(b"\n") else block + b"\n"
    least = list(map(fixed.__add__, reduce(partial(map, add), sizes)))
    lengths = least.copy()
    longer = longer_lines(text, lengths, limit)
    if longer is None:
        raise NotPlain
    ends = list(accumulate(lengths)) if longer else []
    for at in longer:
        line = text[ends[at] + at - lengths[at] : ends[at] + at]
        if len(msgspec.json.format(line, indent=-1)) != least[at]:
            raise NotPlain


def _alpaca(rows: list[Any], columns: dict[str, list[bytes]], shape: Shape) -> Texts:
    count = len(rows)
    answers = [columns[name] for name in shape.needed]
    label = columns[shape.label] if shape.label else None
    if label is not None and _flips(label, answers[0]):
        raise NotPlain
    pairs = _history(columns, shape)

    def contents() -> Iterator[tuple[Any, ...]]:
        own = zip(
            decoded(_joined([columns[name] for name in shape.prompt], count)), *map(decoded, answers), strict=True
        )
        if not any(pairs):
            return own
        return ((*decoded(turns), *row) for turns, row in zip(pairs, own, strict=True))

    return Texts(count, _system(columns, shape, count), contents, answers, label)


def decoded(texts: list[bytes]) -> list[Any]:
    """Texts as Python has them."""
    values: list[Any] = orjson.loads(b"[%b]" % b",".join(texts))
    return values


def _flips(label: list[bytes], answers: list[bytes]) -> bool:
    """Whether a desirable row has an empty answer."""
    return EMPTY in answers and (b"true", EMPTY) in zip(label, answers, strict=True)


def _joined(asked: list[list[bytes]], count: int) -> list[bytes]:
    """Prompt and query as one text, without those that are empty or null."""
    if not asked:
        return [EMPTY] * count
    first, *rest = [[EMPTY if v in NULLS else v for v in c] if b"" in c or b"null" in c else c for c in asked]
    for second in rest:
        if second.count(EMPTY) != len(second):
            first = [
                a if b == EMPTY else b if a == EMPTY else b"%b\\n%b" % (a[:-1], b[1:])
                for a, b in zip(first, second, strict=True)
            ]
    return first


def _history(columns: dict[str, list[bytes]], shape: Shape) -> list[list[bytes]]:
    """The texts of earlier turns for each row; empty where no row has any."""
    values = columns.get(shape.history or "")
    if values is None or _heads(values) <= {b"", b"n"}:
        return []
    found: list[list[bytes]] = [[]] * len(values)
    try:
        for at in [at for at, value in enumerate(values) if value]:
            found[at] = list(map(bytes, chain.from_iterable(_PAIRS.decode(values[at]) or ())))
    except msgspec.DecodeError:
        raise NotPlain from None
    texts = list(chain.from_iterable(found))
    if _heads(texts) - _TEXT:
        raise NotPlain
    return found


def _system(columns: dict[str, list[bytes]], shape: Shape, count: int) -> list[bytes]:
    if shape.system is None:
        return [EMPTY] * count
    values = columns[shape.system]
    return [b"null" if v == b"" else v for v in values] if b"" in values else values


def _sharegpt(
    rows: list[Any], columns: dict[str, list[bytes]], shape: Shape, kinds: Kinds, sizes: list[Iterable[int]]
) -> Texts:
    turns: list[list[Any]] = list(map(attrgetter("messages"), rows))
    counts = list(map(len, turns))
    said = list(chain.from_iterable(turns))
    system = _system(columns, shape, len(rows))
    roles = list(map(attrgetter("role"), said))
    contents = _contents(said, f"{shape.messages}.{shape.content}", kinds)
    if not all(counts):
        raise NotPlain
    starts = [0, *accumulate(counts)]
    sizes.append(_turn_sizes(roles, contents, starts, shape))
    if shape.opening in roles:
        opened = [roles[at] == shape.opening for at in starts[:-1]]
        if any(other not in (b"null", EMPTY) for other, opens in zip(system, opened, strict=True) if opens):
            raise NotPlain  # two system prompts
        system = [contents[at] if o else s for s, at, o in zip(system, starts[:-1], opened, strict=True)]
        counts = [size - opens for size, opens in zip(counts, opened, strict=True)]
        heads = [at for at, opens in zip(starts[:-1], opened, strict=True) if opens]
        for at in reversed(heads):
            del roles[at], contents[at]
    pair = bool(shape.needed)
    if any((size & 1) != pair for size in counts):
        raise NotPlain
    _alternate(roles, counts, shape)
    for called in shape.answering[1:]:
        calls = [content for role, content in zip(roles, contents, strict=True) if role == called]
        if calls and not surely_taken(calls=decoded(calls)):
            raise NotPlain
    ends = list(accumulate(counts))
    answers = [[contents[end - 1] for end in ends]]
    if pair:
        answers = [_answer(rows, at, shape, kinds) for at in (0, 1)]
        fixed = cost_of(shape.role) + cost_of(shape.content) + 1 + len(orjson.dumps(shape.answering[0]))
        sizes += [
            [fixed + cost_of(name) + len(v) for v in column] for name, column in zip(shape.needed, answers, strict=True)
        ]
    label = columns[shape.label] if shape.label else None
    if label is not None and _flips(label, answers[0]):
        raise NotPlain

    def each() -> Iterator[tuple[Any, ...]]:
        texts = decoded(contents)
        own = (tuple(texts[end - size : end]) for size, end in zip(counts, ends, strict=True))
        return map(add, own, zip(*map(decoded, answers), strict=True)) if pair else own

    return Texts(len(rows), system, each, answers, label)


def _turn_sizes(roles: list[str], contents: list[bytes], starts: list[int], shape: Shape) -> list[int]:
    """The least bytes that the messages of each row take."""
    fixed = cost_of(shape.role) + cost_of(shape.content) + 2  # two braces and a comma, but one comma less than members
    spelled = {role: fixed + len(orjson.dumps(role)) for role in set(roles)}
    until = [0, *accumulate(map(add, map(spelled.__getitem__, roles), map(len, contents)))]
    whole = cost_of(str(shape.messages)) + 1  # two brackets, and one comma less than there are messages
    return [whole + until[end] - until[start] for start, end in pairwise(starts)]


def _alternate(roles: list[str], sizes: list[int], shape: Shape) -> None:
    """Raise NotPlain unless those who ask and those who answer take turns, the former first in every row."""
    if not shape.needed:
        asks, answers = roles[::2], roles[1::2]
    else:  # an odd number of turns in each row
        ends = list(accumulate(sizes))
        rows = [roles[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        asks = list(chain.from_iterable(row[::2] for row in rows))
        answers = list(chain.from_iterable(row[1::2] for row in rows))
    if not (set(asks) <= set(shape.asking) and set(answers) <= set(shape.answering)):
        raise NotPlain


def _answer(rows: list[Any], at: int, shape: Shape, kinds: Kinds) -> list[bytes]:
    turns = list(map(attrgetter(f"answer{at}"), rows))
    if set(map(attrgetter("role"), turns)) != {shape.answering[0]}:
        raise NotPlain
    return _contents(turns, f"{shape.needed[at]}.{shape.content}", kinds)


def _contents(turns: list[Any], name: str, kinds: Kinds) -> list[bytes]:
    contents = list(map(bytes, map(attrgetter("content"), turns)))
    if _heads(contents) - _TEXT:
        raise NotPlain
    kinds.see_text(name, contents)
    return contents
