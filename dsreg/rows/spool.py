"""Standard input, kept in a file so that it can be read twice."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dsreg.errors import OutputError


@contextmanager
def spool(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream to a temporary file, give its path, and remove it at the end.

    Raises OutputError when there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="dsreg-") as folder:
        path = Path(folder) / "stdin"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
        except OSError as e:
            raise OutputError(f"cannot keep standard input: {e.strerror or e}", where=folder) from e
        yield path
