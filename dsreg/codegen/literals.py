"""Write values as literals of other languages, so that no value from outside can become code."""

from __future__ import annotations

import html
import json
import math
import re
import shlex
from collections.abc import Mapping
from typing import Any

WIDTH = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")
_MARKDOWN_START = re.compile(r"^(\d*)([-+=.)])")


class Code(str):
    """Source text that is pasted as it is; everything else becomes a literal."""

    __slots__ = ()


class Call:
    """A call with named arguments, laid out as `name(argument=literal, …)`."""

    def __init__(self, function: str, arguments: Mapping[str, Any]) -> None:
        self.function = function
        self.arguments = arguments


def python_literal(value: Any, column: int = 0, width: int = WIDTH) -> str:
    """A Python expression for a value; long ones are laid out over several lines, from that column on.

    Takes JSON values, tuples, sets, Code and Call. Raises TypeError for anything else, and ValueError for NaN.
    """
    if type(value) is Code:
        return str(value)
    if isinstance(value, Call):
        return _laid_out(f"{value.function}(", _call_items(value, column), ")", column, width)
    if type(value) is dict:
        items = [f"{python_literal(k)}: {python_literal(v, column + 4)}" for k, v in value.items()]
        return _laid_out("{", items, "}", column, width)
    if type(value) is list or type(value) is tuple:
        items = [python_literal(item, column + 4) for item in value]
        ends = "[]" if type(value) is list else "()"
        ends_with = "," if type(value) is tuple and len(items) == 1 else ""
        return _laid_out(ends[0], items, ends_with + ends[1], column, width)
    if type(value) is frozenset or type(value) is set:
        inner = python_literal(sorted(value), column, width - 11) if value else ""
        return f"{type(value).__name__}({'{' + inner[1:-1] + '}' if value else ''})"
    return _python_scalar(value)


def _call_items(call: Call, column: int) -> list[str]:
    return [f"{name}={python_literal(value, column + 4)}" for name, value in call.arguments.items()]


def _laid_out(start: str, items: list[str], end: str, column: int, width: int) -> str:
    """All items on one line if they fit, otherwise one on a line."""
    line = start + ", ".join(items) + end
    if "\n" not in line and column + len(line) <= width:
        return line
    space = " " * column
    return start + "".join(f"\n{space}    {item}," for item in items) + f"\n{space}{end.lstrip(',')}"


def _python_scalar(value: Any) -> str:
    if type(value) is float and not math.isfinite(value):
        raise ValueError(f"{value} has no literal")
    if type(value) is str:
        return python_text(value)
    if value is None or type(value) in (bool, int, float):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no literal")


def python_text(text: str) -> str:
    """A string literal on one line, of printable characters, in double quotes where that needs no escapes."""
    literal = repr(text)
    if literal[0] == "'" and '"' not in text:
        return '"' + literal[1:-1] + '"'
    return literal


def docstring(text: str) -> Code:
    """A docstring literal over as many lines as the text has; quotes stay as they are where they cannot end it."""
    lines = [python_line(line) for line in text.strip("\n").split("\n")]
    return Code('"""' + "\n".join(lines) + '\n"""')


def python_line(line: str) -> str:
    """One line of a text for a literal in triple double quotes."""
    inner = repr(line + "'\"")[1:-3].removesuffix("\\").replace("\\'", "'")
    return inner.replace('"""', '\\"\\"\\"')


def json_literal(value: Any) -> str:
    """A JSON value: on one line if it is short, otherwise indented. Raises ValueError for NaN."""
    line = _ascii_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False))
    if len(line) <= WIDTH:
        return line
    return _ascii_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def _ascii_surrogates(text: str) -> str:
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def yaml_literal(value: Any) -> str:
    """A YAML value in flow style on one line, the same to YAML 1.1 and 1.2. Raises ValueError for NaN."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_literal(k)}: {yaml_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(yaml_literal, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(map(_yaml_character, value)) + '"'
    if isinstance(value, float):
        return _yaml_float(value)
    return json.dumps(value)


def _yaml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _yaml_float(value: float) -> str:
    """YAML 1.1 takes a number for a float only with a point, and with a sign in the exponent."""
    digits, e, exponent = json.dumps(value, allow_nan=False).partition("e")
    return (digits if "." in digits else f"{digits}.0") + e + exponent


def shell_literal(value: Any) -> str:
    """One word for a POSIX shell, or the words of a list. Raises ValueError for text that no argument can hold."""
    if isinstance(value, list | tuple):
        return " ".join(map(shell_literal, value))
    text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
    if "\0" in text:
        raise ValueError("an argument cannot hold a zero byte")
    return shlex.quote(text)


def html_literal(value: Any) -> str:
    """Text for HTML, inside an element or a quoted attribute."""
    return html.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def markdown_literal(value: Any) -> str:
    """Text for one line of Markdown, that cannot begin, end or become markup."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    text = _MARKDOWN.sub(r"\\\1", text)
    text = _MARKDOWN_START.sub(r"\1\\\2", text)
    return html.escape(text, quote=False)
