"""Standard input, kept in a file so that it can be read twice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dsreg.errors import OutputError
from dsreg.scratch import scratch_folder


@contextmanager
def spool(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream to a temporary file, give its path, and remove it at the end.

    Raises OutputError when there is no room for it.
    """
    with scratch_folder() as folder:
        path = folder / "stdin"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
        except OSError as e:
            raise OutputError(f"cannot keep standard input: {e.strerror or e}", where=str(folder)) from e
        yield path
