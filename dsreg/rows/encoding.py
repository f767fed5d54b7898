"""Files that are text in another encoding than UTF-8: say so once, instead of for every row."""

from __future__ import annotations

import re
import shlex

from dsreg.errors import DataFileError

_HIGH = re.compile(rb"[\x80-\xff]+")


def not_utf8(block: bytes, start: int, line: int, name: str) -> DataFileError:
    """The error for an invalid byte at `start` in a block whose first line has the number `line`."""
    line += block.count(b"\n", 0, start)
    column = start - block.rfind(b"\n", 0, start)
    end = block.find(b"\n", start)
    message = f"is not UTF-8: byte 0x{block[start]:02x} at byte {column} of the line"
    return DataFileError(message, where=f"{name}:{line}", hint=_iconv(block[start : end if end >= 0 else None], name))


def refuse_other_encoding(block: bytes, lines: list[bytes], name: str) -> None:
    """Raise DataFileError if the lines of a file's first block are plainly in another encoding.

    A few broken lines are not this function's business: they are bad rows.
    """
    if block.isascii():
        if b"\x00" in block[:4]:
            raise DataFileError("is not UTF-8: it holds zero bytes", where=f"{name}:1", hint=_utf16(block, name))
        return
    telling = [raw for raw in lines if not raw.isascii()]
    broken = [raw for raw in telling if not _is_utf8(raw)]
    if broken and (len(broken) * 2 > len(lines) or (len(broken) >= 8 and len(broken) * 2 > len(telling))):
        try:
            block.decode()
        except UnicodeDecodeError as e:
            raise not_utf8(block, e.start, 1, name) from e


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _iconv(sample: bytes, name: str) -> str:
    return f"iconv -f {_guess(sample)} -t utf-8 {shlex.quote(name)} > new file"


def _utf16(block: bytes, name: str) -> str:
    encoding = "utf-16be" if block[:1] == b"\x00" else "utf-16le"
    return f"iconv -f {encoding} -t utf-8 {shlex.quote(name)} > new file"


def _guess(sample: bytes) -> str:
    """Chinese encodings write pairs of high bytes; Western ones a single accented letter among ASCII."""
    runs = [len(run) for run in _HIGH.findall(sample)]
    if all(length == 1 for length in runs):
        return "windows-1252"
    for encoding in ("gb18030", "big5", "shift_jis"):
        try:
            sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "gb18030"
