"""Descriptors: the few lines that tell a trainer where exported rows are and how they are laid out.

A format's manifest lists them by file name; each is rendered from `templates/descriptors/<file name>.j2`.

- Beside an export they bear its name in front: `exports/hf-kto/mydata.jsonl` has `mydata.trl.yaml`. An export in a
  folder of its own has them under their plain names: `exports/benchmax/mydata/benchmax_env.py`.
- For a dataset's `targets`, `sync` keeps them as `descriptors/<name>_to_<target>/trl.yaml`, about the export at its
  usual place.

Paths in a descriptor are relative to the descriptor. One that was changed by hand is left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dsreg.descriptors.consumers import CONSUMERS
from dsreg.descriptors.facts import Facts, facts_ahead, facts_of_output, make_facts, possible_columns
from dsreg.export import place_of
from dsreg.files import atomic_write, delete
from dsreg.formats import Format
from dsreg.names import stem_of
from dsreg.notes import Advice
from dsreg.runner import Conversion


class Written(NamedTuple):
    """What became of the descriptors of an export: those that were written, those that a person changed."""

    made: list[Path]
    kept: list[Path]

    @property
    def advice(self) -> list[Advice]:
        """What to say about those that were kept."""
        return [
            Advice("DS413", f"{path.name} was not written by dsreg, or changed since: kept as it is", "--force")
            for path in self.kept
        ]


def descriptor_path(target: Format, output: Path, file: str) -> Path:
    """Where a descriptor of an export stands."""
    stem = Path(output.name.removesuffix(".gz").removesuffix(".zst")).stem
    folder, _, usual = target.manifest.path.rpartition("/")
    if folder and stem == usual:
        return output.with_name(file)
    return output.with_name(f"{stem}{'_' if file.endswith('.py') else '.'}{file}")


def descriptor_places(target: Format, output: Path) -> list[Path]:
    """Where the descriptors of an export stand, should they apply."""
    return [descriptor_path(target, output, file) for file in target.manifest.descriptors]


def write_descriptors(
    conversion: Conversion,
    output: Path,
    *,
    ours: Callable[[Path], bool],
    note: Callable[[Path, bytes], None] = lambda path, content: None,
    force: bool = False,
) -> Written:
    """Write the descriptors of an export beside it; one that is there and not `ours` is kept, unless `force`.

    `note` is told of each before it is written. A descriptor of dsreg's that no longer applies is removed. Raises
    OutputError and DataFileError.
    """
    written = Written([], [])
    files = [file for file in conversion.target.manifest.descriptors if file in CONSUMERS]
    if not files:
        return written
    facts = facts_of_output(conversion, output)
    for file in files:
        path, content = descriptor_path(conversion.target, output, file), render(file, facts)
        there = os.path.lexists(path)
        if content is None:
            if there and ours(path):
                delete(path)
        elif there and not force and not ours(path):
            written.kept.append(path)
        else:
            note(path, content)
            atomic_write(path, content)
            written.made.append(path)
    return written


def render(file: str, facts: Facts) -> bytes | None:
    """A descriptor's content; None where its consumer would not read these rows as they are meant."""
    from dsreg.codegen.templating import render_template

    values = CONSUMERS[file](facts)
    if values is None:
        return None
    text = render_template(f"descriptors/{file}.j2", values)
    if file.endswith(".json"):
        text = ascii_json(text)
    return text.encode("utf-8", "surrogateescape")


def ascii_json(text: str) -> str:
    """JSON text with everything else escaped: LlamaFactory opens its registry in the encoding of the system."""
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in text)


def kept_path(name: str, target: str, file: str) -> str:
    """Where `sync` keeps a descriptor, below the project's root."""
    return f"descriptors/{stem_of(name)}_to_{stem_of(target)}/{file}"


def kept_files(conversion: Conversion, container: str | None) -> list[str]:
    """The descriptors that `sync` keeps for a conversion: those that apply whatever its rows turn out to have.

    Raises UsageError for a container that does not exist.
    """
    facts = make_facts(conversion, data_place(conversion, container), possible_columns(conversion), set())
    return [file for file in conversion.target.manifest.descriptors if file in CONSUMERS and CONSUMERS[file](facts)]


def kept_bytes(conversion: Conversion, container: str | None, file: str) -> bytes:
    """The content of a descriptor that `sync` keeps; raises DataFileError and UsageError."""
    facts = facts_ahead(conversion, data_place(conversion, container))
    return render(file, facts) or b""  # of the files that kept_files names, none is None


def data_place(conversion: Conversion, container: str | None) -> str:
    """The usual place of an export, seen from the descriptors that `sync` keeps."""
    return f"../../{place_of(conversion, conversion.source.name, container)}"


__all__ = [
    "CONSUMERS",
    "Facts",
    "Written",
    "ascii_json",
    "data_place",
    "descriptor_path",
    "descriptor_places",
    "kept_bytes",
    "kept_files",
    "kept_path",
    "render",
    "write_descriptors",
]
