"""Folders for files that no one is to keep; those of processes that were killed are removed by the next."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dsreg.files import in_use, open_temp, output_error

_NAME = re.compile(r"dsreg-scratch-\w+")
_MARK = "in-use"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for as long as the block runs. Raises OutputError when none can be made."""
    _clean()
    try:
        folder = Path(tempfile.mkdtemp(prefix="dsreg-scratch-"))
        mark = open_temp(folder / _MARK)
    except OSError as error:
        raise output_error(error, Path(tempfile.gettempdir())) from None
    try:
        yield folder
    finally:
        os.close(mark)
        shutil.rmtree(folder, ignore_errors=True)


def _clean() -> None:
    """Remove the folders of this account that no process holds any more."""
    with suppress(OSError, AttributeError):  # Windows has no owners to compare: there they stay
        for folder in Path(tempfile.gettempdir()).iterdir():
            if not _NAME.fullmatch(folder.name) or folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            mark = folder / _MARK
            if mark.is_file() and not in_use(mark):
                shutil.rmtree(folder, ignore_errors=True)
