"""dsreg: keep a repository of fine-tuning datasets in order.

    import dsreg

    project = dsreg.Project.find()
    project["mydata"].export("nova-sft", "out.jsonl")
    rows = dsreg.convert(rows, "sharegpt", "openai")

Names are loaded when they are first used, so that importing dsreg is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsreg.api import Project, RegisteredDataset, convert, file_source, known_formats
    from dsreg.detection import Detection, detect
    from dsreg.errors import DsregError
    from dsreg.export import Report
    from dsreg.rowcode.errors import RowError
    from dsreg.rows import open_rows

__version__ = "0.1.0"

_PLACES = {
    "Project": "dsreg.api",
    "RegisteredDataset": "dsreg.api",
    "convert": "dsreg.api",
    "file_source": "dsreg.api",
    "known_formats": "dsreg.api",
    "Detection": "dsreg.detection",
    "detect": "dsreg.detection",
    "DsregError": "dsreg.errors",
    "Report": "dsreg.export",
    "RowError": "dsreg.rowcode.errors",
    "open_rows": "dsreg.rows",
}

__all__ = [
    "Detection",
    "DsregError",
    "Project",
    "RegisteredDataset",
    "Report",
    "RowError",
    "convert",
    "detect",
    "file_source",
    "known_formats",
    "open_rows",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'dsreg' has no attribute {name!r}")
