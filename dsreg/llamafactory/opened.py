"""Opening data files as `datasets` opens them: compressed content is read through, whatever the name says."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

_BY_MAGIC: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


def open_bytes(path: Path) -> IO[bytes]:
    """The content of `path` as bytes, decompressed where it starts like gzip, bzip2 or xz."""
    with path.open("rb") as file:
        head = file.read(6)
    opener = next((opener for magic, opener in _BY_MAGIC.items() if head.startswith(magic)), None)
    opened: IO[bytes] = opener(path) if opener else path.open("rb")
    return opened


def open_text(path: Path, encoding: str = "utf-8", newline: str | None = None) -> io.TextIOWrapper:
    """The content of `path` as text; raises UnicodeDecodeError while reading."""
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline=newline)
