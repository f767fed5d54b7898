"""Check the datasets of any folder that has a dataset_info.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsreg.check.dataset import Result, Subject, check_entry
from dsreg.check.finding import Finding
from dsreg.check.hints import Words
from dsreg.check.registry_file import STOP, RegistryFile, open_registry_file, who_is
from dsreg.check.targets import target_findings, unsaid
from dsreg.errors import RegistryError
from dsreg.llamafactory.predict import predict
from dsreg.runner import Choices, Conversion, make_conversion


def check_folder(
    dataset_dir: Path,
    names: Iterable[str] | None = None,
    *,
    stage: str | None = None,
    targets: Iterable[str] = (),
    choices: Choices | None = None,
    shown: Callable[[Any], str] = str,
    verdicts: bool = False,
    duplicates: bool = True,
) -> Iterator[Result]:
    """Check the named entries, or all; what is wrong with the file as a whole comes with the first."""
    registry = open_registry_file(dataset_dir / "dataset_info.json", shown(dataset_dir / "dataset_info.json"))
    asked_for = list(names or ())
    chosen = asked_for or registry.names
    of_file = registry.findings
    if not chosen and of_file:
        yield Result("", stage or "sft", _fatal(of_file), findings=of_file)
    for asked in chosen:
        result = _check(registry, asked, dataset_dir, stage, shown, verdicts=verdicts, duplicates=duplicates)
        for target in targets:
            found = _target(registry, asked.strip(), dataset_dir, target, choices, shown, asked=bool(asked_for))
            result.findings += unsaid(found, result.findings)
        result.findings[:0] = of_file
        of_file = []
        yield result


def _fatal(findings: list[Finding]) -> dict[str, str] | None:
    stops = [finding for finding in findings if finding.severity == "error"]
    return {"where": "registry", "message": stops[0].message} if stops else None


def _check(
    registry: RegistryFile,
    asked: str,
    dataset_dir: Path,
    stage: str | None,
    shown: Callable[[Any], str],
    *,
    verdicts: bool,
    duplicates: bool,
) -> Result:
    """One entry; where it is none, what LlamaFactory says and what was probably meant."""
    name = asked.strip() if asked.strip() in registry.entries or asked not in registry.entries else asked
    raw = registry.entries.get(name)
    if isinstance(raw, dict):
        words = Words(name, project=False)
        subject = Subject(name, raw, dataset_dir, lambda path: registry.place(name, path), words, shown)
        return replace(check_entry(subject, stage, verdicts=verdicts, duplicates=duplicates), dataset=asked)
    prediction = predict(dataset_dir, asked, stage or "sft")
    result = Result(asked, stage or "sft")
    if prediction.fatal is not None:
        result.fatal = {"where": prediction.fatal.where, "message": prediction.fatal.message}
    if name in registry.entries:
        file, line = registry.place(name, ())
        message = f"{name!r} is no entry: its value is no object"
        result.findings.append(Finding("DS103", "error", message, file, line, None, "", STOP, 'write {"file_name": …}'))
    elif registry.document is not None:
        message, hint = who_is(registry, asked)
        result.findings.append(Finding("DS102", "error", message, registry.shown, None, None, "", STOP, hint))
    return result


def _target(
    registry: RegistryFile,
    name: str,
    dataset_dir: Path,
    target: str,
    choices: Choices | None,
    shown: Callable[[Any], str],
    *,
    asked: bool,
) -> Iterator[Finding]:
    raw = registry.entries.get(name)
    if not isinstance(raw, dict):
        return

    def make() -> Conversion:
        from dsreg.entry import dataset_of_entry
        from dsreg.formats import find_format
        from dsreg.model import Dataset, Settings
        from dsreg.project import Root
        from dsreg.registered import source_of

        dataset = dataset_of_entry({key: value for key, value in raw.items() if value is not None})
        if not isinstance(dataset, Dataset):
            raise RegistryError(f"the entry cannot be converted: {dataset}", where=registry.shown)
        root = Root(dataset_dir, dataset_dir, dataset_dir / "registry", Settings())
        return make_conversion(source_of(root, name, dataset), find_format(target), choices)

    yield from target_findings(target, make, shown, registry.shown, asked=asked)
