"""What data files are, by their first rows."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from dsreg.detection import Detection, detect
from dsreg.errors import DataFileError, DsregError, UsageError
from dsreg.formats import Format
from dsreg.registered import PEEK_ROWS, peek
from dsreg.rows import BadRow, open_rows, sniff


def detect_files(
    files: Sequence[Path],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    ranking: bool | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Detection:
    """What files are; given values win over what is seen.

    Raises what `detect` raises, with the file's name in it, and DataFileError with the place of the first bad row where
    no row can be looked at.
    """
    rows = peek(list(files))
    if not rows and format is None:
        refuse_bad_rows(files)
    first = files[0] if files else Path()
    container = ""
    with suppress(DsregError):
        container = sniff(first)
    try:
        return detect(
            rows,
            format=format,
            columns=columns,
            tags=tags,
            ranking=ranking,
            formats=formats,
            file=in_shell(first),
            container=container,
        )
    except DsregError as error:
        error.where = error.where or str(first)
        raise


def in_shell(path: Path) -> str:
    """A path as it is typed into a shell: relative where it lies below the working folder."""
    below = os.path.relpath(path)
    return shlex.quote(str(path) if below.startswith("..") else below)


def refuse_bad_rows(files: Sequence[Path]) -> None:
    """Say what is wrong with the first row, where none is an object: raises DataFileError or UsageError."""
    for path in files:
        with open_rows(path) as stream:
            for value in islice(stream, PEEK_ROWS):
                place = f"{path}:{stream.line}" if stream.line else f"{path}: row {stream.row}"
                if isinstance(value, BadRow):
                    said = f"{value.code} {f'{value.path}: ' if value.path else ''}{value.message}"
                    raise DataFileError(f"no row can be read; the first: {said}", where=place)
                raise UsageError(
                    "no row is a JSON object: a row needs columns with names", where=place, hint='{"instruction": …}'
                )
