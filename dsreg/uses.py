"""Find the training configurations of a project that name a dataset."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dsreg.project import INFO_FILE, REGISTRY_DIR, Root

_SUFFIXES = (".yaml", ".yml", ".json")
_LIMIT = 256 * 1024
_MOST_FILES = 5_000
_KEY = re.compile(r"""^\s*["']?(?:eval_)?dataset["']?\s*:\s*(.*)$""")
_ITEM = re.compile(r"^\s*-\s+(.*)$")


@dataclass(frozen=True, slots=True)
class Use:
    """A place that names a dataset."""

    path: str
    line: int
    text: str


def find_uses(project: Root, name: str) -> list[Use]:
    """The lines of small YAML and JSON files whose `dataset:` or `eval_dataset:` names this dataset."""
    uses = []
    for path in _configs(project):
        with suppress(OSError, UnicodeDecodeError):
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            uses += [
                Use(project.shown(path), number, lines[number - 1].strip())
                for number, named in _named(lines)
                if name in named
            ]
    return uses


def _configs(project: Root) -> Iterator[Path]:
    """The files that may be configurations, in a stable order."""
    seen = 0
    for folder, folders, files in os.walk(project.root):
        folders[:] = sorted(found for found in folders if not found.startswith((".", "__")) and found != "node_modules")
        if Path(folder) == project.root and REGISTRY_DIR in folders:
            folders.remove(REGISTRY_DIR)
        for file in sorted(files):
            path = Path(folder, file)
            if not file.endswith(_SUFFIXES) or file == INFO_FILE:
                continue
            with suppress(OSError):
                if path.is_file() and path.stat().st_size <= _LIMIT:
                    yield path
            seen += 1
            if seen >= _MOST_FILES:
                return


def _named(lines: list[str]) -> Iterator[tuple[int, set[str]]]:
    """The datasets that each line names, as LlamaFactory reads them: a comma list or a list."""
    inside = False
    for number, line in enumerate(lines, 1):
        key, item = _KEY.match(line), _ITEM.match(line)
        if key:
            value = _bare(key[1])
            inside = value in ("", "[")
            yield number, _split(value)
        elif inside and (item or line.strip().startswith(("'", '"'))):
            yield number, _split(_bare(item[1] if item else line))
        elif line.strip():
            inside = False


def _bare(value: str) -> str:
    return re.sub(r"\s+#.*$", "", value).strip().rstrip(",").strip()


def _split(value: str) -> set[str]:
    return {item.strip().strip("\"'").strip() for item in value.strip("[]{}").strip().strip("\"'").split(",")} - {""}
