"""Two branches, merged with git itself."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from dsreg.errors import ConflictError, RegistryError
from dsreg.lock import read_lock
from dsreg.model import Dataset
from dsreg.project import Root, open_project
from dsreg.sync import add_dataset, init, plan, remove_dataset, set_dataset, sync

ENVIRONMENT = {
    **os.environ,
    **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(project: Root, *args: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", *args], cwd=project.root, env=ENVIRONMENT, capture_output=True, text=True, check=check
    )
    return done.stdout


def commit(project: Root, message: str) -> None:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", message)


def alpaca(name: str) -> Dataset:
    return Dataset(format="alpaca", file_name=f"{name}.json")


@pytest.fixture
def project(tmp_path: Path) -> Root:
    """A repository with two datasets on `main`, on a branch `other`."""
    init(tmp_path)
    made = open_project(tmp_path)
    git(made, "init", "--quiet", "--initial-branch", "main")
    for name in ("base", "common"):
        add_dataset(made, name, alpaca(name))
    commit(made, "base")
    git(made, "checkout", "--quiet", "-b", "other")
    return made


def entries(project: Root) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(project.info_path.read_text())
    return found


def test_the_state_folder_is_not_tracked(project: Root) -> None:
    assert (project.root / ".dsreg").is_dir()
    assert ".dsreg" not in git(project, "ls-files") and not git(project, "status", "--porcelain")


@pytest.mark.parametrize("info_side", ["ours", "theirs"])
@pytest.mark.parametrize("lock_side", ["ours", "theirs", "markers", "deleted"])
def test_two_branches_that_each_added_a_dataset(project: Root, info_side: str, lock_side: str) -> None:
    add_dataset(project, "theirs", alpaca("theirs"))
    commit(project, "theirs")
    git(project, "checkout", "--quiet", "main")
    add_dataset(project, "ours", alpaca("ours"))
    commit(project, "ours")
    git(project, "merge", "other", check=False)

    with pytest.raises(RegistryError, match="git merge markers") as caught:
        sync(project)
    assert "keep either side" in caught.value.hint and "dsreg sync" in caught.value.hint

    git(project, "checkout", f"--{info_side}", "data/dataset_info.json")
    if lock_side in ("ours", "theirs"):
        git(project, "checkout", f"--{lock_side}", "dsreg.lock")
    elif lock_side == "deleted":
        project.lock_path.unlink()
    sync(project)
    assert set(entries(project)) == {"base", "common", "ours", "theirs"}
    assert set(read_lock(project).lock.datasets) == {"base", "common", "ours", "theirs"}
    assert not plan(project).drift and not read_lock(project).notices


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_one_branch_changed_and_the_other_removed_other_datasets(project: Root, side: str) -> None:
    remove_dataset(project, "base")
    add_dataset(project, "theirs", alpaca("theirs"))
    commit(project, "theirs")
    git(project, "checkout", "--quiet", "main")
    set_dataset(project, "common", Dataset(format="sharegpt", file_name="common.json"))
    add_dataset(project, "ours", alpaca("ours"))
    commit(project, "ours")
    git(project, "merge", "other", check=False)
    for path in ("data/dataset_info.json", "dsreg.lock"):
        git(project, "checkout", f"--{side}", path, check=False)
    sync(project)
    assert set(entries(project)) == {"common", "ours", "theirs"}
    assert entries(project)["common"] == {"file_name": "common.json", "formatting": "sharegpt"}
    assert not plan(project).drift


def test_an_older_lock_is_brought_up_to_date(project: Root) -> None:
    add_dataset(project, "new", alpaca("new"))
    git(project, "checkout", "main", "--", "dsreg.lock")
    sync(project)
    assert "new" in read_lock(project).lock.datasets
    assert not plan(project).drift


def test_a_pulled_toml_is_enough(project: Root) -> None:
    git(project, "checkout", "main")
    (project.registry_dir / "pulled.toml").write_text('format = "sharegpt"\nfile_name = "p.json"\n')
    commit(project, "only the TOML")
    sync(project)
    assert entries(project)["pulled"] == {"file_name": "p.json", "formatting": "sharegpt"}


def test_an_entry_edited_by_hand_on_another_branch_is_still_seen(project: Root) -> None:
    project.info_path.write_text(project.info_path.read_text().replace("base.json", "by hand.json"))
    commit(project, "by hand")
    git(project, "checkout", "--quiet", "main")
    add_dataset(project, "ours", alpaca("ours"))
    commit(project, "ours")
    git(project, "merge", "--quiet", "other")
    before = project.info_path.read_bytes()
    with pytest.raises(ConflictError, match=r"by hand\.json"):
        sync(project)
    assert project.info_path.read_bytes() == before
