"""Media files: where they were looked for, and where they are instead."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dsreg.check.describe import Told
from dsreg.check.finding import Hit
from dsreg.check.locate import Spot, value_at


def misplaced_media(
    told: Iterable[Told], spots: dict[int, Spot], dataset_dir: Path, file: Path | None, count: int
) -> Iterable[Hit]:
    """Media that are not in media_dir but beside the data file, or in a folder above: one media_dir does for all."""
    missing = [name for one in told if (name := _name(value_at(_row(spots, one), one.path)))]
    if not missing:
        return
    places = [] if file is None else [file.parent, *file.parent.parents][:4]
    for place in [*places, dataset_dir.parent]:
        if place != dataset_dir and all((place / name).is_file() for name in missing):
            yield Hit(f"{count:,} media files are not in {dataset_dir} but in {place}", (), f"media_dir: {place}")
            return


def _row(spots: dict[int, Spot], told: Told) -> Any:
    return spots[told.row].value if told.row in spots else None


def _name(value: Any) -> str:
    return value if isinstance(value, str) and "\0" not in value and "://" not in value else ""
