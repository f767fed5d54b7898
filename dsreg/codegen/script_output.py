"""Files out: the rows, and what became of those that are rejected.

Pasted into generated converters like a format's reader and writer, so it keeps to the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dsreg.codegen.script_json import Stop
from dsreg.rowcode.errors import RowError
from dsreg.rows.bad import BadRow


class RowFile:
    """Takes rows for a file of JSON Lines, or of a JSON array."""

    def __init__(self, file: BinaryIO, container: str) -> None:
        self.file, self.is_array = file, container == "json"
        self.rows = 0

    def write(self, row: Any) -> None:
        """Add one row; raises Stop for one that is no JSON."""
        self.rows += 1
        try:
            text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            before, after = (b",\n" if self.rows > 1 else b"[\n", b"") if self.is_array else (b"", b"\n")
            self.file.write(before + text.encode() + after)
        except (ValueError, TypeError, RecursionError) as error:
            raise Stop(f"row {self.rows} of the output cannot be written: {error}") from None

    def finish(self) -> None:
        """Close the array."""
        if self.is_array:
            self.file.write(b"\n]\n" if self.rows else b"[]\n")


@contextmanager
def whole_file(name: str) -> Iterator[BinaryIO]:
    """A file that appears under its name when the block ends well, and not at all otherwise; "-" is standard output."""
    if name == "-":
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    target = Path(name).resolve()  # a link stays, what it points to is replaced
    temp = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    try:
        with temp.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temp.replace(target)
    except OSError as error:
        raise Stop(f"{name}: cannot be written: {error.strerror or error}") from None
    finally:
        temp.unlink(missing_ok=True)


def reject_of(name: str, row: int, line: int, value: Any, error: RowError) -> dict[str, Any]:
    """One line of the rejects file: where the row stands, why it cannot be used, and the row itself."""
    place = {"source": name, "row": row, "line": line}
    reason = {"code": error.code, "path": error.path, "message": error.message}
    return {**place, **reason, "raw": value.raw if isinstance(value, BadRow) else value}


def report(rejects: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Show and keep the rejects; raises Stop unless they may be left out."""
    for reject in rejects[:10]:
        path = f"{reject['path']}: " if reject["path"] else ""
        print(f"{reject['source']}:{reject['line']}: {reject['code']} {path}{reject['message']}", file=sys.stderr)
    if len(rejects) > 10:
        print(f"and {len(rejects) - 10:,} more", file=sys.stderr)
    if args.rejects:
        write_rejects(args.rejects, rejects)
    elif args.output != "-" and (args.skip_invalid or not rejects):
        write_rejects(f"{args.output}.rejects.jsonl", rejects)
    if rejects and not args.skip_invalid:
        raise Stop(f"{len(rejects):,} rows were rejected and nothing was written; --skip-invalid leaves them out", 1)


def write_rejects(name: str, rejects: list[dict[str, Any]]) -> None:
    """Write the rejects, one on a line; where there are none, remove those of an earlier run."""
    if rejects:
        with whole_file(name) as file:
            for reject in rejects:
                file.write(json.dumps(reject, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    elif Path(name).is_file():
        Path(name).unlink()


def arguments(container: str) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Convert a data file; the head of this script says how.")
    parser.add_argument("input", metavar="INPUT", help="JSON, JSON Lines, CSV, TSV or text; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUTPUT", default="-", help="default: standard output")
    parser.add_argument("--container", choices=["json", "jsonl"], default=container, help="default: %(default)s")
    parser.add_argument("--skip-invalid", action="store_true", help="leave out rows that cannot be converted")
    parser.add_argument("--rejects", metavar="FILE", help="where those rows go (default: OUTPUT.rejects.jsonl)")
    return parser.parse_args()
