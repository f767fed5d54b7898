from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsreg.api import Project
from dsreg.export import Report
from dsreg.project import open_project

Export = Callable[..., Report]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Export rows of a format, as the dataset `d` of a project in the test's folder; `columns` are of its TOML."""

    def run(
        source: str,
        rows: list[dict[str, Any]],
        target: str,
        *,
        path: Path | None = None,
        force: bool = False,
        take: str | None = None,
        toml: str = "",
        **options: Any,
    ) -> Report:
        for folder in ("registry", "data"):
            (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / "data" / "d.json").write_text(json.dumps(rows))
        (tmp_path / "registry" / "d.toml").write_text(f'format = "{source}"\nfile_name = "d.json"\n{toml}')
        dataset = Project(open_project(tmp_path))["d"]
        return dataset.export(target, path, take=take, options=options, force=force)

    return run
