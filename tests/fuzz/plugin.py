"""For pytest: only the property tests, in any order, until the time is up; counts the inputs."""

from __future__ import annotations

import functools
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

END = float(os.environ.get("DSREG_FUZZ_END", "0"))
COUNT = os.environ.get("DSREG_FUZZ_COUNT", "")
_counted = 0


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep what hypothesis drives, shuffled, each counting its inputs and stopping with the time."""
    items[:] = [item for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]
    random.shuffle(items)
    for handle in {id(item.obj.hypothesis): item.obj.hypothesis for item in items}.values():
        handle.inner_test = _bounded(handle.inner_test)


def _bounded(test: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        global _counted
        if time.time() < END:
            _counted += 1
            test(*args, **kwargs)

    return run


def pytest_runtest_logfinish(nodeid: str) -> None:
    """End the round when the time is up."""
    if time.time() >= END:
        pytest.exit("the time is up", returncode=0)


def pytest_sessionfinish() -> None:
    """Say how many inputs this round made."""
    if COUNT:
        with Path(COUNT).open("a") as file:
            file.write(f"{_counted}\n")
