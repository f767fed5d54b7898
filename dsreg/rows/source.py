"""Open a data file as a stream of UTF-8 bytes: decompressed, transcoded, without a byte order mark."""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from dsreg.errors import DataFileError

BLOCK = 1 << 16
"""How many bytes are read and decoded at a time: what a core's cache holds together with the rows made of it."""

MAX_ROW = 64 << 20
"""The longest row, in bytes, that is read."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_NOT_DATA = [
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the data", "git lfs pull"),
    (b"PK\x03\x04", "a zip archive", "unpack it and register the files inside"),
    (b"BZh", "compressed with bzip2", "bunzip2 it, or compress it with gzip or zstd"),
    (b"\xfd7zXZ\x00", "compressed with xz", "unxz it, or compress it with gzip or zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and register the files inside"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table to JSON Lines"),
    (b"%PDF-", "a PDF document", ""),
    (b"\x89HDF", "an HDF5 file", "export it to Parquet or JSON Lines"),
]
_MARKS = [  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]


def open_regular(path: Path, name: str = "") -> BinaryIO:
    """Open a regular, non-empty file; anything else is a DataFileError at once, and never waits for a pipe's writer."""
    where = name or str(path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path, flags)
    except (OSError, ValueError) as e:
        if path.is_dir():
            raise DataFileError("is a folder, not a file", where=where) from e
        reason = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        raise DataFileError(f"cannot be opened: {reason}", where=where) from e
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        os.close(fd)
        if stat.S_ISREG(status.st_mode):
            raise DataFileError("is empty", where=where)
        what = "is a folder, not a file" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
        raise DataFileError(what, where=where)
    return os.fdopen(fd, "rb", buffering=0)


class Source:
    """The bytes of a data file as UTF-8.

    `raw_head` are its first bytes on disk, `packed` says how it was compressed, `given` how many bytes were read,
    `line` is the number of the line that they begin in, and goes with lines that are read.
    """

    line = 1

    def __init__(self, path: Path, name: str = "") -> None:
        self.path = path
        self.name = name or str(path)
        self.given = 0
        self._file = open_regular(path, name)
        try:
            self._prepare()
        except BaseException:
            self._file.close()
            raise

    def _prepare(self) -> None:
        self.raw_head = self._file.read(64)
        self._file.seek(0)
        self.packed = "gzip" if self.raw_head.startswith(_GZIP) else "zstd" if self.raw_head.startswith(_ZSTD) else ""
        self._next = _unpackers[self.packed](self._file)
        self.encoding = "utf-8"
        self._pending = self._guarded(BLOCK)
        for magic, what, hint in _NOT_DATA:
            if self._pending.startswith(magic):
                raise DataFileError(f"is {what}", where=self.name, hint=hint)
        for mark, encoding in _MARKS:
            if self._pending.startswith(mark):
                self._pending = self._pending[len(mark) :]
                if encoding != "utf-8":
                    self._transcode(encoding)
                break
        if not self._pending and not self.peek(1):
            raise DataFileError("is empty", where=self.name)

    def _transcode(self, encoding: str) -> None:
        decoder = codecs.getincrementaldecoder(encoding)()
        read, first = self._next, [self._pending]
        self.encoding, self._pending = encoding, b""

        def transcoded(size: int) -> bytes:
            while True:
                data = first.pop() if first else read(size)
                text = decoder.decode(data, final=not data)
                if text or not data:
                    return text.encode()

        self._next = transcoded

    def _guarded(self, size: int) -> bytes:
        try:
            return self._next(size)
        except (EOFError, zlib.error, gzip.BadGzipFile, _BrokenZstd) as e:
            message = f"the {self.packed} compression is broken: {e}"
            raise DataFileError(message, where=self.name, hint="fetch or compress the file again") from e
        except UnicodeError as e:
            raise DataFileError(f"begins like {self.encoding}, but is not: {e}", where=self.name) from e
        except OSError as e:
            raise DataFileError(f"cannot be read: {e.strerror or e}", where=self.name) from e

    def read(self, size: int = BLOCK) -> bytes:
        """The next bytes, about `size` of them; empty only at the end. Raises DataFileError for a broken file."""
        data, self._pending = (self._pending, b"") if self._pending else (self._guarded(size), b"")
        self.given += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The first `size` bytes or more (fewer only when the file ends), which stay to be read."""
        while len(self._pending) < size:
            data = self._guarded(size)
            if not data:
                break
            self._pending += data
        return self._pending

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class _BrokenZstd(Exception):
    """The zstd data ends too early or is damaged."""


def _plain(file: BinaryIO) -> Callable[[int], bytes]:
    return file.read


def _gunzip(file: BinaryIO) -> Callable[[int], bytes]:
    return gzip.GzipFile(fileobj=file).read


def _unzstd(file: BinaryIO) -> Callable[[int], bytes]:
    pieces = _zstd_pieces(file)
    return lambda size: next(pieces, b"")


def _zstd_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Unpack frame after frame.

    Small reads, because four bytes can stand for 128 KB: so a bomb unpacks to 32 MB at a time at the most. The
    library's own stream reader would be simpler, but does not tell a truncated file from a whole one.
    """
    import zstandard

    unpack, fresh = zstandard.ZstdDecompressor().decompressobj(), True
    while data := file.read(1024):
        while data:
            try:
                piece = unpack.decompress(data)
            except zstandard.ZstdError as e:
                raise _BrokenZstd(str(e)) from e
            fresh = False
            for start in range(0, len(piece), BLOCK):
                yield piece[start : start + BLOCK]
            data = b""
            if unpack.eof:
                data, unpack, fresh = unpack.unused_data, zstandard.ZstdDecompressor().decompressobj(), True
    if not fresh:
        raise _BrokenZstd("the file ends too early")


_unpackers = {"": _plain, "gzip": _gunzip, "zstd": _unzstd}
