"""Options by name: which format they belong to, and whether they exist at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dsreg.errors import UsageError
from dsreg.formats import Format, find_format, options_of
from dsreg.model import COPY_KEYS, TARGET_KEYS, closest

_LISTS = ("media", "skip", "strip")


def place_options(
    root: Path, given: Mapping[str, str], format: str, targets: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Options for a dataset's TOML, by the id of the table they go to: `[target.<id>]`.

    `name=value` goes to each of the targets that has such an option, or to the format if its reader has;
    `id.name=value` says where. Raises UsageError for one that nobody knows.
    """
    placed: dict[str, dict[str, Any]] = {}
    ids = [format, *targets]
    for key, value in given.items():
        id, dot, name = key.rpartition(".")
        places = [id] if dot else [found for found in ids if key in _known(root, found, reads=found == format)]
        if not places or (dot and id != "llamafactory" and name not in _known(root, id, reads=True)):
            known = [name for found in ids for name in _known(root, found, reads=found == format)]
            raise _unknown(name, known, " or ".join(ids) if not dot else id)
        for place in places:
            placed.setdefault(place, {})[name] = _typed(root, place, name, value)
    return placed


def _known(root: Path, id: str, *, reads: bool) -> list[str]:
    """The options of a target, or with `reads` those of a source as well."""
    if id == "llamafactory":
        return list(COPY_KEYS)
    options = find_format(id, root).manifest.options
    return [*(name for name, option in options.items() if reads or option.side == "write"), *TARGET_KEYS]


def _typed(root: Path, id: str, name: str, value: str) -> Any:
    """A value in the type its option has; raises UsageError for one that the option does not allow."""
    if name in _LISTS:
        return value.split(",")
    if id == "llamafactory":
        return value
    format = find_format(id, root)
    option = format.manifest.options.get(name)
    return value if option is None else options_of(format, option.side, {name: value})[name]


def check_options(given: Iterable[str], targets: Iterable[Format], source: Format | None = None) -> None:
    """Raise UsageError for an option that neither a target nor the source has."""
    targets = list(targets)
    known = [name for target in targets for name, option in target.manifest.options.items() if option.side == "write"]
    if source is not None:
        known += [name for name, option in source.manifest.options.items() if option.side == "read"]
    for name in given:
        if name not in known and name != "container":
            raise _unknown(name, [*known, "container"], " or ".join(target.id for target in targets))


def _unknown(name: str, known: list[str], whose: str) -> UsageError:
    near = closest(name, known)
    names = ", ".join(dict.fromkeys(known))
    hint = f"did you mean `{near}`?" if near else f"options are {names}"
    return UsageError(f"{whose} has no option `{name}`", hint=hint)
