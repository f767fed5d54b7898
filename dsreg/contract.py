"""What a format promises, tried out: its manifest, its example, its round trips, hostile rows, its generated script."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dsreg.errors import DsregError, UsageError
from dsreg.export import EmptyExport, export
from dsreg.files import atomic_write, make_dirs
from dsreg.formats import Format, all_formats, built_in, find_format, options_of, ways
from dsreg.names import stem_of
from dsreg.project import Root, inside
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.features import find_features
from dsreg.rowcode.pipeline import SetAside, read_samples
from dsreg.runner import Choices, Conversion, make_conversion
from dsreg.source import Source, columns_in, make_source

ROLES = frozenset({"system", "user", "assistant", "tool"})
JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, "", " ", "text", "[]", "{", '{"a": 1}', "\x1b[31m", "\ud800"),
    *([], [None], [[]], [1, "a"], [{}], {}, {"a": None}, {"role": "user"}, [{"role": "user", "content": None}]),
    *([{"from": 1, "value": []}], [{"role": "tool", "content": {}}], [["a", "b", "c"]], [{"type": "text"}]),
]
"""Values that have no business in a column."""


class Result(NamedTuple):
    """The outcome of one part of a contract; a note is worth knowing and no failure."""

    name: str
    outcome: Literal["ok", "failed", "note"]
    detail: str = ""


class Broken(Exception):
    """A promise that is not kept."""


def run_contract(format: Format) -> Iterator[Result]:
    """Try everything that a format promises, part by part; a part that fails hides no other."""
    parts = [
        ("manifest", check_manifest),
        ("example is read", check_example),
        ("write(read(write(x))) == write(x)", check_round_trip),
        ("rows of other formats", check_others),
        ("hostile rows", check_hostile),
        ("generated script agrees", check_script),
        ("[text] agrees", check_text),
    ]
    for name, check in parts:
        try:
            detail = check(format)
        except (Broken, DsregError, RowError) as error:
            yield Result(name, "failed", _words(error))
            continue
        except Exception as error:  # a format's code may raise anything
            yield Result(name, "failed", f"{type(error).__name__}: {error}")
            continue
        yield Result(name, "ok", detail)
        if name == "example is read" and (missing := untested_features(format)):
            yield Result("features", "note", f"example.jsonl shows no {', '.join(missing)}")


def _words(error: Exception) -> str:
    return f"{error.code} {error.path}: {error.message}" if isinstance(error, RowError) else str(error)


def check_manifest(format: Format) -> str:
    """The parts fit together: what it needs are its columns, what it declares are functions it has."""
    manifest = format.manifest
    for task, needed in manifest.needs.items():
        unknown = [name for name in needed if name not in manifest.columns]
        if unknown:
            raise Broken(f"needs.{task} names {', '.join(unknown)}, which columns does not have")
    if not format.reads and not format.writes:
        raise Broken("there is neither reader.py nor writer.py")
    if format.reads and not callable(getattr(format.reader, "read_row", None)):
        raise Broken("reader.py defines no read_row(row, c)")
    if format.writes and not callable(getattr(format.writer, "write_row", None)):
        raise Broken("writer.py defines no write_row(sample, c)")
    for name, option in manifest.options.items():
        options_of(format, option.side, {name: option.default})
    return ", ".join(word for word, has in (("source", format.reads), ("target", format.writes)) if has)


def source_for(format: Format, row: dict[str, Any], file: Path | None = None) -> Source:
    """A format's source for a row in the format's own layout, whose columns have their usual names."""
    return make_source("example", format, [file] if file else [], columns_in(format, [row], {}))


def check_example(format: Format) -> str:
    """Each row of example.jsonl is read into a sample, or, where the format is only a target, is there."""
    rows = format.examples()
    if not rows:
        raise Broken("example.jsonl has no rows")
    if format.reads:
        for row in rows:
            check_sample(read(format, row))
    return f"{len(rows)} rows"


def read(format: Format, row: dict[str, Any]) -> dict[str, Any]:
    """The sample of a row in the format's own layout."""
    sample: dict[str, Any] = format.reader.read_row(row, source_for(format, row).constants)
    return sample


def check_sample(sample: Any) -> None:
    """A sample has messages with a role and content, or text, and is JSON throughout; raises Broken."""
    if not isinstance(sample, dict) or not ("messages" in sample or "text" in sample):
        raise Broken("read_row gave something that is no sample: neither messages nor text")
    for key in ("messages", "chosen", "rejected", "completion"):
        for message in sample.get(key, ()):
            if not isinstance(message, dict) or message.get("role") not in ROLES or "content" not in message:
                raise Broken(f"read_row gave a message in {key} without a known role and content")
    json.dumps(sample)


def target_constants(format: Format, task: str) -> Constants:
    """The constants of a writer with default options, as far as writing goes without a survey."""
    return Constants(task, format.manifest.columns, options=options_of(format, "write", {}))


def check_round_trip(format: Format) -> str:
    """What is written is read and written again without a difference."""
    if not format.reads or not format.writes:
        return "not both a source and a target"
    for number, row in enumerate(format.examples(), 1):
        sample = read(format, row)
        task = source_for(format, row).task
        constants = target_constants(format, task)
        once = format.writer.write_row(sample, constants)
        twice = format.writer.write_row(read(format, once), constants)
        if once != twice:
            raise Broken(f"row {number}: {json.dumps(once)[:200]} became {json.dumps(twice)[:200]}")
    return f"{len(format.examples())} rows"


def samples_of_others(target: Format) -> Iterator[tuple[Source, dict[str, Any], Conversion]]:
    """The examples of all built-in sources that become this target without a choice."""
    for other in built_in().values():
        for row in other.examples() if other.reads else ():
            source = source_for(other, row)
            found = ways(source.task, target)
            if found and (not found[0].steps or not found[0].steps[0].take):
                yield source, row, make_conversion(source, target, Choices())


def check_others(format: Format) -> str:
    """The other formats' examples are written, or refused with a code; what is written is JSON and is read again."""
    if not format.writes:
        return "not a target"
    written = refused = 0
    for source, row, conversion in samples_of_others(format):
        try:
            samples = read_samples(row, conversion.steps)
            rows = [format.writer.write_row(sample, conversion.steps.target) for sample in samples]
        except (RowError, SetAside):
            refused += 1
            continue
        except Exception as error:
            raise Broken(f"a row of {source.format.id}: {type(error).__name__}: {error}") from error
        for sample, made in zip(samples, rows, strict=True):
            json.dumps(made, allow_nan=False)
            check_features(format, sample, made, source.format.id)
        written += 1
    if not written:
        raise Broken(f"none of {refused} example rows of other formats could be written")
    return f"{written} written, {refused} refused with a reason"


def check_features(format: Format, sample: dict[str, Any], row: dict[str, Any], origin: str) -> None:
    """What a target says it supports is still there when its row is read again; raises Broken."""
    if not format.reads:
        return
    try:
        again = find_features(read(format, row))
    except (RowError, DsregError) as error:
        raise Broken(f"what it writes of a row of {origin} it cannot read: {_words(error)}") from error
    lost = (find_features(sample) & set(format.manifest.supports)) - again
    if lost:
        raise Broken(f"a row of {origin} loses {', '.join(sorted(lost))}, which supports names")


def hostile_rows(format: Format) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Examples in which one column holds junk, or is gone; each with the row it was made of."""
    for row in format.examples():
        for column in row:
            yield row, {key: value for key, value in row.items() if key != column}
            for junk in JUNK:
                yield row, {**row, column: junk}


def check_hostile(format: Format) -> str:
    """Whatever stands in a row, it is read into a sample or refused as a RowError; the same for writing it."""
    if not format.reads:
        return "not a source"
    good = refused = 0
    for row, hostile in hostile_rows(format):
        source = source_for(format, row)
        try:
            sample = format.reader.read_row(hostile, source.constants)
            if format.writes:
                format.writer.write_row(sample, target_constants(format, source.task))
            good += 1
        except RowError:
            refused += 1
        except Exception as error:
            shown = json.dumps(hostile)[:200]
            raise Broken(f"{type(error).__name__}: {error}; the row: {shown}") from error
    return f"{good} read, {refused} refused with a reason"


def check_script(format: Format) -> str:
    """The standalone converter writes what export writes, with the format as source and as target."""
    done = []
    for source, target in partners(format, fits_script):
        with tempfile.TemporaryDirectory(prefix="dsreg-") as name:
            compare_script(source, target, Path(name))
        done.append(f"{source.id} to {target.id}")
    return ", ".join(done) or "no other format to pair it with"


def rows_of(path: Path) -> list[Any]:
    """The rows of a file in JSON Lines."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def compare_script(source: Format, target: Format, folder: Path) -> None:
    """Convert a source's example both ways in a folder; raises Broken when the rows differ."""
    first, data = source.examples()[0], folder / "data.jsonl"
    rows = [row for row in source.examples() if set(row) == set(first)]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    conversion = make_conversion(source_for(source, first, data), target, Choices())
    by_export, by_script = folder / "export.jsonl", folder / "script.jsonl"
    try:
        export(conversion, by_export, container="jsonl", skip_invalid=True)
    except EmptyExport:  # then the script has no row either
        by_export.write_bytes(b"")
    run_script(conversion, folder / "convert.py", data, by_script)
    if rows_of(by_export) != rows_of(by_script):  # an export may keep the escapes of its source
        raise Broken(f"{source.id} to {target.id}: the script and export wrote different rows")


def check_text(format: Format) -> str:
    """Rows of text alone become the same by the `[text]` tables as by reader and writer."""
    done = []
    for source, target in partners(format, fits_text):
        rows = [*source.examples(), *(rewritten(source) if source.writes else ())]
        for keys in dict.fromkeys(frozenset(row) for row in rows):
            with tempfile.TemporaryDirectory(prefix="dsreg-") as name:
                compare_ways(source, target, [row for row in rows if row.keys() == keys], Path(name))
        done.append(f"{source.id} to {target.id}")
    return ", ".join(done) or "there are none, or no other format to pair them with"


def rewritten(format: Format) -> Iterator[dict[str, Any]]:
    """The examples of other formats, as this one writes them."""
    for _, row, conversion in samples_of_others(format):
        with suppress(RowError, SetAside):
            for sample in read_samples(row, conversion.steps):
                yield format.writer.write_row(sample, conversion.steps.target)


def compare_ways(source: Format, target: Format, rows: list[dict[str, Any]], folder: Path) -> None:
    """Convert rows both ways in a folder; raises Broken when what is written differs."""
    data, made = folder / "data.jsonl", []
    if not becomes(source, rows[0], target):
        return
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    for fast in (True, False):
        conversion = make_conversion(source_for(source, rows[0], data), target, Choices())
        output = folder / f"{fast}.jsonl"
        with suppress(EmptyExport):
            export(conversion, output, container="jsonl", skip_invalid=True, fast=fast)
        made.append(rows_of(output) if output.exists() else [])
    if made[0] != made[1]:
        one, other = next(filter(lambda pair: pair[0] != pair[1], zip_longest(*made)))
        shown = f"{json.dumps(one)[:200]} or {json.dumps(other)[:200]}"
        raise Broken(f"{source.id} to {target.id}: [text] and the row code differ: {shown}")


def partners(format: Format, fits: Callable[[Format, Format], bool]) -> list[tuple[Format, Format]]:
    """A pair with the format as source and one with it as target, if any fit."""
    others = [*(other for other in built_in().values() if other.id != format.id), format]
    as_source = next(((format, other) for other in others if fits(format, other)), None)
    as_target = next(((other, format) for other in others if fits(other, format)), None)
    return list(dict.fromkeys(pair for pair in (as_source, as_target) if pair is not None))


def fits_script(source: Format, target: Format) -> bool:
    """Whether the source's first example becomes the target as it is, row by row."""
    if not source.reads or not target.writes or hasattr(target.writer, "survey"):
        return False
    return becomes(source, source.examples()[0], target)


def fits_text(source: Format, target: Format) -> bool:
    """Whether the source's first example becomes the target as it is, and both have `[text]` tables."""
    if source.manifest.text.read is None or target.manifest.text.write is None:
        return False
    return becomes(source, source.examples()[0], target)


def becomes(source: Format, row: dict[str, Any], target: Format) -> bool:
    """Whether a row becomes the target without a step between tasks."""
    found = ways(source_for(source, row).task, target)
    return bool(found) and not found[0].steps


def run_script(conversion: Conversion, script: Path, data: Path, output: Path) -> None:
    """Render a conversion's script and run it as anyone would; raises Broken when it fails."""
    from dsreg.codegen.converter import render_converter

    script.write_text(render_converter(conversion), "utf-8")
    command = [
        sys.executable,
        "-I",
        str(script),
        str(data),
        "-o",
        str(output),
        "--skip-invalid",
        "--container",
        "jsonl",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise Broken(f"the script failed: {done.stderr.strip()[-300:]}")


def untested_features(format: Format) -> list[str]:
    """Features that the manifest names and no row of the example has."""
    if not format.reads:
        return []
    found: set[str] = set()
    for row in format.examples():
        found |= find_features(read(format, row))
    return [feature for feature in format.manifest.supports if feature not in found]


def copy_format(project: Root, id: str, like: str, *, dry_run: bool = False) -> list[Path]:
    """Copy a format's folder into the project's templates/formats under a new id; returns the files.

    Its `[text]` tables, the last of the manifest, stay behind: they say what reader and writer do, which will change.
    Raises UsageError for an id that is taken or no plain name, OutputError where it cannot be written.
    """
    if not id.isascii() or not id.replace("-", "").isalnum() or id != id.lower() or stem_of(id) != id:
        raise UsageError(f"{id!r} cannot be a format's id", hint="lower-case letters, digits and -")
    if id in all_formats(project.root):
        raise UsageError(f"there is a format {id} already", hint="choose another id")
    source = find_format(like, project.root).folder
    folder = project.root / "templates" / "formats" / id
    if folder.exists():
        raise UsageError("exists already", where=project.shown(folder), hint="choose another id, or move it away")
    inside(project.root, folder)
    files = sorted(path for path in source.iterdir() if path.is_file() and path.suffix in (".py", ".toml", ".jsonl"))
    if not dry_run:
        make_dirs(folder)
        for file in files:
            atomic_write(folder / file.name, file.read_bytes().partition(b"\n[text.")[0].rstrip(b"\n") + b"\n")
            shutil.copymode(file, folder / file.name)
    return [folder / file.name for file in files]
