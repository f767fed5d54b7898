"""Dataset names and the file names that stand for them."""

from __future__ import annotations

import re
import unicodedata

from dsreg.errors import UsageError

_LONGEST = 200  # bytes of a file's stem: file systems allow 255 for the whole name
_UNSAFE = frozenset('/\\<>:"|?*%')
# Windows opens a device under these names, with any suffix
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_ESCAPED = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")


def stem_of(name: str) -> str:
    """The stem of the file that stands for a dataset: its name, percent-encoded where it cannot be a file name."""
    last = len(name) - 1
    stem = "".join(
        _escape(char) if char in _UNSAFE or not char.isprintable() or (at in (0, last) and char in ". ") else char
        for at, char in enumerate(name)
    )
    return _escape(stem[0]) + stem[1:] if _DEVICE.fullmatch(stem) else stem


def name_of(stem: str) -> str:
    """The dataset's name that a file's stem stands for; the inverse of `stem_of`. A `%` that escapes nothing stays."""
    return _ESCAPED.sub(_unescape, stem)


def same_file(stem: str) -> str:
    """What is equal for stems that many file systems take for one: letter case and composition of accents apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", stem).casefold())


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _unescape(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


def unfit_name(name: str) -> str:
    """Why no file can stand for a name, or ""."""
    if not name:
        return "an empty name"
    if len(stem_of(name).encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"a name of more than {_LONGEST} bytes"
    return ""


def check_name(name: str) -> None:
    """Refuse a new dataset's name that LlamaFactory could not select. Raises UsageError.

    LlamaFactory splits `dataset:` at commas and strips each item (hparams/data_args.py:148-154).
    """
    reason = unfit_name(name)
    if "," in name:
        reason = "a comma, at which LlamaFactory splits the list of datasets"
    elif name != name.strip():
        reason = "a space at its beginning or end, which LlamaFactory strips"
    elif any(not char.isprintable() for char in name):
        reason = "a control character or other invisible character"
    if reason:
        raise UsageError(f"{name!r} cannot be a dataset's name: {reason}", hint="choose a name of letters, digits, _ -")
