"""Everything dsreg raises at its users: what happened, where, and what to do about it."""

from __future__ import annotations


class DsregError(Exception):
    """The base of all errors that are not bugs; shown without a traceback.

    `message` says what is wrong, `where` is `file:line` or a path, `hint` is a command or an edit that helps.
    """

    exit_code = 2

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(DsregError):
    """The command or the call cannot be carried out as asked: a wrong option, an impossible conversion."""


class NotFoundError(DsregError):
    """A dataset, a format, a column or a project that was named does not exist."""


class RegistryError(DsregError):
    """A TOML of the registry, dsreg.toml or dataset_info.json cannot be read, or says something impossible."""


class DataFileError(DsregError):
    """A data file cannot be read as what it claims to be."""


class MissingDataError(DataFileError):
    """A registered data file is not there."""


class OutputError(DsregError):
    """Something cannot be written where it was asked to go."""


class FindingsError(DsregError):
    """The work was done and found errors in the data: rejects, drift, conflicts. Exit code 1."""

    exit_code = 1


class ConflictError(FindingsError):
    """A file that dsreg keeps was changed by hand; nothing was written."""


class RejectsError(FindingsError):
    """Rows were rejected, so nothing was written."""
