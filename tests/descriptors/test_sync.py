"""`sync` keeps the descriptors of a dataset's targets."""

from __future__ import annotations

import json

import pytest
import yaml

from dsreg.api import Project
from dsreg.project import Root, open_project
from dsreg.sync import plan, sync
from tests.conftest import WriteProject
from tests.descriptors.cases import ALPACA_LABELS, ALPACA_MEDIA, CASES, LABELLED, OWN_QUESTIONS, PICTURES, Rows

PREFIX = "descriptors/d_to_"


def project_of(write_project: WriteProject, source: str, rows: Rows, targets: list[str], toml: str = "") -> Root:
    head = f'format = "{source}"\nfile_name = "d.json"\ntargets = {json.dumps(targets)}\n'
    files = {"registry/d.toml": head + toml, "data/d.json": json.dumps(rows)}
    return open_project(write_project(files))


def kept(project: Root) -> dict[str, str]:
    """The descriptors on the disk, by what follows the common beginning of their paths."""
    found = sorted(path for path in (project.root / "descriptors").rglob("*") if path.is_file())
    return {project.shown(path).removeprefix(PREFIX): path.read_text() for path in found}


@pytest.mark.parametrize("name", [name for name in CASES if name != "hf kto texts"])
def test_the_same_as_beside_the_export(write_project: WriteProject, name: str) -> None:
    case = CASES[name]
    table = "".join(f'{key} = "{value}"\n' for key, value in case.options.items())
    toml = case.toml + (f"[target.{case.target}]\n{table}" if table else "")
    project = project_of(write_project, case.source, case.rows, [case.target], toml)
    sync(project)
    report = Project(project)["d"].export(case.target)
    beside = {path.name.removeprefix("d."): path.read_text() for path in report.descriptors}
    assert report.output is not None
    place = f"../../{project.shown(report.output)}"
    if case.target != "benchmax":
        beside = {file: text.replace(report.output.name, place) for file, text in beside.items()}
    assert kept(project) == {f"{case.target}/{file}": text for file, text in beside.items()}


def test_paths_lead_to_the_export(write_project: WriteProject) -> None:
    project = project_of(write_project, "verl", OWN_QUESTIONS, ["verl", "openai"])
    made = sync(project)
    assert set(kept(project)) == {"verl/verl.yaml", "verl/trl.yaml"}
    assert not sync(project).drift and not made.problems
    output = Project(project)["d"].export("verl").output
    value = yaml.safe_load(kept(project)["verl/verl.yaml"])
    folder = project.root / "descriptors/d_to_verl"
    assert (folder / value["data"]["train_files"]).resolve() == output
    assert "my/puzzles" in kept(project)["verl/verl.yaml"]


def test_a_column_of_late_rows_is_named(write_project: WriteProject) -> None:
    project = project_of(write_project, "alpaca", PICTURES, ["sharegpt"], ALPACA_MEDIA)
    sync(project)
    entry = json.loads(kept(project)["sharegpt/dataset_info.json"])["d"]
    assert entry["columns"]["images"] == "images"
    (project.data_dir / "d.json").write_text(json.dumps(PICTURES[:3]))
    sync(project)
    entry = json.loads(kept(project)["sharegpt/dataset_info.json"])["d"]
    assert "images" not in entry["columns"]


def test_what_depends_on_the_style_is_kept_when_the_style_is_said(write_project: WriteProject) -> None:
    project = project_of(write_project, "alpaca", LABELLED, ["hf-kto"], ALPACA_LABELS)
    sync(project)
    assert set(kept(project)) == {"hf-kto/trl.yaml"}
    toml = project.registry_dir / "d.toml"
    toml.write_text(toml.read_text() + '[target.hf-kto]\nstyle = "standard"\n')
    sync(project)
    assert set(kept(project)) == {"hf-kto/trl.yaml", "hf-kto/axolotl.yaml"}


def test_a_target_that_goes_takes_its_descriptors_along(write_project: WriteProject) -> None:
    project = project_of(write_project, "verl", OWN_QUESTIONS, ["verl", "benchmax"])
    sync(project)
    toml = project.registry_dir / "d.toml"
    toml.write_text(toml.read_text().replace(', "benchmax"', ""))
    sync(project)
    assert set(kept(project)) == {"verl/verl.yaml", "verl/trl.yaml"}


def test_one_changed_by_hand_is_a_conflict(write_project: WriteProject) -> None:
    project = project_of(write_project, "verl", OWN_QUESTIONS, ["verl"])
    sync(project)
    path = project.root / f"{PREFIX}verl/verl.yaml"
    path.write_text("data: {}\n")
    assert [conflict.where for conflict in plan(project).conflicts] == [project.shown(path)]
    sync(project, force=True)
    assert path.read_text() != "data: {}\n"


def test_without_the_data_what_is_there_stays(write_project: WriteProject) -> None:
    project = project_of(write_project, "verl", OWN_QUESTIONS, ["verl"])
    sync(project)
    before = kept(project)
    (project.data_dir / "d.json").unlink()
    made = plan(project)
    assert not [change for change in made.changes if change.shown.startswith("descriptors/")]
    assert kept(project) == before
