"""LlamaFactory as the consumer of a bare file in one of its own layouts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dsreg.check.dataset import Subject, check_entry
from dsreg.check.finding import Finding
from dsreg.check.hints import Words
from dsreg.check.select import is_among
from dsreg.model import COLUMN_KEYS
from dsreg.source import Source

_LIKE_ENTRY = {"text": "prompt", "label": "kto_tag"}
# parsing, types and rows; not what depends on a registry that is not there
_ABOUT_THE_FILE = ("DS125", "DS126", "DS127", "DS141", "DS154", "DS23", "DS25", "DS26", "DS27", "DS28")


def llamafactory_findings(path: Path, source: Source, shown: Callable[[Any], str]) -> list[Finding]:
    """What LlamaFactory would do with the rows of a file, registered as its format and columns say."""
    columns = {_LIKE_ENTRY.get(key, key): column for key, column in source.constants.columns.items()}
    layout = source.format.manifest.llamafactory
    entry: dict[str, Any] = {"file_name": str(path.resolve()), "formatting": layout}
    if source.task == "preference":
        entry["ranking"] = True
    entry["columns"] = {key: column for key, column in columns.items() if key in COLUMN_KEYS}
    if layout == "sharegpt":
        entry["tags"] = dict(source.constants.tags)
    name = "file"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "dataset_info.json").write_text(json.dumps({name: entry}), "utf-8")
        subject = Subject(
            name,
            entry,
            path.resolve().parent,
            lambda keys: (shown(path), None),
            Words(name, project=False),
            lambda place: shown(path) if Path(place) == path.resolve() else shown(place),
            Path(folder),
        )
        found = check_entry(subject, duplicates=False).findings
    return [finding for finding in found if is_among(finding.code, _ABOUT_THE_FILE)]
