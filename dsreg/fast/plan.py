"""The specialised loop of one conversion: its row type, its constants, and the code rendered for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import orjson

from dsreg.codegen.literals import Code
from dsreg.codegen.templating import render_template
from dsreg.fast.layout import Layout, Tags, find_layout
from dsreg.runner import Conversion

MAX_EXTRAS = 64
ABSENT, MISSING = msgspec.Raw(b""), msgspec.Raw(b"-")
# White space as JSON text can hold it, escaped or not; the closing quote belongs to what a text must not begin with.
_SPACE = (
    rb"(?: |\\[nrtf]|\\u(?:00[0128aA][0-9a-fA-F]|1680|20[025][0-9a-fA-F]|3000)"
    rb"|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2(?:\x80[\x80-\xaf]|\x81\x9f)|\xe3\x80\x80)"
)
_BLANK = re.compile(rb'"%b*+"' % _SPACE)
_RARE = b'" \\\xc2\xe1\xe2\xe3'  # what follows the quote of a text without anything in it


@dataclass
class Plan:
    """What the loop over blocks needs: how to decode, how to convert, and what must not be in a block.

    `convert` gives the pieces of the rows that are text only, and (row, number of pieces before it) for each other row.
    """

    layout: Layout
    row_type: type
    convert: Callable[..., tuple[list[bytes], list[tuple[int, int]]]]
    reserved: bool
    row_note: str
    code: str


def size(text: str) -> int:
    """The bytes of a text as JSON."""
    return len(orjson.dumps(text))


class _Column(NamedTuple):
    """A field of the row type: its name in the code, its key in the data, what it costs in a compact row."""

    name: Code
    key: str
    type: Any = msgspec.Raw
    default: Any = ABSENT
    allowed: Code = Code("NULL")
    extra: bool = False
    avoid: bool = False
    label: str = ""
    prefix: Code = Code("")
    variable: Code = Code("")

    @property
    def cost(self) -> int:
        """The bytes of its key, with a colon and a comma."""
        return size(self.key) + 2


@dataclass
class _Build:
    """Collects the parts of a plan."""

    conversion: Conversion
    layout: Layout
    columns: list[_Column] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)

    def column(self, key: str, **settings: Any) -> _Column:
        """One more field of the row type."""
        made = _Column(Code(f"f{len(self.columns)}"), key, **settings)
        self.columns.append(made)
        return made


def make_plan(conversion: Conversion, extras: Iterable[str]) -> Plan | None:
    """The plan of a conversion whose data has these further columns; None where it has no text-only layout."""
    layout = find_layout(conversion)
    extras = [key for key in extras if key not in conversion.steps.source.used]
    if layout is None or (extras and not layout.write.get("extras", True)):
        return None
    build = _Build(conversion, layout)
    try:
        turn_type = make_turn(layout.tags) if layout.tags else None
    except ValueError:  # a tag that JSON writes with an escape
        return None
    values = {
        **_texts(build, turn_type),
        **_others(build),
        **_extras(build, extras),
        **_shape(build),
    }
    values["parts"] = _parts(build, values)
    _constants(build, values, turn_type)
    try:
        row_type = msgspec.defstruct(
            "Row",
            [(str(c.name), c.type, c.default) for c in build.columns],
            rename={str(c.name): c.key for c in build.columns},
            gc=False,
            forbid_unknown_fields=True,
        )
    except ValueError:  # two columns of one name, or one that JSON writes with an escape
        return None
    code = render_template("fast.py.j2", values)
    exec(compile(code, "<fast.py.j2>", "exec"), build.names)
    write = layout.write
    return Plan(
        layout,
        row_type,
        build.names["convert"],
        bool(write.get("reserved")),
        layout.row_note,
        code,
    )


def make_turn(tags: Tags) -> type:
    """The type of one turn: a known role, and content that is not decoded."""
    from typing import Literal

    roles = Literal[tuple(dict.fromkeys((tags.user, tags.assistant, tags.system, *tags.others)))]  # type: ignore[valid-type]
    return msgspec.defstruct(
        "Turn",
        [("role", roles, ""), ("content", msgspec.Raw, MISSING)],
        rename={"role": tags.role, "content": tags.content},
        gc=False,
        frozen=True,
        forbid_unknown_fields=True,
    )


def _texts(build: _Build, turn_type: Any) -> dict[str, Any]:
    """The columns that hold the dialogue and its answers."""
    layout = build.layout
    found = layout.columns
    values: dict[str, Any] = dict.fromkeys(("system", "turns", "user", "pairs", "label"))
    if "system" in found:
        values["system"] = build.column(found["system"])
    if layout.tags is not None:
        values["turns"] = build.column(found["turns"], type=list[turn_type], default=()).name
    elif layout.user:
        values["user"] = build.column(layout.user[0], default=MISSING)
        values["joined"] = [build.column(key) for key in layout.user[1:]]
        if "pairs" in found:
            values["pairs"] = build.column(found["pairs"])
    if "label" in found:
        values["label"] = build.column(found["label"], default=MISSING)
    answers = [] if layout.answer_in_turns else list(layout.answers)
    kind = {"type": turn_type, "default": turn_type()} if layout.turn_answers else {"default": MISSING}
    values["answers"] = [build.column(found[key], variable=Code(key), **kind) for key in answers]
    values["content"] = Code(".content" if layout.turn_answers and answers else "")
    return values


def _others(build: _Build) -> dict[str, Any]:
    """Mapped columns that are no texts: a row that uses one goes the portable way."""
    taken = {column.key for column in build.columns}
    empty = build.conversion.source.format.manifest.text["read"].get("empty", ())
    others = []
    for name, key in build.conversion.steps.source.columns.items():
        if key not in taken:
            others.append(build.column(key, allowed=Code("NOTHING" if name in empty else "NULL")))
    return {"others": others}


def _extras(build: _Build, keys: Iterable[str]) -> dict[str, Any]:
    """Further columns: carried under their names, or counted as lost."""
    steps, manifest = build.conversion.steps, build.conversion.target.manifest
    carried = manifest.extra == "carried"
    names = steps.source.extras
    write, read = build.layout.write, build.conversion.source.format.manifest.text["read"]
    own = {*re.findall(r'"(\w+)":', "".join(build.layout.parts)), *write.get("avoid", ()), *read.get("avoid", ())}
    wanted = list(dict.fromkeys(keys))[:MAX_EXTRAS]
    labels = [names.get(key, key) for key in wanted]
    extras = [
        build.column(
            key,
            extra=True,
            label=label,
            avoid=label in own or label in manifest.named or key in read.get("avoid", ()) or labels.count(label) > 1,
        )
        for key, label in zip(wanted, labels, strict=True)
    ]
    good = [extra._replace(prefix=Code(f"K_{extra.name}")) for extra in extras if not extra.avoid]
    build.names.update({extra.prefix: orjson.dumps(extra.label) + b":" for extra in good})
    return {"extras": good, "carried": carried, "checked_extras": extras}


def _shape(build: _Build) -> dict[str, Any]:
    """Where the turns go in the row."""
    layout, steps = build.layout, build.conversion.steps
    slots = set(layout.slots)
    in_turns = layout.answer_in_turns
    pop = in_turns and "turns" not in slots
    multi = bool(slots & {"turns", "context", "pairs", "earlier"}) and "multi_turn" not in steps.unheld
    multi = multi and layout.write.get("earlier", True)
    not_blank = bool(layout.write.get("not_blank"))
    return {
        "has_system": "system" in slots and "system" not in steps.unheld,
        "not_blank": not_blank,
        "bad_text": Code("v[1] in RARE and BLANK(v)" if not_blank else "v[1] == 34"),
        "parity": 0 if in_turns else 1,
        "pop": pop,
        "single": not multi,
        "earlier_held": multi,
        "user_slot": "user" in slots,
        "by_value": "pairs" in slots,
        "compare": steps.target.task == "preference",
        "system_note": layout.write.get("system_note", ""),
    }


def _parts(build: _Build, values: dict[str, Any]) -> list[Any]:
    """What a row is joined from: constants and variables of the code, in order."""
    layout = build.layout
    has_turns = layout.tags is not None
    variables = {"turns": "*pieces", "context": "*pieces", "pairs": "*pieces"} if has_turns else {"pairs": "earlier"}
    literals, parts = list(layout.parts[::2]), []
    if values["carried"] and values["extras"]:
        parts = ["OPEN", "extra"]
        literals[0] = literals[0].removeprefix("{")
    for i, text in enumerate(literals):
        build.names[f"L{i}"] = text.encode()
        parts.append(f"L{i}")
        if i < len(layout.slots):
            slot = layout.slots[i]
            parts.append(variables.get(slot, slot))
    if "earlier" in parts and not values["pairs"]:
        parts.remove("earlier")
    values["base"] = _base(build, values)
    return [Code(part) for part in parts]


def _base(build: _Build, values: dict[str, Any]) -> int:
    """How many bytes a compact row has that the code does not count: the braces, the needed keys, an odd turn."""
    layout = build.layout
    needed = [values["user"], values["label"], *values["answers"]]
    base: int = 1 + sum(column.cost for column in needed if column is not None)
    tags = layout.tags
    if tags is None:
        return base

    def turn(role: str) -> int:
        return 5 + sum(map(size, (tags.role, role, tags.content)))

    user, assistant = turn(tags.user), turn(tags.assistant)
    if layout.turn_answers:
        base += assistant * len(values["answers"])
    base += 1 + next(column.cost for column in build.columns if column.name == values["turns"])
    values["pair_cost"] = user + assistant + 2
    values["system_turn"] = turn(tags.system) + 1
    return base if layout.answer_in_turns else base + user + 1


def _constants(build: _Build, values: dict[str, Any], turn_type: Any) -> None:
    """The namespace of the code."""
    layout, write = build.layout, build.layout.write
    tags = layout.tags
    source = build.conversion.steps.source
    keys = [*(column.key for column in build.columns), *source.extras]
    user = write.get("user", "<text>").encode().split(b"<text>")
    assistant = write.get("assistant", "<text>").encode().split(b"<text>")
    pair = [user[0], user[1] + b"," + assistant[0], assistant[1]]
    if values["by_value"]:
        pair = re.split(b"<[a-z]+>", write["pair"].encode())
    system = write.get("system", "<text>").encode().split(b"<text>")
    build.names.update(
        ABSENT=ABSENT,
        JOIN=b"".join,
        LOADS=orjson.loads,
        BLANK=_BLANK.fullmatch,
        NO_TEXT=(b'""', b"null"),
        RARE=_RARE,
        NO_LIST=frozenset([b"[]", b"null"]),
        NOTHING=frozenset([b'""', b"null", b"[]"]),
        NULL=frozenset([b"null"]),
        SMALL=frozenset([b"true", b"false", b"null"]),
        NO_SYSTEM=write.get("no_system", "").encode(),
        SYSTEM_START=system[0],
        SYSTEM_END=system[-1],
        LIMIT=min(map(size, keys)) + 3,
        OPEN=b"{",
        FRAME=_frames(pair, user[-1]),
        EARLIER=_earlier(_frames(pair, user[-1]), values["not_blank"], b"," if "earlier" in layout.slots else b""),
    )
    if tags is not None:
        roles = functools.cache(lambda count: [(tags.user, tags.assistant)[i % 2] for i in range(count)])
        build.names.update(SYSTEM_ROLE=tags.system, ASSISTANT_ROLE=tags.assistant, ROLES=roles)


def _frames(pair: list[bytes], user_end: bytes) -> Callable[[int], list[bytes]]:
    """What stands before, between and after a number of texts that take turns; every second place is theirs."""

    @functools.cache
    def frame(count: int) -> list[bytes]:
        frame = [b""] * (2 * count + 1)
        for i in range(count):
            frame[2 * i] += (b"," if i and not i % 2 else b"") + pair[i % 2]
            frame[2 * i + 2] = pair[2] if i % 2 else b""
        if count % 2:
            frame[-1] = user_end
        return frame

    return frame


def _earlier(frame: Callable[[int], list[bytes]], not_blank: bool, end: bytes) -> Callable[[bytes], bytes | None]:
    """A function that lays out a history of question and answer; None for one that is more than pairs of texts."""
    decode = msgspec.json.Decoder(list[tuple[msgspec.Raw, msgspec.Raw]]).decode

    def bad(text: bytes) -> bool:
        return text[0] != 34 or text[1] == 34 or (not_blank and _BLANK.fullmatch(text) is not None)

    def earlier(value: bytes) -> bytes | None:
        try:
            texts = [bytes(text) for turn in decode(value) for text in turn]
        except msgspec.DecodeError:
            return None
        if any(map(bad, texts)):
            return None
        pieces = frame(len(texts)).copy()
        pieces[1::2] = texts
        made = b"".join(pieces)
        return made + end if made else made

    return earlier
