"""The files that follow from a dataset besides its entry: copies for LlamaFactory, converters, descriptors."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dsreg.descriptors import kept_bytes, kept_files, kept_path
from dsreg.entry import copy_layout, copy_path, copy_task
from dsreg.errors import DsregError, RegistryError, RejectsError
from dsreg.export import EmptyExport, TooManyRejects, container_of, export
from dsreg.formats import find_format, templates_dir
from dsreg.model import Notice
from dsreg.names import stem_of
from dsreg.registered import choices_in, container_option, source_of, target_choices, target_options
from dsreg.runner import Conversion, Reject, make_conversion
from dsreg.scratch import scratch_folder
from dsreg.tasks import FEATURES, STRIPPABLE

if TYPE_CHECKING:
    from dsreg.model import Dataset
    from dsreg.project import Root


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that should exist: its path below the project's root and how to make its content.

    `key`, when given, is a fingerprint of everything the content depends on: while it is unchanged and the file is as
    it was written, `content` is not called. Making the content adds to `notices` what is to be said about it.
    """

    path: str
    content: Callable[[], bytes]
    key: str = ""
    notices: list[Notice] = field(default_factory=list)


def wanted_files(project: Root, name: str, dataset: Dataset, code: Callable[[], str]) -> list[Wanted]:
    """The files to keep beside this dataset: its copy for LlamaFactory; for each of its `targets` a converter and the
    descriptors of the export. `code` gives `all_code`, which is the same for all datasets of a project.

    What costs time is not computed before `content` is called; a missing data file only matters then.
    """
    stem = stem_of(name)
    wanted: list[Wanted] = []
    if dataset.llamafactory != "copy" and not dataset.targets:
        return wanted
    source_key = copy_key(project, dataset, code())
    if dataset.llamafactory == "copy":
        path = project.shown(project.data_dir / copy_path(name))
        notices: list[Notice] = []
        content = functools.partial(copy_bytes, project, name, dataset, notices)
        wanted.append(Wanted(path, content, source_key, notices))
    for target in dataset.targets or []:
        content = functools.partial(converter_bytes, project, name, dataset, target)
        key = target_key(project, dataset, target, source_key)
        wanted.append(Wanted(f"converters/{stem}_to_{stem_of(target)}.py", content, key))
        wanted += wanted_descriptors(project, name, dataset, target, key)
    return wanted


def wanted_descriptors(project: Root, name: str, dataset: Dataset, target: str, key: str) -> list[Wanted]:
    """The descriptors of a target that apply; where that cannot be told now, those that are there stay wanted."""
    listed: list[str] = []
    try:
        listed = find_format(target, project.root).manifest.descriptors
        container = container_option(target_choices(project, dataset, target))
        files = kept_files(target_conversion(project, name, dataset, target), container) if listed else []
    except DsregError:  # the converter says it too
        files = [file for file in listed if (project.root / kept_path(name, target, file)).exists()]
    return [
        Wanted(
            kept_path(name, target, file),
            functools.partial(descriptor_bytes, project, name, dataset, target, file),
            key,
        )
        for file in files
    ]


def descriptor_bytes(project: Root, name: str, dataset: Dataset, target: str, file: str) -> bytes:
    """A descriptor of a target's export at its usual place."""
    container = container_option(target_choices(project, dataset, target))
    return kept_bytes(target_conversion(project, name, dataset, target), container, file)


def target_key(project: Root, dataset: Dataset, target: str, source_key: str) -> str:
    """A fingerprint of all that a converter and its descriptors are made from."""
    options = json.dumps(target_options(project, dataset, target), sort_keys=True, default=str)
    return hashlib.sha256(f"{source_key} {options}".encode()).hexdigest()


def copy_conversion(project: Root, name: str, dataset: Dataset) -> Conversion:
    """The conversion whose output LlamaFactory reads instead of the data file."""
    source = source_of(project, name, dataset)
    task, layout = copy_task(dataset), copy_layout(dataset)
    if layout not in ("alpaca", "sharegpt"):
        raise RegistryError(
            f"the layout of the copy of {name} is alpaca or sharegpt, not {layout}",
            hint=f"dsreg set {shlex.quote(name)} --option llamafactory.layout=sharegpt",
        )
    target = "pretrain" if task == "pretrain" else layout
    options = (dataset.target or {}).get("llamafactory", {})
    choices = choices_in(options)
    if not choices.take and source.task == "prompt":
        choices = replace(choices, take="answer")
    conversion = make_conversion(source, find_format(target), choices)
    if conversion.steps.target.task != task:
        raise _task_error(name, dataset, task, conversion.steps.target.task)
    return conversion


def _task_error(name: str, dataset: Dataset, said: str, found: str) -> RegistryError:
    """The error of an entry that would say another task than the rows of its copy have."""
    way = f"dsreg set {shlex.quote(name)} "
    hint = f"{way}--option llamafactory.task={found}"
    if found == "preference" and dataset.ranking is None:
        hint = f"{way}--ranking, or {hint}"
    elif said == "preference" and dataset.ranking:
        hint = f"{way}--no-ranking, or {hint}"
    return RegistryError(
        f"the rows of {name} are for {found}, but the entry of their copy would say {said}: LlamaFactory drops them",
        hint=hint,
    )


def copy_bytes(project: Root, name: str, dataset: Dataset, notices: list[Notice]) -> bytes:
    """The copy of a dataset in a layout that LlamaFactory reads, as a JSON array; `notices` gets its account.

    Raises RejectsError where rows are rejected, or none is left.
    """
    conversion = copy_conversion(project, name, dataset)
    with scratch_folder() as folder:
        output = folder / "copy.json"
        try:
            tally = export(conversion, output, container="json").tally
        except TooManyRejects as error:
            first, count = error.report.rejects[0], error.report.tally.rejected.total()
            first = replace(first, source=Path(project.shown(first.source)))
            raise RejectsError(
                f"the copy of {name} for LlamaFactory would lack {count:,} rows; first: {first}",
                hint=_way_out(name, error.report.rejects),
            ) from None
        except EmptyExport as error:
            account = error.report.tally
            raise RejectsError(
                f"the copy of {name} for LlamaFactory would be empty: {account}", hint=f"dsreg check {name}"
            ) from None
        if tally.aside:
            where = project.shown(project.data_dir / copy_path(name))
            notices.append(Notice("DS169", f"rows of {name} are not in it: {tally}", where, f"dsreg check {name}"))
        return output.read_bytes()


def _way_out(name: str, rejects: list[Reject]) -> str:
    """What can be done about rows that a copy cannot hold: to take out what they use, or to leave them out."""
    used = [feature for feature in FEATURES for reject in rejects if f"cannot hold `{feature}`" in reject.message]
    features = dict.fromkeys(used)
    if not features:
        return f"dsreg check {shlex.quote(name)}"
    way = f"dsreg set {shlex.quote(name)} --option llamafactory"
    leave = f"{way}.skip={','.join(features)} leaves such rows out"
    if not features.keys() <= STRIPPABLE:
        return leave
    return f"{way}.strip={','.join(features)} takes it out of the rows; {leave}"


def copy_key(project: Root, dataset: Dataset, code: str) -> str:
    """A fingerprint of all that a copy is made from: the data file as it stands, the TOML, and the code."""
    path = project.data_dir / (dataset.file_name or "")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = [(file.name, file.stat()) for file in files if file.exists()]
    # also the time of the change itself: that of the content can be set back, by `cp -p` or a clock
    stamps = [(name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in found]
    text = json.dumps([stamps, dataset.to_toml(), code], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def all_code(root: Path) -> str:
    """A fingerprint of the code that makes the files of a project: dsreg's, and that of its own formats."""
    return f"{code_fingerprint()} {own_fingerprint(root)}"


@functools.cache
def code_fingerprint() -> str:
    """A fingerprint of the code that rows pass through, and of all that is generated from."""
    here = Path(__file__).parent
    folders = [templates_dir(), here / "rowcode", here / "descriptors", here / "codegen", here / "rows"]
    return fingerprint(folders)


def own_fingerprint(root: Path) -> str:
    """A fingerprint of the project's own formats; "" where it has none."""
    own = root / "templates" / "formats"
    if not own.is_dir() or own.resolve() == (templates_dir() / "formats").resolve():
        return ""
    return fingerprint([own])


def fingerprint(folders: list[Path]) -> str:
    """A fingerprint of the code and the templates below these folders, and of their names."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.suffix not in (".py", ".toml", ".j2") or not file.is_file():
                continue
            with contextlib.suppress(OSError):  # whoever needs it will say so
                digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def converter_bytes(project: Root, name: str, dataset: Dataset, target: str) -> bytes:
    """The standalone script that turns a dataset into a target."""
    from dsreg.codegen.converter import render_converter

    conversion = target_conversion(project, name, dataset, target, without_data=True)
    container = container_of(conversion, None, container_option(target_choices(project, dataset, target)))
    return render_converter(conversion, container=container).encode()


def target_conversion(
    project: Root, name: str, dataset: Dataset, target: str, *, without_data: bool = False
) -> Conversion:
    """The conversion to a target under the registry's options."""
    choices = target_choices(project, dataset, target)
    source = source_of(project, name, dataset, without_data=without_data)
    return make_conversion(source, find_format(target, project.root), choices, project.root)
