"""Say where a JSON file is broken and what is probably missing."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from dsreg.errors import RegistryError

_MARKER = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)
_NAMED_OBJECT = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*\{')
_SHOWN = 100


class _Guess(NamedTuple):
    at: int
    message: str
    hint: str


def explain(text: str, error: json.JSONDecodeError, where: str) -> RegistryError:
    """Turn the parser's message into one with line, column, the offending line and an edit that helps."""
    guess = _guess(text, error)
    line = text.count("\n", 0, guess.at) + 1
    start = text.rfind("\n", 0, guess.at) + 1
    end = text.find("\n", guess.at)
    shown = text[start : end if end >= 0 else len(text)].strip()
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
    evidence = f": {shown}" if shown else ""
    return RegistryError(
        f"not valid JSON: {guess.message}{evidence}", where=f"{where}:{line}:{guess.at - start + 1}", hint=guess.hint
    )


def _guess(text: str, error: json.JSONDecodeError) -> _Guess:
    marker = _MARKER.search(text)
    if marker and text.startswith("<", marker.start()):
        hint = "keep either side of the conflict whole, then run `dsreg sync`: it writes the entries that are missing"
        return _Guess(marker.start(), "git merge markers", hint)
    at = error.pos
    before = text[:at].rstrip()
    after = text[at:].lstrip()
    last = before[-1:]
    if not text.strip():
        return _Guess(0, "the file is empty", "write `{}` into it, or delete it")
    if (after[:1] in ("}", "]") and last == ",") or (after[:1] == "," and after[1:].lstrip()[:1] in ("}", "]")):
        comma = len(before) - 1 if last == "," else at  # Python 3.13 points at the comma itself
        return _Guess(comma, "a comma before a closing brace", "remove the trailing comma")
    if error.msg.startswith("Extra data"):
        return _Guess(at, "text after the end of the object", "remove it, or an extra closing brace before it")
    if not after:
        return _Guess(at, "the file ends too early", "add the closing brace, quote or value that is missing at the end")
    return _guess_inside(error, before, after)


def _guess_inside(error: json.JSONDecodeError, before: str, after: str) -> _Guess:
    """The guesses for an error between two pieces of text."""
    at = error.pos
    if after.startswith(("//", "/*", "#")):
        return _Guess(at, "a comment", 'JSON has no comments: remove it, or keep it as a member such as "//": "…"')
    if after.startswith("'"):
        return _Guess(at, "a single quote", "names and text stand in double quotes")
    if after.startswith(("True", "False", "None")):
        return _Guess(at, "a Python value", "write true, false or null")
    if error.msg.startswith("Expecting ',' delimiter") and after[:1] == '"':
        missing = "`},`" if _brace_depth(before) > 1 and _names_entry(after) else "a comma"
        return _Guess(at, f"{missing} is missing before this", f"add {missing} at the end of the line before")
    if error.msg.startswith("Expecting ',' delimiter"):
        return _Guess(at, "a comma is missing before this", "add the comma")
    if error.msg.startswith("Expecting ':' delimiter"):
        return _Guess(at, "a colon is missing after a name", "add the colon and the value")
    if error.msg.startswith("Invalid control character"):
        return _Guess(at, "a line break or tab inside text", "close the quote, or write \\n or \\t")
    if error.msg.startswith("Unterminated string"):
        return _Guess(at, "text without its closing quote", "add the double quote")
    return _Guess(at, error.msg[:1].lower() + error.msg[1:], "correct the text by hand; dsreg leaves the file as it is")


def _names_entry(after: str) -> bool:
    """Whether what follows is a named object, as an entry of a registry is."""
    return _NAMED_OBJECT.match(after) is not None and not after.startswith(('"columns"', '"tags"'))


def _brace_depth(text: str) -> int:
    """How many braces are open at the end of this text, braces in strings left out."""
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)
    return bare.count("{") - bare.count("}")
