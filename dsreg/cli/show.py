"""`dsreg show`: all about one dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.api import RegisteredDataset
    from dsreg.matrix import Cell

_COUNTED = 256 << 20
"""Files up to this many bytes are counted row by row."""


def show(name: options.Name, json: options.Json = False) -> None:
    """Show a dataset: its file, its entry, and what it can become."""
    from dsreg.cli.here import project

    dataset = project()[name]
    found = _described(dataset)
    if json:
        found["becomes"] = [cell.as_json() for cell in found["becomes"]]
        output.data_json(found)
        return
    entry, card = dataset.entry, dataset.entry.card or {}
    rows = [("format", entry.format), ("task", found["task"])]
    rows += [("file", path) for path in found["files"]] or [("source", found["source"])]
    rows += [("size", f"{found['bytes']:,} bytes")] if found["bytes"] else []
    rows += [("rows", f"{found['rows']:,}")] if found["rows"] is not None else []
    rows += [("columns", output.pairs(found["columns"]))] if found["columns"] else []
    rows += [
        (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)) for key, value in card.items()
    ]
    rows += [("targets", ", ".join(entry.targets))] if entry.targets else []
    rows += [("registry", found["toml"])]
    output.head(name)
    for text in output.table([row for row in rows if row[1]], indent="  "):
        output.data(text)
    if found["problem"]:
        output.warn(found["problem"])
    _show_entry(found["entry"])
    if found["becomes"]:
        output.data()
        output.head("Can become")
        for text in cell_lines(found["becomes"]):
            output.data(text)


def _show_entry(entry: dict[str, Any] | None) -> None:
    from dsreg.cli.pretty import json_lines

    output.data()
    output.head("Entry in dataset_info.json")
    if entry is None:
        output.data("  none: LlamaFactory cannot read this format; `dsreg set NAME --copy` makes a copy that it can")
        return
    for text in json_lines(entry, 2):
        output.data(text)


def cell_lines(cells: list[Cell]) -> list[str]:
    """What rows become, a line for each target: those that need no choice first, the impossible last."""
    order = {"yes": 0, "choice": 1, "no": 2}
    rows = [(cell.target, _answer(cell)) for cell in sorted(cells, key=lambda cell: order[cell.answer])]
    return output.table(rows, indent="  ", wrap=True)


def _answer(cell: Cell) -> str:
    if cell.answer == "no":
        return "no"
    answer = "yes" if cell.answer == "yes" else f"with --take {' or --take '.join(cell.takes)}"
    task = f", as {cell.becomes}" if cell.answer == "yes" and cell.becomes != cell.task else ""
    loss = f", except rows with {', '.join(cell.loss)}" if cell.loss else ""
    return answer + task + loss


def _described(dataset: RegisteredDataset) -> dict[str, Any]:
    """All that is known of a dataset, as far as its data can be read."""
    from dsreg.entry import entry_of
    from dsreg.errors import DsregError
    from dsreg.formats import all_formats
    from dsreg.matrix import row_of
    from dsreg.model import SOURCE_KEYS
    from dsreg.registry import find_toml

    root, entry = dataset.root, dataset.entry
    toml = find_toml(root, dataset.name)
    places = {key: value for key in SOURCE_KEYS if (value := getattr(entry, key)) is not None}
    found: dict[str, Any] = {
        "name": dataset.name,
        "toml": root.shown(toml) if toml else "",
        "format": entry.format,
        "source": output.pairs(places),
        "registered": entry.to_toml(),
        "entry": entry_of(dataset.name, entry),
        "task": "",
        "files": [],
        "bytes": 0,
        "rows": None,
        "columns": {},
        "tags": {},
        "becomes": [],
        "problem": "",
    }
    try:
        source = dataset.source
        found |= {"task": source.task, "files": [root.shown(path) for path in source.files]}
        extras = {name: column for column, name in source.constants.extras.items()}
        found |= {
            "columns": {**source.constants.columns, **extras},
            "tags": source.constants.tags if entry.tags else {},
        }
        found["becomes"] = row_of(source.format, source.task, all_formats(root.root).values())
        found["bytes"] = sum(path.stat().st_size for path in source.files)
        found["rows"] = sum(1 for _ in dataset.rows()) if found["bytes"] <= _COUNTED else None
    except DsregError as error:
        found["problem"] = str(error)
    return found
