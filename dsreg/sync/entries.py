"""Decide what becomes of one entry of dataset_info.json."""

from __future__ import annotations

import json
from typing import Any

from dsreg.entry import dataset_of_entry, entry_of
from dsreg.errors import RegistryError
from dsreg.files import unified_diff
from dsreg.jsonedit import same_json
from dsreg.model import Dataset, Notice
from dsreg.sync.draft import ABSENT, Draft, toml_change
from dsreg.sync.plan import Conflict
from dsreg.tasks import EXTRA_COLUMNS

_WAYS = (
    "`dsreg sync --accept registry` writes what the registry says",
    "`dsreg sync --accept dataset_info` takes the entry into the registry",
)


def plan_entry(draft: Draft, name: str, dataset: Dataset | None) -> tuple[Dataset | None, dict[str, Any] | None]:
    """Make the document say what the registry says of one dataset, or note the conflict that keeps it from that.

    Returns the dataset, which is another one where an entry is taken over from dataset_info.json, and its entry.
    """
    wanted = None if dataset is None else entry_of(name, dataset)
    current = draft.info.value.get(name, ABSENT)
    if current is ABSENT:
        if wanted is not None:
            draft.info.set_member(name, wanted)
    elif wanted is not None and same_json(current, wanted):
        pass
    elif draft.state.known.has_entry(name, current) or (wanted is not None and draft.accept == "registry"):
        _write(draft, name, wanted)
    elif wanted is None and name not in draft.state.known.entries:
        where = draft.project.shown(draft.project.info_path)
        draft.plan.notices.append(Notice("DS164", f"the entry {name!r} is not dsreg's and stays as it is", where))
    elif draft.accept == "dataset_info":
        dataset = _taken_over(draft, name, dataset, current)
        wanted = entry_of(name, dataset)
    elif draft.accept == "registry":
        _write(draft, name, None)
    else:
        draft.plan.conflicts.append(_conflict(draft, name, wanted, current))
    return dataset, wanted


def _write(draft: Draft, name: str, wanted: dict[str, Any] | None) -> None:
    if wanted is None:
        draft.info.remove_member(name)
    else:
        draft.info.set_member(name, wanted)


def _conflict(draft: Draft, name: str, wanted: dict[str, Any] | None, current: Any) -> Conflict:
    """The conflict that an entry changed by hand makes."""
    where = draft.project.shown(draft.project.info_path)
    texts = [None if value is None else f"{json.dumps(value, indent=2)}\n".encode() for value in (current, wanted)]
    if wanted is None:
        message = f"the entry {name!r} was changed by hand, and its dataset is gone from the registry"
    elif name in draft.state.known.entries:
        message = f"the entry {name!r} was changed by hand"
    else:
        message = f"the entry {name!r} is not what the registry says, and dsreg did not write it"
    line = draft.info.lines().get(name, 1)
    diff = unified_diff(texts[0], texts[1], f"{where} ({name})")
    return Conflict("entry", name, f"{where}:{line}", message, diff, _WAYS)


def _taken_over(draft: Draft, name: str, dataset: Dataset | None, current: Any) -> Dataset:
    """Take an entry as it stands into the TOML. Raises RegistryError when the TOML cannot say it."""
    where = draft.project.shown(draft.project.info_path)
    if dataset is not None and dataset.llamafactory == "copy":
        raise RegistryError(
            f"the entry {name!r} follows from a copy and cannot be taken over", where=where, hint=_WAYS[0]
        )
    adopted = dataset_of_entry(current)
    if isinstance(adopted, str):
        raise RegistryError(f"the entry {name!r} cannot be taken over: {adopted}", where=where, hint=_WAYS[0])
    if dataset is not None:
        adopted = _with_own_keys(name, adopted, dataset, current)
    change = toml_change(draft.project, name, adopted)
    if change is not None:
        draft.plan.changes.append(change)
    return adopted


def _with_own_keys(name: str, adopted: Dataset, dataset: Dataset, current: Any) -> Dataset:
    """An adopted dataset with what only the registry knows of it; its format too, where that gives the same entry."""
    own, values = dataset.to_toml(), adopted.to_toml()
    kept: dict[str, Any] = {key: own[key] for key in ("targets", "card", "check", "target") if key in own}
    mapped = dict(adopted.columns or {})
    if adopted.format == "pretrain" and dataset.format != "pretrain":
        # what pretraining calls text is a prompt to the others
        mapped = {"prompt": mapped["text"]}
        values["columns"] = mapped
    extras = {key: value for key, value in (dataset.columns or {}).items() if key in EXTRA_COLUMNS}
    if extras:
        kept["columns"] = extras | mapped
    same_format = {key: value for key, value in values.items() if key != "formatting"} | {"format": dataset.format}
    for candidate in (same_format | kept, values | kept):
        result = Dataset.model_validate(candidate)
        if same_json(entry_of(name, result), current):
            return result
    return adopted
