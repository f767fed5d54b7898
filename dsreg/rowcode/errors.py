"""Why a row cannot be used."""

from __future__ import annotations


class RowError(ValueError):
    """A row that cannot be converted: a stable code, the path inside the row, and a sentence."""

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(code, path, message)
        self.code = code
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{self.code} {self.path}: {self.message}" if self.path else f"{self.code} {self.message}"
