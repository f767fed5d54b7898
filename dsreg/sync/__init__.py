"""Make true what follows from the registry: dataset_info.json, generated files, the lock.

`plan` finds out what differs and writes nothing; `apply` writes. The commands that change the registry go the same way,
under the project's lock.
"""

from dsreg.sync.apply import apply
from dsreg.sync.commands import (
    add_dataset,
    adopt,
    init,
    remove_dataset,
    rename_dataset,
    set_dataset,
    sync,
)
from dsreg.sync.plan import Accept, Change, Conflict, Plan
from dsreg.sync.planning import plan

__all__ = [
    "Accept",
    "Change",
    "Conflict",
    "Plan",
    "add_dataset",
    "adopt",
    "apply",
    "init",
    "plan",
    "remove_dataset",
    "rename_dataset",
    "set_dataset",
    "sync",
]
