"""`dsreg formats show`: all about one format."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.formats import Format

Id = Annotated[str, typer.Argument(metavar="FORMAT", help="A format.", show_default=False)]


def show(format: Id, json: options.Json = False) -> None:
    """Describe a format: its columns, options and rules, with an example."""
    from dsreg.cli.formats.list import described
    from dsreg.cli.here import here_if_any
    from dsreg.formats import find_format

    root = here_if_any()
    found = find_format(format, root.root if root else None)
    if json:
        manifest = found.manifest
        options_json = {name: option.model_dump() for name, option in manifest.options.items()}
        output.data_json(
            {
                **described(found),
                "columns": manifest.columns,
                "needs": manifest.needs,
                "options": options_json,
                "rules": manifest.rules,
                "sizes": manifest.sizes,
                "facts": manifest.facts,
                "extra": manifest.extra,
                "descriptors": manifest.descriptors,
                "examples": found.examples(),
            }
        )
        return
    output.head(f"{found.id}: {found.manifest.title}")
    for text in _lines(found):
        output.data(text)
    output.data()
    output.head("Example")
    for row in found.examples()[:1]:
        _show_row(row)


_EXTRA = {
    "carried": "carried along",
    "named": "only those named here",
    "none": "no place for them; the report names what is left behind",
}


def _lines(format: Format) -> Iterator[str]:
    manifest = format.manifest
    ways = [word for word, has in (("source", format.reads), ("target", format.writes)) if has]
    facts = [
        ("used as", " and ".join(ways) + (", of this project" if format.own else "")),
        ("for", ", ".join(manifest.for_)),
        ("tasks", ", ".join(manifest.tasks)),
        ("written as", manifest.container),
        ("can hold", ", ".join(manifest.supports) or "text only"),
        ("other columns", _EXTRA[manifest.extra]),
        ("descriptors", f"{', '.join(manifest.descriptors)}, beside an export" if manifest.descriptors else ""),
        ("sizes", manifest.sizes),
        ("facts from", manifest.facts),
    ]
    yield from _wrapped([fact for fact in facts if fact[1]])
    if manifest.columns:
        needs = {task: ", ".join(names) for task, names in manifest.needs.items()}
        usual = {name: column for name, column in manifest.columns.items() if name != column}
        yield "\nColumns (--column NAME=COLUMN)"
        yield from _wrapped(
            [
                ("names", ", ".join(manifest.columns)),
                *([("usually", output.pairs(usual))] if usual else []),
                *((f"{task} needs", names) for task, names in needs.items()),
            ]
        )
    if manifest.options:
        yield "\nOptions (--option KEY=VALUE)"
        yield from _wrapped(
            [
                (name, f"{option.help}{_choices(option.choices)}; {_default(option.default)}")
                for name, option in manifest.options.items()
            ]
        )
    if manifest.rules:
        yield "\nRules"
        yield from (
            textwrap.fill(rule, 100, initial_indent="  - ", subsequent_indent="    ") for rule in manifest.rules
        )


def _choices(choices: list[str]) -> str:
    return f" ({' | '.join(choices)})" if choices else ""


def _default(default: object) -> str:
    if isinstance(default, bool):
        return f"{str(default).lower()} by default"
    return f"{default} by default" if default != "" else "empty by default"


def _wrapped(rows: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        yield textwrap.fill(
            text,
            100,
            initial_indent=f"  {label:<{width}}  ",
            subsequent_indent=" " * (width + 4),
            break_on_hyphens=False,
        )


def _show_row(row: object) -> None:
    from dsreg.cli.pretty import json_lines

    for text in json_lines(row, 2):
        output.data(text)
