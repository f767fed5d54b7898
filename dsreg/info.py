"""dataset_info.json as a document that can be edited."""

from __future__ import annotations

from dsreg.files import read_regular
from dsreg.jsonedit import Document
from dsreg.project import Root

INFO_LIMIT = 256 * 1024 * 1024


def read_info(project: Root) -> Document:
    """Read the project's dataset_info.json; an empty object when there is none. Raises RegistryError."""
    where = project.shown(project.info_path)
    data = read_regular(project.info_path, limit=INFO_LIMIT)
    return Document.parse(b"{}\n" if data is None else data, where)
