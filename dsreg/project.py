"""Find a project, read its settings, and keep writes inside it."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsreg.errors import NotFoundError, OutputError, RegistryError
from dsreg.files import STATE_DIR, read_regular

if TYPE_CHECKING:
    from dsreg.model import Settings

SETTINGS_FILE = "dsreg.toml"
REGISTRY_DIR = "registry"
LOCK_FILE = "dsreg.lock"
INFO_FILE = "dataset_info.json"
TOML_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Root:
    """A project: where it is and what `dsreg.toml` says. Paths are absolute, with symbolic links resolved in `root`."""

    root: Path
    data_dir: Path
    registry_dir: Path
    settings: Settings

    @property
    def info_path(self) -> Path:
        """dataset_info.json."""
        return self.data_dir / INFO_FILE

    @property
    def lock_path(self) -> Path:
        """dsreg.lock."""
        return self.root / LOCK_FILE

    @property
    def state(self) -> Path:
        """The untracked folder for caches and the process lock; it may not exist yet."""
        return self.root / STATE_DIR

    def shown(self, path: Path) -> str:
        """A path as users know it: relative to the root where it lies below, with forward slashes."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)


def find_root(start: Path | None = None, *, explicit: Path | str | None = None) -> Path:
    """The project's folder: `explicit` (-C), the environment's DSREG_ROOT, or the nearest parent with a registry.

    Raises NotFoundError when there is none.
    """
    given = explicit if explicit is not None else os.environ.get("DSREG_ROOT") or None
    if given is not None:
        source = "-C" if explicit is not None else "DSREG_ROOT"
        path = Path(given).expanduser().resolve()
        if not path.is_dir():
            raise NotFoundError(f"{source} names no folder: {given}", hint="give the folder that holds `registry/`")
        return path
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / SETTINGS_FILE).is_file() or (folder / REGISTRY_DIR).is_dir():
            return folder
    raise NotFoundError(
        f"no project here: neither {here} nor a folder above it has `registry/` or `dsreg.toml`",
        hint="run `dsreg init`, or name the project with -C DIR",
    )


def open_project(root: Path) -> Root:
    """Read a project's settings. Raises RegistryError when dsreg.toml is broken or points outside the project."""
    from dsreg.model import Settings, validate

    root = root.resolve()
    path = root / SETTINGS_FILE
    values, text = read_toml(path, SETTINGS_FILE)
    settings = validate(Settings, values, where=SETTINGS_FILE, text=text)
    data_dir = Path(os.path.normpath(root / settings.data_dir))
    try:
        inside(root, data_dir)
    except (OutputError, ValueError):
        raise RegistryError(
            f"`data_dir` leads outside the project: {settings.data_dir!r}",
            where=SETTINGS_FILE,
            hint="dsreg writes dataset_info.json there and never writes outside: move dsreg.toml up, or the folder in",
        ) from None
    return Root(root, data_dir, root / REGISTRY_DIR, settings)


def inside(root: Path, path: Path) -> Path:
    """The real place of a path that will be written. Raises OutputError when it is not below the project's root."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise OutputError(
            f"leads outside the project, to {real}; nothing is written there",
            where=str(path),
            hint="replace the symbolic link or the path by one inside the project",
        )
    return real


def read_toml(path: Path, where: str) -> tuple[dict[str, Any], str]:
    """Parse a TOML file; return its values and text, both empty when there is none.

    Raises RegistryError with the line.
    """
    data = read_regular(path, limit=TOML_LIMIT)
    return ({}, "") if data is None else parse_toml(data, where)


def parse_toml(data: bytes, where: str) -> tuple[dict[str, Any], str]:
    """The values and the text of a TOML file's bytes. Raises RegistryError with the line."""
    text = decode_toml(data, where)
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(error, text, where) from None
    except RecursionError:
        raise RegistryError("nested too deeply", where=where) from None
    except ValueError as error:  # an integer of thousands of digits, an impossible date
        raise RegistryError(f"not valid TOML: {error}", where=where) from None


def decode_toml(data: bytes, where: str) -> str:
    """The text of a TOML file, a byte order mark left out. Raises RegistryError when it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RegistryError("not UTF-8", where=f"{where}:{line}", hint="save the file as UTF-8") from None


def _toml_error(error: Exception, text: str, where: str) -> RegistryError:
    """The parser's complaint with its place in front and the offending line behind."""
    message, _, place = str(error).partition(" (at ")
    numbers = [int(word) for word in place.replace(",", " ").replace(")", " ").split() if word.isdigit()]
    lines = text.splitlines()
    line = numbers[0] if numbers else len(lines)
    shown = lines[line - 1].strip()[:100] if 0 < line <= len(lines) else ""
    merged = shown.startswith(("<<<<<<<", "=======", ">>>>>>>"))
    return RegistryError(
        f"not valid TOML: {'git merge markers' if merged else message}{': ' if shown else ''}{shown}",
        where=f"{where}:{line}:{numbers[1]}" if len(numbers) > 1 else f"{where}:{line}",
        hint="resolve the conflict, then run `dsreg sync`" if merged else 'text stands in quotes: key = "value"',
    )
