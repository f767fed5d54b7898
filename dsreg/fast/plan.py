"""The specialised loop of one conversion: its row type, its constants, and the code rendered for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import orjson

from dsreg.codegen.literals import Code
from dsreg.codegen.templating import render_template
from dsreg.fast.layout import Layout, Tags, find_layout
from dsreg.fast.reserved import reserved_search
from dsreg.fast.search import Search, text_searches
from dsreg.fast.shapes import Frames, Pairs, Shapes
from dsreg.rows.texts import is_text, same_text
from dsreg.runner import Conversion

MAX_EXTRAS = 64
JSON = {"NO_TEXT": b'""', "NULL": b"null", "TRUE": b"true", "FALSE": b"false"}
_PAIRS = list[tuple[msgspec.Raw, msgspec.Raw]] | None
ABSENT, MISSING = msgspec.Raw(b""), msgspec.Raw(b"-")


class Made(NamedTuple):
    """What the rows of a block became: the bytes of each, behind a separator; none for one that is not text only.

    `costs` are the bytes that each takes more in the data, as compact JSON. `noted` and `lost` are the
    places of rows about which there is something to note, and of those that had a column which is lost.
    """

    rows: list[bytes]
    costs: list[int]
    noted: dict[str, list[int]]
    lost: dict[str, list[int]]


@dataclass
class Plan:
    """What the loop over blocks needs: how to decode, how to convert, and what must not be in what was made.

    `convert` takes the decoded rows and the separator. `limit` is how many bytes a column takes at least.
    `fields` are the fields of the row type, with their defaults, by the keys of the data.
    """

    layout: Layout
    row_type: type
    fields: dict[str, tuple[str, Any]]
    convert: Callable[[list[Any], bytes], tuple[list[bytes], list[int], dict[str, Any], dict[str, Any]]]
    searches: list[Search]
    limit: int
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
    allowed: Code = Code("NULL_ONLY")
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
    if layout is None or (extras and not layout.write.extras):
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
    values.update(_marks(build, values))
    values["parts"] = _parts(build, values)
    _constants(build, values)
    values.update(_costs(build, values))
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
    searches = text_searches(*_keys_of_texts(layout, values), blank=values["not_blank"])
    return Plan(
        layout,
        row_type,
        {column.key: (str(column.name), column.default) for column in build.columns},
        build.names["convert"],
        [*searches, *([reserved_search()] if layout.write.reserved else [])],
        min(map(size, [*(column.key for column in build.columns), *conversion.steps.source.extras])) + 3,
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
            values["pairs"] = build.column(found["pairs"], type=_PAIRS, default=())
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
    empty = build.layout.read.empty
    others = []
    for name, key in build.conversion.steps.source.columns.items():
        if key not in taken:
            others.append(build.column(key, allowed=Code("NOTHING" if name in empty else "NULL_ONLY")))
    return {"others": others}


def _extras(build: _Build, keys: Iterable[str]) -> dict[str, Any]:
    """Further columns: carried under their names, or counted as lost."""
    steps, manifest = build.conversion.steps, build.conversion.target.manifest
    carried = manifest.extra == "carried"
    names = steps.source.extras
    avoid = build.layout.read.avoid
    own = {*re.findall(r'"(\w+)":', "".join(build.layout.parts)), *avoid}
    wanted = list(dict.fromkeys(keys))[:MAX_EXTRAS]
    labels = [names.get(key, key) for key in wanted]
    extras = [
        build.column(
            key,
            extra=True,
            label=label,
            avoid=label in own or label in manifest.named or key in avoid or labels.count(label) > 1,
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
    multi = multi and layout.write.earlier
    not_blank = layout.write.not_blank
    return {
        "has_system": "system" in slots and "system" not in steps.unheld,
        "not_blank": not_blank,
        "pop": pop,
        "single": not multi,
        "earlier_held": multi,
        "user_slot": "user" in slots,
        "by_value": "pairs" in slots,
        "compare": steps.target.task == "preference",
        "system_note": layout.write.system_note,
        "system_may_be_empty": layout.write.no_system == '""',
    }


def _marks(build: _Build, values: dict[str, Any]) -> dict[str, dict[str, Code]]:
    """The lists in which the code keeps the places of rows that are noted, and of rows that lose a column."""
    noted = {kind: Code(kind) for kind in ("desirable", "undesirable") if values["label"]}
    if values["system_note"]:
        noted[values["system_note"]] = Code("with_system")
    lost = {} if values["carried"] else {extra.label: Code(f"lost_{extra.name}") for extra in values["extras"]}
    return {"noted": noted, "lost": lost}


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
            if slot == "user" and values.get("joined"):
                parts.append("more")
    if "earlier" in parts and not values["pairs"]:
        parts.remove("earlier")
    return [Code(part) for part in parts]


def _costs(build: _Build, values: dict[str, Any]) -> dict[str, int]:
    """How many bytes of compact data the code does not see: more than in what is made of them, for every row."""
    layout = build.layout
    needed = [values["user"], values["label"], *values["answers"]]
    literals = sum(len(text.encode()) for text in layout.parts[::2])
    made = literals + len(build.names["NO_SYSTEM"] if values["has_system"] else b"")
    base = 1 + sum(column.cost for column in needed if column is not None) - made
    system = len(build.names["NO_SYSTEM"]) - len(build.names["SYSTEM_START"] + build.names["SYSTEM_END"])
    tags = layout.tags
    if tags is None:
        return {"base": base, "system_cost": system}

    def turn(role: str) -> int:
        return 5 + sum(map(size, (tags.role, role, tags.content)))

    user, assistant = turn(tags.user), turn(tags.assistant)
    if layout.turn_answers:
        base += assistant * len(values["answers"])
    base += 1 + next(column.cost for column in build.columns if column.name == values["turns"])
    if not layout.answer_in_turns:
        base += user + 1
    build.names["SHAPES"] = Shapes(
        build.names["FRAMES"],
        (tags.user, tags.assistant),
        user + assistant + 2,
        taken=values["pop"] + values["user_slot"],
        odd=not layout.answer_in_turns,
        single=values["single"],
    )
    return {"base": base, "system_cost": system, "system_turn": turn(tags.system) + 1}


def _constants(build: _Build, values: dict[str, Any]) -> None:
    """The namespace of the code."""
    layout, write = build.layout, build.layout.write
    tags = layout.tags
    user = (write.user or "<text>").encode().split(b"<text>")
    assistant = (write.assistant or "<text>").encode().split(b"<text>")
    pair = [user[0], user[1] + b"," + assistant[0], assistant[1]]
    if values["by_value"]:
        pair = re.split(b"<[a-z]+>", write.pair.encode())
    system = (write.system or "<text>").encode().split(b"<text>")
    frames = Frames(pair, user[-1])
    build.names.update(
        ABSENT=ABSENT,
        JOIN=b"".join,
        SAME=same_text,
        IS_TEXT=is_text,
        **{name: msgspec.Raw(text) for name, text in JSON.items()},
        NOTHING=frozenset([b'""', b"null", b"[]"]),
        NULL_ONLY=frozenset([b"null"]),
        SMALL=frozenset([b"true", b"false", b"null"]),
        ESCAPE=b"\\",
        NO_SYSTEM=write.no_system.encode(),
        SYSTEM_START=system[0],
        SYSTEM_END=system[-1],
        OPEN=b"{",
        FRAMES=frames,
        PAIRS=Pairs(frames, b"," if "earlier" in layout.slots else b""),
        NO_PAIRS=(),
    )
    if tags is not None:
        build.names.update(SYSTEM_ROLE=tags.system, ASSISTANT_ROLE=tags.assistant)


def _keys_of_texts(layout: Layout, values: dict[str, Any]) -> tuple[list[str], set[str]]:
    """The keys in a row whose values are texts, and those of them that may be empty."""
    write = layout.write
    skeleton = "".join(f"<{part}>" if i % 2 else part for i, part in enumerate(layout.parts))
    pieces = [skeleton, write.user, write.assistant, write.system]
    keys = [key for piece in pieces for key in re.findall(r'"(\w+)":<(?!label)', piece)]
    empty = re.findall(r'"(\w+)":<system>', skeleton) if values["system_may_be_empty"] else []
    return list(dict.fromkeys(keys)), set(empty)
