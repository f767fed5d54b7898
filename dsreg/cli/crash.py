"""What to keep of a bug in dsreg: versions, the command line, where it happened; nothing of anybody's data."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from dsreg import __version__

# The messages of these speak of code; those of others, a KeyError's for one, may quote a data file.
_CODE_ERRORS = (OSError, ImportError, AttributeError, NameError, TypeError, NotImplementedError, RecursionError)
_PACKAGES = ("typer", "pydantic", "jinja2", "orjson", "pyarrow", "tomlkit")


def write_report(error: BaseException, arguments: Sequence[str]) -> Path | None:
    """Write a crash report to the folder for temporary files; None when even that fails."""
    try:
        number, name = tempfile.mkstemp(prefix="dsreg-crash-", suffix=".txt", text=True)
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report(error, arguments))
        return Path(name)
    except OSError:
        return None


def report(error: BaseException, arguments: Sequence[str]) -> str:
    """The text of a crash report."""
    return "\n".join(
        [
            f"dsreg {__version__}, Python {platform.python_version()}, {platform.platform()}",
            ", ".join(f"{package} {_version(package)}" for package in _PACKAGES),
            f"command: dsreg {shlex.join(arguments)}",
            f"folder: {Path.cwd()}",
            f"encoding: {sys.stdout.encoding}",
            "",
            "".join(traceback.format_tb(error.__traceback__)) + summary(error),
            "",
        ]
    )


def summary(error: BaseException) -> str:
    """The kind of an error, and its message where that cannot quote data."""
    return f"{type(error).__name__}: {error}" if isinstance(error, _CODE_ERRORS) else type(error).__name__


def in_own_format(error: BaseException) -> str:
    """Where in the code of a project's own format an error was raised, as file:line; "" when it was not there."""
    from dsreg.formats import templates_dir

    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for file, line in reversed(places):
        path = Path(file)
        if path.parent.parent.parts[-2:] == ("templates", "formats") and not path.is_relative_to(templates_dir()):
            return f"{path}:{line}"
    return ""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
