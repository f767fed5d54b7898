"""The rows of a JSON file that is not JSON Lines: an array, one object, or objects one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from operator import add
from typing import Any

from dsreg.errors import DataFileError
from dsreg.rowcode.errors import RowError
from dsreg.rows.arrays import SPACE, Block, cut_array
from dsreg.rows.bad import BadRow, explain
from dsreg.rows.decode import Decoder, as_text
from dsreg.rows.encoding import not_utf8
from dsreg.rows.place import Place
from dsreg.rows.scan import spans, value_end
from dsreg.rows.source import BLOCK, MAX_ROW, Source


def json_rows(source: Source, decoder: Decoder, place: Place, size: int = BLOCK) -> Iterator[Any]:
    """The values in a JSON array, or the objects in a stream of them; BadRow for a row that holds what no row may."""
    start = source.peek(BLOCK).lstrip(SPACE)[:1]
    return (_stream if start == b"{" else _array)(source, decoder, place, size)


def _array(source: Source, decoder: Decoder, place: Place, size: int) -> Iterator[Any]:
    for block in cut_array(source, size):
        if block.value is not None and decoder.is_exact(block.text, block.value):
            yield from place.over(block.value, _lines(block))
            continue
        if not block.text.strip(SPACE) and not place.row:
            continue  # an array without rows
        for start, end in place.over(spans(block.text), _lines(block)):
            yield row_value(source, decoder, block, start, end)


def _lines(block: Block) -> Callable[[int], int]:
    """The line of the i-th row of a block, counted when somebody asks."""
    starts: list[int] = []

    def line_of(index: int) -> int:
        if not starts:
            starts.extend(start for start, _ in spans(block.text))
        return block.line + block.text.count(b"\n", 0, starts[index])

    return line_of


def row_value(source: Source, decoder: Decoder, block: Block, start: int, end: int) -> Any:
    """Decode one row; wrong syntax is an error of the file, as nothing behind it can be trusted."""
    raw = block.text[start:end].rstrip(SPACE)
    try:
        if not raw:
            raise json.JSONDecodeError("Expecting value", "", 0)
        return decoder.row(raw)
    except RowError as e:
        return BadRow(e.code, e.path, e.message, as_text(raw))
    except UnicodeDecodeError as e:
        raise not_utf8(block.text, start + e.start, block.line, source.name) from e
    except json.JSONDecodeError as e:
        raise _syntax_error(source.name, block, start, e) from e


def _syntax_error(name: str, block: Block, start: int, e: json.JSONDecodeError) -> DataFileError:
    if not e.doc:  # nothing before, between or after commas: point at the comma
        comma = block.text.rfind(b",", 0, start)  # -1: just before the block, or this is the array's first
        start = comma if comma >= 0 else start if start < len(block.text) else 0
    text = e.doc or block.text[start:].decode("utf-8", "replace")
    before = block.text[:start].decode("utf-8", "replace") + text[: e.pos]
    line, column = block.line + before.count("\n"), len(before) - before.rfind("\n")
    reason, hint = _why(e)
    stop = len(text) - len(text[e.pos :].lstrip())
    shown = text[max(0, stop - 20) : stop] + text[stop : stop + 40].split("\n")[0]
    near = f"; near `{' '.join(shown.split())}`" if shown.strip() else ""
    return DataFileError(f"not JSON at column {column}: {reason}{near}", where=f"{name}:{line}", hint=hint)


def _why(e: json.JSONDecodeError) -> tuple[str, str]:
    if not e.doc:
        return "a comma too many, no row follows it", "remove the comma"
    reason = explain(e.doc, e.pos, e.msg)
    if reason.startswith("a second value") and e.doc[e.pos :].lstrip()[:1] in ("{", "["):
        return "a comma is missing between two rows", "put a comma between `}` and `{`"
    return reason, "remove the comma" if reason.startswith("a comma before") else ""


def _stream(source: Source, decoder: Decoder, place: Place, size: int) -> Iterator[Any]:
    """One object after the other, over any number of lines each."""
    text, line, want = b"", 1, size
    while True:
        rest = text.lstrip(SPACE)
        line += text.count(b"\n", 0, len(text) - len(rest))
        text = rest
        _must_be_object(source.name, text, line, place)
        end = value_end(text)
        if end >= 0:
            block, text = Block(text[:end], line, None), text[end:]
            for _ in place.over([block], partial(add, line)):
                yield row_value(source, decoder, block, 0, end)
            line += block.text.count(b"\n")
            want = size
            continue
        if len(text) > MAX_ROW:
            raise DataFileError(f"an object is longer than {MAX_ROW >> 20} MiB", where=f"{source.name}:{line}")
        chunk = source.read(want)
        if not chunk:
            break
        text, want = text + chunk, min(want * 2, MAX_ROW)
    if text:
        hint = "the file is cut off, or a text or a bracket in it is not closed"
        raise DataFileError("the file ends inside this object", where=f"{source.name}:{line}", hint=hint)


def _must_be_object(name: str, text: bytes, line: int, place: Place) -> None:
    if not text or text[:1] == b"{":
        return
    where, shown = f"{name}:{line}", as_text(text[:40].split(b"\n")[0])
    if text[:1] == b"," and place.row:
        message = f"a comma after row {place.row}: rows with commas between them need `[` and `]` around"
        raise DataFileError(message, where=where, hint="put `[` before the first row and `]` after the last")
    raise DataFileError(f"expected `{{` and another row, found `{shown}`", where=where)
