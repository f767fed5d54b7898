"""What a descriptor must know about the rows it describes: which columns they have, which scorers they name."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import filterfalse
from pathlib import Path
from typing import Any

from dsreg.errors import UsageError
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.pipeline import SetAside, convert_row
from dsreg.rows import BadRow, open_rows
from dsreg.runner import Conversion, stream_rows, survey

OPTIONAL: dict[str, tuple[str, ...]] = {
    "alpaca": ("tools", "images", "videos", "audios"),
    "sharegpt": ("images", "videos", "audios"),
    "kto": ("images", "videos", "audios"),
    "openai": ("tools",),
    "hf-prompt-completion": ("tools",),
    "hf-preference": ("tools",),
    "hf-kto": ("tools",),
    "verl": ("images", "videos", "audios"),
    "verl-sft": ("tools", "images", "videos", "audios"),
}
"""The columns of a target that stand in its rows only where the data has something for them."""
SCORED = "verl"
"""The target whose rows name a scorer."""


@dataclass(frozen=True)
class Facts:
    """What is described: rows of a target, at a place relative to the descriptor.

    `columns` are those of OPTIONAL that occur, `unscored` the data sources for which verl has no scorer.
    """

    name: str
    target: str
    task: str
    options: Mapping[str, Any]
    data: str
    columns: frozenset[str] = frozenset()
    unscored: tuple[str, ...] = ()

    @property
    def loader(self) -> str:
        """The name of the loader that Hugging Face's datasets takes for the file."""
        return "parquet" if self.data.endswith(".parquet") else "json"


def make_facts(conversion: Conversion, data: str, columns: frozenset[str], sources: set[str]) -> Facts:
    """The facts of a conversion whose output stands at `data`."""
    target = conversion.steps.target
    return Facts(
        name=conversion.source.name,
        target=conversion.target.id,
        task=target.task,
        options=target.options,
        data=data,
        columns=columns,
        unscored=tuple(sorted(filterfalse(scored_by(conversion), sources))),
    )


def scored_by(conversion: Conversion) -> Callable[[str], bool]:
    """Tells whether verl has a scorer for a data source, by the table that the format keeps for its advisories."""
    table = conversion.target.part("advise")
    return lambda name: table is not None and (name in table.SCORED or name.startswith(table.SCORED_BEGINNINGS))


def possible_columns(conversion: Conversion) -> frozenset[str]:
    """The optional columns of the target that the source can bring, by what it declares and the columns it has."""
    manifest = conversion.source.format.manifest
    absent = frozenset(manifest.by_column) - conversion.source.constants.columns.keys()
    held = frozenset(manifest.supports) - absent - conversion.steps.strip
    return held.intersection(OPTIONAL.get(conversion.target.id, ()))


def facts_of_output(conversion: Conversion, output: Path) -> Facts:
    """The facts of an export that was just written; its options are settled. Raises DataFileError."""
    columns = frozenset(name for name in possible_columns(conversion) if has_column(output, name))
    sources = set(texts_of(output, "data_source")) if conversion.target.id == SCORED else set()
    return make_facts(conversion, output.name, columns, sources)


def facts_ahead(conversion: Conversion, data: str) -> Facts:
    """The facts of an export that is yet to be made, from the rows of its source, as far as they must be looked at.

    Raises DataFileError for a source that cannot be read, UsageError for one that is refused as a whole.
    """
    try:
        survey(conversion, None)
    except RowError as error:
        files = ", ".join(str(path) for path in conversion.source.files)
        raise UsageError(f"{error.code} {error.message}; the file as a whole is refused", where=files) from None
    waiting, found, sources = set(possible_columns(conversion)), set[str](), set[str]()
    if waiting or conversion.target.id == SCORED:
        for row in converted(conversion):
            seen = {name for name in waiting if row.get(name) is not None}
            found |= seen
            waiting -= seen
            if conversion.target.id == SCORED:
                sources.add(row["data_source"])
            elif not waiting:
                break
    return make_facts(conversion, data, frozenset(found), sources)


def converted(conversion: Conversion) -> Iterator[dict[str, Any]]:
    """The rows that a conversion writes; those that it rejects or sets aside are left out."""
    for _, value in stream_rows(conversion.source):
        if type(value) is BadRow:
            continue
        try:
            yield from convert_row(value, conversion.steps)
        except (RowError, SetAside):
            continue


def has_column(path: Path, name: str) -> bool:
    """Whether any row of a file that dsreg wrote has a value in a column; finds out without parsing all rows."""
    if path.suffix == ".parquet":
        return any(value is not None for value in parquet_column(path, name))
    if path.suffix not in (".json", ".jsonl"):
        with open_rows(path) as rows:
            return any(row.get(name) is not None for row in rows)
    if not path.stat().st_size:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return any(json.loads(line).get(name) is not None for line in lines_with(text, name))


def lines_with(text: mmap.mmap, key: str) -> Iterator[bytes]:
    """The rows in which a key occurs at any depth; each stands on a line of its own, in an array too."""
    wanted = json.dumps(key).encode() + b":"
    at = text.find(wanted)
    while at >= 0:
        start = text.rfind(b"\n", 0, at) + 1
        end = text.find(b"\n", at)
        end = end if end >= 0 else len(text)
        yield text[start:end].rstrip(b",")
        at = text.find(wanted, end)


def texts_of(path: Path, name: str) -> Iterator[str]:
    """The values of a column of text."""
    if path.suffix == ".parquet":
        yield from parquet_column(path, name)
        return
    with open_rows(path) as rows:
        yield from (row[name] for row in rows)


def parquet_column(path: Path, name: str) -> Iterator[Any]:
    """The values of one column of a Parquet file, in order; none where it has no such column."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if name in file.schema_arrow.names:
            for batch in file.iter_batches(columns=[name]):
                yield from batch.column(0).to_pylist()
