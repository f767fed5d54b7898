"""Check the datasets of a project: dsreg's own files, what LlamaFactory will do, and each target."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsreg.check.dataset import Result, Subject, check_entry
from dsreg.check.finding import Finding
from dsreg.check.hints import Words
from dsreg.check.places import TomlPlaces
from dsreg.check.registry_file import open_registry_file
from dsreg.check.targets import copy_findings, reject_finding, target_findings, unsaid
from dsreg.entry import entry_of
from dsreg.errors import DsregError, RegistryError
from dsreg.jsonedit import same_json
from dsreg.model import Dataset, Notice
from dsreg.project import Root
from dsreg.registry import find_toml, load_all, look_up
from dsreg.runner import Choices

if TYPE_CHECKING:
    from dsreg.runner import Conversion, Reject


def check_project(
    root: Root,
    names: Iterable[str] | None = None,
    *,
    stage: str | None = None,
    targets: Iterable[str] = (),
    choices: Choices | None = None,
    shown: Callable[[Any], str] = str,
    verdicts: bool = False,
    duplicates: bool = True,
) -> Iterator[Result]:
    """Check the named datasets, or all; notices and problems of the whole registry come with the first.

    Raises NotFoundError for a name that is not registered.
    """
    loaded = load_all(root)
    known = sorted([*loaded.datasets, *loaded.problems])
    asked = bool(names)
    chosen = [name if name in known else look_up(root, name) for name in names or known]
    info = open_registry_file(root.info_path, root.shown(root.info_path)) if root.info_path.exists() else None
    general = list(info.findings) if info is not None else []
    # what the entry's own rules say as well is said by them
    general += [_notice(notice) for notice in loaded.notices if notice.code != "DS182"]
    if known and not (info is not None and info.entries) and not general:
        where = root.shown(root.info_path)
        message = "holds no entry of this registry" if info is not None else "is not there yet"
        general.append(Finding("DS167", "error", message, where, hint="dsreg sync", consequence=_UNSELECTABLE))
    for name in chosen:
        if name in loaded.problems:
            result = Result(name, stage or "sft", findings=[_problem(loaded.problems[name])])
        else:
            entries = info.entries if info is not None else {}
            run = _Run(root, name, loaded.datasets[name], entries, shown)
            result = run.check(stage, verdicts=verdicts, duplicates=duplicates)
            for target in targets:
                result.findings += unsaid(run.target(target, choices, asked=asked), result.findings)
            result.findings = [finding for finding in result.findings if not _ignored(root, run.dataset, finding)]
        result.findings[:0] = general
        general = []
        yield result


def ignored_codes(root: Root, dataset: Dataset | None) -> list[str]:
    """The codes that dsreg.toml and a dataset's TOML leave out."""
    own = dataset.check.ignore if dataset is not None and dataset.check is not None else []
    return [*root.settings.check.ignore, *own]


def _ignored(root: Root, dataset: Dataset, finding: Finding) -> bool:
    from dsreg.check.select import is_among

    return is_among(finding.code, ignored_codes(root, dataset))


def _notice(notice: Notice) -> Finding:
    file, line = _split(notice.where)
    return Finding(notice.code, "warning", notice.message, file, line, None, "", "it is kept and ignored", notice.hint)


def _problem(error: RegistryError) -> Finding:
    file, line = _split(error.where)
    return Finding("DS166", "error", error.message, file, line, None, "", "the dataset is not checked", error.hint)


def _split(where: str) -> tuple[str, int | None]:
    """File and line of `file:line` or `file:line:column`."""
    file, *numbers = where.split(":")
    return file, int(numbers[0]) if numbers and numbers[0].isdigit() else None


_UNSELECTABLE = "LlamaFactory cannot select it"


class _Run:
    """The check of one registered dataset."""

    def __init__(
        self, root: Root, name: str, dataset: Dataset, entries: dict[str, Any], shown: Callable[[Any], str]
    ) -> None:
        self.root, self.name, self.dataset, self.entries, self.shown = root, name, dataset, entries, shown
        path = find_toml(root, name)
        text = path.read_text("utf-8-sig") if path is not None else ""
        self.places = TomlPlaces(text, root.shown(path) if path is not None else name)

    def place(self, path: tuple[str, ...]) -> tuple[str, int | None]:
        return self.places.of_entry(self.name, path)

    def check(self, stage: str | None, *, verdicts: bool, duplicates: bool) -> Result:
        """The entry as the TOML says it, whether or not dataset_info.json says so already."""
        try:
            entry = entry_of(self.name, self.dataset)
        except DsregError as error:
            finding = Finding("DS166", "error", error.message, self.places.file, hint=error.hint)
            return Result(self.name, stage or "sft", findings=[finding])
        if entry is None:
            return Result(self.name, stage or "", findings=[*self._unread(), *self._source_findings()])
        entry = json.loads(json.dumps(entry))
        subject = Subject(self.name, entry, self.root.data_dir, self.place, Words(self.name, project=True), self.shown)
        if self.dataset.llamafactory == "copy" and not (self.root.data_dir / entry["file_name"]).exists():
            file = self.root.shown(self.root.data_dir / entry["file_name"])
            found = self._copy_findings()
            stops = any(finding.severity == "error" for finding in found)
            hint = "what follows stands in its way" if stops else "dsreg sync"
            missing = Finding("DS167", "error", "the converted copy is not there", file, hint=hint)
            return Result(self.name, stage or "", findings=[missing, *found])
        if self.name in self.entries and same_json(self.entries[self.name], entry):
            result = check_entry(subject, stage, verdicts=verdicts, duplicates=duplicates)
        else:
            result = self._drifted(subject, stage, verdicts=verdicts, duplicates=duplicates)
        if self.dataset.llamafactory == "copy":
            result.findings += self._copy_findings()
        result.findings = [finding for finding in result.findings if not _said_already(finding)]
        return result

    def _drifted(self, subject: Subject, stage: str | None, *, verdicts: bool, duplicates: bool) -> Result:
        """The check of an entry that dataset_info.json does not have yet."""
        raw = dict(subject.raw)
        for key in ("file_name", "script_url"):
            if isinstance(raw.get(key), str):
                raw[key] = str(subject.dataset_dir / raw[key])
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "dataset_info.json").write_text(json.dumps({self.name: raw}), "utf-8")
            drifted = replace(subject, predict_dir=Path(folder))
            result = check_entry(drifted, stage, verdicts=verdicts, duplicates=duplicates)
        if not self.entries:
            return result  # said once of the whole file
        what = "says something else" if self.name in self.entries else f"has no entry {self.name!r}"
        file = self.root.shown(self.root.info_path)
        effect = "LlamaFactory reads what stands there"
        result.findings.insert(
            0,
            Finding("DS167", "error", f"{what} than the registry", file, None, None, "", effect, "dsreg sync")
            if self.name in self.entries
            else Finding("DS167", "error", what, file, None, None, "", _UNSELECTABLE, "dsreg sync"),
        )
        return result

    def _unread(self) -> list[Finding]:
        message = f"the format {self.dataset.format} has no entry in dataset_info.json"
        file, line = self.place(("format",))
        hint = f"dsreg set {self.name} --copy lets LlamaFactory read a converted copy"
        return [Finding("DS168", "note", message, file, line, None, "format", "only dsreg reads it", hint)]

    def _source_findings(self) -> Iterator[Finding]:
        """The rows of the data itself, read as its format, where LlamaFactory does not read them."""
        from dsreg.check.rows import KEPT
        from dsreg.registered import source_of
        from dsreg.rowcode.errors import RowError
        from dsreg.runner import make_reject, stream_rows

        rejects: list[Reject] = []
        count = 0
        try:
            source = source_of(self.root, self.name, self.dataset)
            for stream, value in stream_rows(source):
                try:
                    source.sample(value)
                except RowError as error:
                    count += 1
                    if len(rejects) < KEPT:
                        rejects.append(make_reject(stream, value, error))
        except DsregError as error:
            file, line = _split(error.where) if error.where else self.place(("file_name",))
            hint = "" if error.hint.startswith("dsreg check") else error.hint
            yield Finding("DS321", "error", error.message, file, line, None, "", "nothing can be read", hint)
        for reject in rejects:
            yield reject_finding(reject, self.shown, "", f"this is no row of {self.dataset.format}", count)

    def _copy_findings(self) -> list[Finding]:
        """What becomes of the rows of the data in the copy that LlamaFactory reads instead of them."""
        from dsreg.derived import copy_conversion

        def make() -> Conversion:
            return copy_conversion(self.root, self.name, self.dataset)

        return list(copy_findings(make, self.shown, self.place(("file_name",))))

    def target(self, target: str, choices: Choices | None, *, asked: bool) -> Iterator[Finding]:
        """What an export to a target would say."""
        from dsreg.api import RegisteredDataset

        def make() -> Conversion:
            return RegisteredDataset(self.root, self.name, self.dataset).conversion(target, choices)

        yield from target_findings(target, make, self.shown, self.places.file, asked=asked)


def _said_already(finding: Finding) -> bool:
    """Whether the registry's own notices say it: unknown keys of the TOML outside `columns`."""
    return finding.code in ("DS180", "DS181") and not finding.path.startswith("columns.")
