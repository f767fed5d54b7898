"""Write a file of rows: whole, or not at all."""

from __future__ import annotations

import gzip
import os
import stat
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from dsreg.errors import OutputError, UsageError
from dsreg.files import clean_leftovers, open_temp, output_error, temp_beside
from dsreg.rows.encode import encode

if TYPE_CHECKING:
    import pyarrow as pa


class Sink(Protocol):
    """Lays rows out in an open file."""

    separator: bytes

    @abstractmethod
    def write(self, row: dict[str, Any]) -> None:
        """Add one row."""

    @abstractmethod
    def around(self, rows: int) -> tuple[bytes, bytes]:
        """What to write before and after so many rows that are encoded already, with the separator between them."""

    @abstractmethod
    def finish(self) -> None:
        """Add what stands after the last row."""


class RowWriter:
    """Takes rows within `with`; the file appears under its name when the block ends well, and never otherwise.

    `rows` is how many were written. `ready`, when given, gets the temporary file once it is complete, before it takes
    its name. Raises OutputError for a row that the container cannot hold, and for the disk.
    """

    def __init__(
        self,
        path: Path,
        container: str,
        schema: pa.Schema | None = None,
        ready: Callable[[Path], None] | None = None,
    ) -> None:
        self.path = path
        self.rows = 0
        self._ready = ready
        self._container, self._schema = container, schema
        self._target = Path(os.path.realpath(path))  # a link stays, what it points to is replaced
        self._stack = ExitStack()

    def __enter__(self) -> RowWriter:
        try:
            self._open()
        except OSError as e:
            self._discard()
            raise output_error(e, self.path) from e
        except BaseException:
            self._discard()
            raise
        return self

    def _open(self) -> None:
        if self._target.is_dir():
            raise OutputError("is a folder", where=str(self.path), hint="name a file in it")
        if self._target.exists() and not self._target.is_file():
            raise OutputError("is not a regular file", where=str(self.path))
        self._target.parent.mkdir(parents=True, exist_ok=True)
        clean_leftovers(self._target.parent)
        self._temp = temp_beside(self._target)
        self._file = self._stack.enter_context(os.fdopen(open_temp(self._temp), "wb", buffering=1 << 16))
        if self._target.exists():
            os.chmod(self._temp, stat.S_IMODE(self._target.stat().st_mode))  # noqa: PTH101
        packed = self._stack.enter_context(_packer(self._target.name, self._file))
        self._packed = packed
        self._sink = _sink(packed, self._container, self._schema, str(self.path))

    def write(self, row: dict[str, Any]) -> None:
        """Write one row."""
        try:
            self._sink.write(row)
        except OSError as e:
            raise output_error(e, self.path) from e
        self.rows += 1

    @property
    def separator(self) -> bytes:
        """What stands between two rows that are written as bytes; b"" where the container takes none."""
        return self._sink.separator

    def write_joined(self, data: bytes, rows: int) -> None:
        """Write rows that are encoded already, with the separator between them."""
        with self._around(rows):
            self._packed.write(data)

    @property
    def place(self) -> Path | None:
        """The file that other processes may write into, at the places that `reserve` gives; None where none may."""
        return self._temp if self._packed is self._file and self.separator else None

    def reserve(self, size: int, rows: int) -> int:
        """Leave room for rows that another process writes, with the separator between them: where they begin."""
        with self._around(rows):
            return self._file.seek(size, os.SEEK_CUR) - size

    @contextmanager
    def _around(self, rows: int) -> Iterator[None]:
        """Write what stands before and after encoded rows."""
        before, after = self._sink.around(rows)
        try:
            self._packed.write(before)
            yield
            self._packed.write(after)
        except OSError as e:
            raise output_error(e, self.path) from e
        self.rows += rows

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        if e is not None:
            self._discard()
            return
        try:
            self._commit()
        except OSError as error:
            self._discard()
            raise output_error(error, self.path) from error
        except BaseException:
            self._discard()
            raise

    def _commit(self) -> None:
        self._sink.finish()
        keep = os.dup(self._file.fileno())  # closing the stack writes what the packers still hold
        try:
            self._stack.close()
            os.fsync(keep)
        finally:
            os.close(keep)
        if self._ready is not None:
            self._ready(self._temp)
        os.replace(self._temp, self._target)  # noqa: PTH105
        with suppress(OSError):  # not every system lets a folder be opened
            fd = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def _discard(self) -> None:
        with suppress(Exception):
            self._stack.close()
        if hasattr(self, "_temp"):
            with suppress(OSError):
                self._temp.unlink()


def open_writer(
    path: Path, container: str, *, schema: pa.Schema | None = None, ready: Callable[[Path], None] | None = None
) -> RowWriter:
    """Write rows as "json" (one array), "jsonl" or "parquet"; JSON is packed where the name ends in .gz or .zst.

    `schema` is for Parquet only, and is otherwise inferred from the first rows. An existing file is replaced
    at the end; `ready` is called with the complete temporary file just before. Raises UsageError for another container.
    """
    if container not in ("json", "jsonl", "parquet"):
        raise UsageError(f"cannot write `{container}`", hint="one of json, jsonl, parquet")
    return RowWriter(Path(path), container, schema, ready)


def _packer(name: str, file: BinaryIO) -> BinaryIO:
    if name.endswith(".gz"):  # no name and no time, so that equal rows make equal files
        return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6))
    if name.endswith((".zst", ".zstd")):
        import zstandard

        return cast("BinaryIO", zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return file


def _sink(file: BinaryIO, container: str, schema: pa.Schema | None, name: str) -> Sink:
    if container == "parquet":
        from dsreg.rows.parquet import ParquetSink

        return ParquetSink(file, schema, name)
    return JsonSink(file, name) if container == "json" else LinesSink(file, name)


class LinesSink:
    """JSON Lines: one compact object per line."""

    separator = b"\n"

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._write, self._name, self._row = file.write, name, 0

    def write(self, row: dict[str, Any]) -> None:
        """Add one row."""
        self._row += 1
        self._write(encode(row, self._name, self._row) + b"\n")

    def around(self, rows: int) -> tuple[bytes, bytes]:
        """The end of the last line."""
        self._row += rows
        return b"", b"\n"

    def finish(self) -> None:
        """Nothing stands after the last line."""


class JsonSink:
    """A JSON array with one compact object per line."""

    separator = b",\n"

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._write, self._name, self._row = file.write, name, 0

    def write(self, row: dict[str, Any]) -> None:
        """Add one row."""
        self._row += 1
        self._write((b",\n" if self._row > 1 else b"[\n") + encode(row, self._name, self._row))

    def around(self, rows: int) -> tuple[bytes, bytes]:
        """What opens the array, or parts the rows from those before."""
        before = b",\n" if self._row else b"[\n"
        self._row += rows
        return before, b""

    def finish(self) -> None:
        """Close the array."""
        self._write(b"\n]\n" if self._row else b"[]\n")
