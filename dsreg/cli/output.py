"""The one place that prints: data to standard output, talk to standard error, no terminal escapes from outside."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

# Control characters, line breaks other than \n, marks that turn the direction of text, and half characters: a terminal
# may obey or choke on them.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_COLOURS = {"error": "31;1", "warning": "33", "hint": "36", "head": "1", "faint": "2"}


class _State:
    quiet = False


def set_quiet(quiet: bool) -> None:
    """Leave out talk that is neither a warning nor an error."""
    _State.quiet = quiet


def is_quiet() -> bool:
    """Whether -q was given."""
    return _State.quiet


def path(place: object) -> str:
    """A path as short as it can be: relative where it lies below the working folder."""
    text = str(place)
    below = os.path.relpath(text) if Path(text).is_absolute() else text
    return text if below.startswith("..") else below


def plain(text: object) -> str:
    """Text in which everything that a terminal would obey is written out as an escape; line breaks and tabs stay."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], str(text))


def json_plain(text: str) -> str:
    """JSON text that says the same, with everything that a terminal would obey written as a JSON escape."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def line(text: object) -> str:
    """Text as one line: line breaks and tabs are written out as well."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def cut(text: str, width: int) -> str:
    """Text of at most this many characters, with a sign where something is left out."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Text in a colour, where the stream is a terminal that wants colours."""
    stream = stream or sys.stderr
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def data(text: object = "") -> None:
    """Print what was asked for."""
    sys.stdout.write(f"{plain(text)}\n")


def head(text: object) -> None:
    """Print the title of what follows, as data."""
    sys.stdout.write(f"{paint(line(text), 'head', sys.stdout)}\n")


def data_json(value: Any) -> None:
    """Print a value as JSON: ASCII only, so that no terminal and no locale can stumble over it."""
    import json

    from dsreg.errors import DataFileError

    try:
        text = json.dumps(value, indent=2, ensure_ascii=True, default=str)
    except RecursionError:
        raise DataFileError("a value is nested too deeply to be printed as JSON", hint="leave out --json") from None
    sys.stdout.write(f"{text}\n")


def say(text: object = "") -> None:
    """Tell what is done; left out with -q."""
    if not _State.quiet:
        _flushed(f"{plain(text)}\n")


def warn(text: object, *, where: str = "", hint: str = "") -> None:
    """Tell what stops nothing but may be wrong."""
    _message("warning", text, where, hint)


def note(text: object, *, where: str = "", hint: str = "") -> None:
    """Tell what is good to know; left out with -q."""
    if not _State.quiet:
        _message("note", text, where, hint)


def error(text: object, *, where: str = "", hint: str = "") -> None:
    """Tell what went wrong."""
    _message("error", text, where, hint)


def _message(kind: str, text: object, where: str, hint: str) -> None:
    place = f"{line(path(where))}: " if where else ""
    _flushed(f"{paint(f'{kind}:', kind if kind in _COLOURS else 'faint')} {place}{plain(text)}\n")
    if hint:
        _flushed(f"{paint('hint:', 'hint')} {plain(hint)}\n")


def _flushed(text: str) -> None:
    sys.stdout.flush()  # keeps the order where both go to one place
    sys.stderr.write(text)
    sys.stderr.flush()


def table(
    rows: Iterable[Sequence[object]], *, header: Sequence[str] = (), indent: str = "", wrap: bool = False
) -> list[str]:
    """Rows as aligned lines of text; with `wrap` the last column is broken to the width of the terminal."""
    cells = [[line(cell) for cell in row] for row in rows]
    if header:
        cells.insert(0, list(header))
    count = max((len(row) for row in cells), default=0)
    widths = [max((_width(row[at]) for row in cells if at < len(row)), default=0) for at in range(count)]
    lines = [(indent + "  ".join(_padded(row, widths))).rstrip() for row in cells]
    start = len(indent) + sum(widths[:-1]) + 2 * (count - 1)
    return [part for text in lines for part in _broken(text, start)] if wrap and sys.stdout.isatty() else lines


def _broken(text: str, start: int) -> list[str]:
    """A line in pieces as wide as the terminal, the later ones under the column that begins at `start`."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    if len(text) <= width or start > width - 20:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=" " * start, break_on_hyphens=False, drop_whitespace=True)


def _padded(row: list[str], widths: list[int]) -> list[str]:
    return [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]


def _width(text: str) -> int:
    """How many columns a terminal needs: Chinese characters and the like take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def pairs(values: Mapping[str, object]) -> str:
    """A mapping in one line: a=b c=d."""
    return "  ".join(f"{key}={value}" for key, value in values.items())


def ask(question: str) -> bool:
    """Put a yes-or-no question on the terminal; anything but yes is no."""
    _flushed(f"{plain(question)} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask() -> bool:
    """Whether a person sits there to answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
