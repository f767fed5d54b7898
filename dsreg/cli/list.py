"""`dsreg list`: what is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.model import Dataset
    from dsreg.project import Root


def list(json: options.Json = False) -> None:
    """List the registered datasets."""
    from dsreg.cli.here import here
    from dsreg.registry import load_all

    root = here()
    loaded = load_all(root)
    rows = [_described(root, name, dataset) for name, dataset in loaded.datasets.items()]
    if json:
        output.data_json(rows)
    elif rows:
        keys = [key for key in rows[0] if key == "name" or any(row[key] for row in rows)]
        cells = [[_cell(row[key]) for key in keys] for row in rows]
        for text in output.table(cells, header=[key.upper() for key in keys]):
            output.data(text)
    elif not loaded.problems:
        output.say("nothing is registered yet; next: dsreg add NAME FILE")
    for problem in loaded.problems.values():
        output.error(problem.message, where=problem.where, hint=problem.hint)
    if loaded.problems:
        raise typer.Exit(1)


def _described(root: Root, name: str, dataset: Dataset) -> dict[str, Any]:
    from dsreg.errors import DsregError
    from dsreg.model import SOURCE_KEYS
    from dsreg.registered import source_of

    try:
        task, problem = source_of(root, name, dataset).task, ""
    except DsregError as error:
        task, problem = "", error.message if dataset.file_name is not None else ""
    places = [f"{key}={value}" for key in SOURCE_KEYS[1:] if (value := getattr(dataset, key)) is not None]
    return {
        "name": name,
        "format": dataset.format,
        "task": task,
        "source": dataset.file_name or ", ".join(places),
        "targets": dataset.targets or [],
        "problem": problem,
    }


def _cell(value: Any) -> str:
    return output.cut(value if isinstance(value, str) else ", ".join(value), 60)
