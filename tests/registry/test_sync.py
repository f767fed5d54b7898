from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dsreg import derived
from dsreg.errors import ConflictError, DataFileError, NotFoundError, OutputError, RegistryError, UsageError
from dsreg.exported import Exported
from dsreg.lock import read_lock
from dsreg.model import Dataset
from dsreg.project import Root, open_project
from dsreg.registry import load
from dsreg.sync import (
    Plan,
    add_dataset,
    adopt,
    init,
    plan,
    remove_dataset,
    rename_dataset,
    set_dataset,
    sync,
)

WriteProject = Callable[[dict[str, str]], Path]

TOML = 'format = "alpaca"\nfile_name = "a.json"\n'


def files_of(root: Path) -> dict[str, bytes]:
    """Everything in a project but its untracked state."""
    found = (path for path in root.rglob("*") if path.is_file() and ".dsreg" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def info_of(project: Root) -> Any:
    return json.loads(project.info_path.read_text())


def changed(made: Plan) -> list[str]:
    return [f"{change.verb} {change.shown}" for change in made.ordered()]


@pytest.fixture
def project(write_project: WriteProject) -> Root:
    """A project of two datasets, in sync."""
    files = {
        "registry/a.toml": TOML,
        "registry/b.toml": '# mine\nformat = "sharegpt"\nfile_name = "b.json"\n',
        "data/a.json": "[]",
        "data/b.json": "[]",
    }
    made = open_project(write_project(files))
    sync(made)
    return made


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files that every dataset with `targets` calls for: name and content, `{}` standing for the dataset."""
    wanted = {"converters/{}.py": b"code 1\n"}

    def wanted_files(project: Root, name: str, dataset: Dataset, _: object) -> list[derived.Wanted]:
        if not dataset.targets:
            return []
        return [derived.Wanted(path.format(name), partial(bytes, content)) for path, content in wanted.items()]

    monkeypatch.setattr(derived, "wanted_files", wanted_files)
    return wanted


def test_sync_writes_entries_and_lock_once(project: Root) -> None:
    assert info_of(project) == {"a": {"file_name": "a.json"}, "b": {"file_name": "b.json", "formatting": "sharegpt"}}
    before = files_of(project.root)
    assert set(before) == {
        "registry/a.toml",
        "registry/b.toml",
        "data/a.json",
        "data/b.json",
        "data/dataset_info.json",
        "dsreg.lock",
    }
    again = sync(project)
    assert not again.changes and not again.drift
    assert files_of(project.root) == before


def test_the_lock_is_one_line_a_dataset_and_the_same_everywhere(project: Root) -> None:
    text = project.lock_path.read_text()
    lines = [line.strip() for line in text.splitlines() if '"entry"' in line]
    assert [line[:4] for line in lines] == ['"a":', '"b":']
    project.lock_path.unlink()
    sync(project)
    assert project.lock_path.read_text() == text


def test_a_dry_run_writes_nothing_at_all(write_project: WriteProject) -> None:
    root = write_project({"registry/a.toml": TOML})
    project = open_project(root)
    made = sync(project, dry_run=True)
    add_dataset(project, "n", Dataset(format="alpaca", file_name="n.json"), dry_run=True)
    assert changed(made) == ["create data/dataset_info.json", "create dsreg.lock"]
    assert '+    "file_name": "a.json"' in made.diff()
    assert set(files_of(root)) == {"registry/a.toml"} and not (root / ".dsreg").exists()


def test_add_set_rename_remove(project: Root) -> None:
    add_dataset(project, "c", Dataset(format="alpaca", file_name="c.json"))
    assert list(info_of(project)) == ["a", "b", "c"]
    set_dataset(project, "b", Dataset(format="openai", file_name="b.json", columns={"messages": "messages"}))
    assert (project.registry_dir / "b.toml").read_text().startswith("# mine\n")
    assert info_of(project)["b"]["columns"] == {"messages": "messages"}
    assert changed(rename_dataset(project, "a", "z"))[0] == "rename registry/z.toml"
    assert list(info_of(project)) == ["z", "b", "c"]
    made = remove_dataset(project, "z")
    assert made.kept == ["data/a.json"] and (project.root / "data/a.json").exists()
    assert list(info_of(project)) == ["b", "c"]
    assert set(read_lock(project).lock.datasets) == {"b", "c"}
    assert not plan(project).drift


def test_adding_and_removing_leaves_every_byte(project: Root) -> None:
    project.info_path.write_bytes(b'{"//": "mine",\r\n\t"a" :{"file_name":"\\u0061.json" },\r\n\r\n"x":null}')
    sync(project)
    before = files_of(project.root)
    add_dataset(project, "c", Dataset(format="openai", file_name="c.json", columns={"messages": "m"}))
    assert files_of(project.root) != before
    remove_dataset(project, "c")
    assert files_of(project.root) == before


@pytest.mark.parametrize("name", ["a", "A", "x,y", " a", ""])
def test_a_name_that_is_taken_or_unfit_is_not_added(project: Root, name: str) -> None:
    before = files_of(project.root)
    with pytest.raises(UsageError):
        add_dataset(project, name, Dataset(format="alpaca"))
    with pytest.raises(UsageError):
        rename_dataset(project, "b", name)
    assert files_of(project.root) == before


def test_a_name_that_is_not_registered_is_not_found(project: Root) -> None:
    calls: list[Callable[[], Plan]] = [
        lambda: set_dataset(project, "aa", Dataset(format="alpaca")),
        lambda: remove_dataset(project, "aa"),
        lambda: rename_dataset(project, "aa", "c"),
        lambda: sync(project, ["aa"]),
    ]
    for call in calls:
        with pytest.raises(NotFoundError, match="no dataset 'aa'"):
            call()


def test_a_toml_deleted_by_hand_takes_its_entry_along(project: Root) -> None:
    (project.registry_dir / "a.toml").unlink()
    sync(project)
    assert list(info_of(project)) == ["b"]


def test_a_broken_toml_is_a_problem_and_its_entry_stays(project: Root) -> None:
    (project.registry_dir / "a.toml").write_text("format =")
    (project.registry_dir / "b.toml").write_text('format = "openai"\nfile_name = "c.json"\n')
    made = sync(project)
    assert made.drift and [problem.where for problem in made.problems] == ["registry/a.toml:1"]
    assert info_of(project)["a"] == {"file_name": "a.json"}
    assert info_of(project)["b"]["file_name"] == "c.json"


def edit_info(project: Root, name: str, entry: dict[str, Any]) -> None:
    project.info_path.write_text(json.dumps({**info_of(project), name: entry}, indent=2))


MINE = {"file_name": "a.json", "columns": {"prompt": "q"}, "note": 1}


def test_an_entry_changed_by_hand_is_a_conflict(project: Root) -> None:
    edit_info(project, "a", MINE)
    (project.registry_dir / "b.toml").write_text('format = "alpaca"\n')
    before = files_of(project.root)
    with pytest.raises(ConflictError) as caught:
        sync(project)
    assert '-  "note": 1' in str(caught.value) and "data/dataset_info.json:2" in str(caught.value)
    assert "--accept registry" in caught.value.hint and "--accept dataset_info" in caught.value.hint
    assert files_of(project.root) == before


@pytest.mark.parametrize("gone", [False, True])
def test_accepting_the_registry_overwrites_the_entry(project: Root, gone: bool) -> None:
    edit_info(project, "a", MINE)
    if gone:
        (project.registry_dir / "a.toml").unlink()
    sync(project, accept="registry")
    assert info_of(project).get("a") == (None if gone else {"file_name": "a.json"})
    assert not plan(project).drift


@pytest.mark.parametrize("gone", [False, True])
def test_accepting_dataset_info_takes_the_entry_into_the_registry(project: Root, gone: bool) -> None:
    path = project.registry_dir / "a.toml"
    path.write_text(TOML + "# why\n[card]\nlicense = 'MIT'\n[columns]\ncategory = 'topic'\n")
    sync(project)
    edit_info(project, "a", MINE)
    if gone:
        path.unlink()
    info = project.info_path.read_bytes()
    sync(project, accept="dataset_info")
    assert project.info_path.read_bytes() == info
    assert load(project, "a").extras == {"note": 1}
    if not gone:
        assert load(project, "a").card == {"license": "MIT"}
        assert load(project, "a").columns == {"category": "topic", "prompt": "q"}
        assert "# why" in path.read_text()
    assert not plan(project).drift


def test_accepting_keeps_the_format_where_it_gives_the_same_entry(project: Root) -> None:
    set_dataset(project, "b", Dataset(format="openai", file_name="b.json"))
    edit_info(project, "b", {"file_name": "b.json", "formatting": "sharegpt", "tags": {"role_tag": "role"}})
    sync(project, accept="dataset_info")
    assert load(project, "b").format == "openai"


def test_the_entry_of_a_copy_cannot_be_taken_over(project: Root, generated: dict[str, bytes]) -> None:
    set_dataset(project, "b", Dataset(format="verl", file_name="b.json", llamafactory="copy"))
    edit_info(project, "b", MINE)
    made = plan(project, accept="dataset_info")
    assert [problem.message for problem in made.problems] == [
        "the entry 'b' follows from a copy and cannot be taken over"
    ]


def test_a_change_by_hand_that_equals_the_registry_is_no_conflict(project: Root) -> None:
    (project.registry_dir / "a.toml").write_text('format = "alpaca"\nfile_name = "new.json"\n')
    edit_info(project, "a", {"file_name": "new.json"})
    sync(project)
    assert not plan(project).drift


@pytest.mark.parametrize("lock", [None, "", "garbage", "[]", '{"version": 1}', '{"datasets": 1}'])
def test_a_lost_lock_is_made_again(project: Root, lock: str | None) -> None:
    before = files_of(project.root)
    if lock is None:
        project.lock_path.unlink()
    else:
        project.lock_path.write_text(lock)
    sync(project)
    assert files_of(project.root) == before


def test_a_lock_of_a_newer_dsreg_is_left_alone(project: Root) -> None:
    project.lock_path.write_text('{"version": 2}')
    with pytest.raises(RegistryError, match="newer dsreg"):
        sync(project)


def test_a_registered_name_whose_entry_is_not_dsregs_is_a_conflict(project: Root) -> None:
    edit_info(project, "c", MINE)
    before = files_of(project.root)
    with pytest.raises(ConflictError, match="dsreg did not write it"):
        add_dataset(project, "c", Dataset(format="alpaca", file_name="c.json"))
    assert files_of(project.root) == before


def test_a_dataset_without_an_entry_leaves_a_foreign_one(project: Root) -> None:
    edit_info(project, "c", MINE)
    made = add_dataset(project, "c", Dataset(format="verl", file_name="c.parquet"))
    assert info_of(project)["c"] == MINE
    assert "DS164" in [notice.code for notice in made.notices]


def test_a_broken_dataset_info_is_never_rewritten(project: Root) -> None:
    project.info_path.write_text('{"a": {"file_name": "a.json",}}')
    before = files_of(project.root)
    calls: list[Callable[[], Plan]] = [
        lambda: sync(project, accept="registry", force=True),
        lambda: add_dataset(project, "c", Dataset(format="alpaca")),
        lambda: remove_dataset(project, "a"),
        lambda: init(project.root),
    ]
    for call in calls:
        with pytest.raises(RegistryError, match="a comma before a closing brace") as caught:
            call()
        assert caught.value.where == "data/dataset_info.json:1:29"
    assert files_of(project.root) == before


def test_generated_files_follow_the_dataset(project: Root, generated: dict[str, bytes]) -> None:
    set_dataset(project, "a", Dataset(format="alpaca", file_name="a.json", targets=["nova-sft"]))
    path = project.root / "converters/a.py"
    assert path.read_bytes() == b"code 1\n"
    generated["converters/{}.py"] = b"code 2\n"
    assert changed(sync(project)) == ["update converters/a.py", "update dsreg.lock"]
    path.unlink()
    sync(project)
    assert path.read_bytes() == b"code 2\n"
    rename_dataset(project, "a", "c")
    assert not path.exists() and (project.root / "converters/c.py").exists()
    remove_dataset(project, "c")
    assert not (project.root / "converters/c.py").exists()


def test_a_generated_file_changed_by_hand_is_a_conflict(project: Root, generated: dict[str, bytes]) -> None:
    set_dataset(project, "a", Dataset(format="alpaca", file_name="a.json", targets=["nova-sft"]))
    path = project.root / "converters/a.py"
    path.write_bytes(b"mine\n")
    before = files_of(project.root)
    calls: list[Callable[[], Plan]] = [
        lambda: sync(project),
        lambda: remove_dataset(project, "a"),
        lambda: rename_dataset(project, "a", "z"),
    ]
    for call in calls:
        with pytest.raises(ConflictError, match="-mine") as caught:
            call()
        assert "--force" in caught.value.hint
    assert files_of(project.root) == before
    sync(project, force=True)
    assert path.read_bytes() == b"code 1\n"


def test_a_file_that_dsreg_did_not_write_is_not_overwritten(project: Root, generated: dict[str, bytes]) -> None:
    (project.root / "converters").mkdir()
    (project.root / "converters/a.py").write_text("mine\n")
    with pytest.raises(ConflictError):
        set_dataset(project, "a", Dataset(format="alpaca", targets=["nova-sft"]))
    assert (project.registry_dir / "a.toml").read_text() == TOML


@pytest.mark.parametrize(
    "path", ["../out.py", "/tmp/out.py", "registry/a.toml", "dsreg.lock", "data/dataset_info.json"]
)
def test_a_generated_file_stays_in_its_place(project: Root, generated: dict[str, bytes], path: str) -> None:
    generated.clear()
    generated[path] = b"x"
    with pytest.raises(OutputError):
        set_dataset(project, "a", Dataset(format="alpaca", targets=["x"]))


def test_a_file_that_cannot_be_made_stops_no_other(project: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bytes:
        raise DataFileError("no data", where="data/a.json")

    monkeypatch.setattr(derived, "wanted_files", lambda *_: [derived.Wanted("copy.json", fail)])
    (project.registry_dir / "b.toml").write_text('format = "alpaca"\n')
    made = sync(project)
    assert [str(problem) for problem in made.problems] == ["data/a.json: no data"] * 2
    assert info_of(project)["b"] == {}


def test_an_unchanged_fingerprint_spares_the_making(project: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    key = "1"

    def content() -> bytes:
        made.append(key)
        return b"copy"

    monkeypatch.setattr(
        derived, "wanted_files", lambda _, name, *__: [derived.Wanted("copy.json", content, key)] if name == "a" else []
    )
    sync(project)
    sync(project)
    assert made == ["1"]
    key = "2"
    sync(project)
    (project.root / "copy.json").unlink()
    sync(project)
    assert made == ["1", "2", "2"]


def test_data_is_recorded_and_its_change_is_noticed(project: Root) -> None:
    record = read_lock(project).lock.datasets["a"].data
    assert record is not None and record.size == 2
    (project.data_dir / "a.json").write_text("[1]")
    made = plan(project)
    assert made.drift and "DS163" in [notice.code for notice in made.notices]
    sync(project)
    (project.data_dir / "a.json").unlink()
    gone = plan(project)
    assert not gone.drift and "DS162" in [notice.code for notice in gone.notices]


@pytest.mark.parametrize("file_name", ["", ".", "..", "../registry", "/dev/null", "/", "pipe", "a\0b", "x" * 5000])
def test_odd_data_paths_are_no_trouble(project: Root, file_name: str) -> None:
    os.mkfifo(project.data_dir / "pipe")
    add_dataset(project, "c", Dataset(format="alpaca", file_name=file_name))
    assert info_of(project)["c"]["file_name"] == file_name
    sync(project)
    assert not plan(project).drift


def test_a_linked_dataset_info_is_written_through_inside(project: Root) -> None:
    real = project.root / "store.json"
    project.info_path.rename(real)
    real.chmod(0o640)
    project.info_path.symlink_to(real)
    add_dataset(project, "c", Dataset(format="alpaca"))
    assert project.info_path.is_symlink() and "c" in json.loads(real.read_text())
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_link_that_leads_outside_is_refused(project: Root, tmp_path_factory: pytest.TempPathFactory) -> None:
    away = tmp_path_factory.mktemp("away") / "info.json"
    project.info_path.rename(away)
    project.info_path.symlink_to(away)
    before = away.read_bytes()
    with pytest.raises(OutputError, match="outside the project"):
        add_dataset(project, "c", Dataset(format="alpaca"))
    assert away.read_bytes() == before and not (project.registry_dir / "c.toml").exists()


CONFIGS = {
    "train.yaml": ("stage: sft\ndataset: keepme, old_one # both\n", 2),
    "list.yml": ("dataset:\n  - keepme\n  - 'old_one'\n", 3),
    "flow.yaml": ("eval_dataset: [keepme, old_one]\n", 1),
    "deep/run.json": ('{\n  "dataset": "old_one"\n}', 2),
}


def test_removing_names_the_configurations_that_still_use_it(project: Root) -> None:
    for name, (text, _) in CONFIGS.items():
        path = project.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (project.root / "other.yaml").write_text("dataset: old_one_b\n# dataset: old_one\nname: old_one\n")
    add_dataset(project, "old_one", Dataset(format="alpaca"))
    made = remove_dataset(project, "old_one")
    assert {use.path: use.line for use in made.uses} == {name: line for name, (_, line) in CONFIGS.items()}


def test_exports_are_remembered_and_stay(project: Root) -> None:
    path = project.root / "exports/kto/a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert not Exported(project).wrote(path)
    with Exported(project) as exported:
        exported.add(path, "a", "kto")
    assert Exported(project).wrote(path)
    rename_dataset(project, "a", "c")
    assert Exported(project).of("c") == ["exports/kto/a.jsonl"]
    assert remove_dataset(project, "c").kept == ["data/a.json", "exports/kto/a.jsonl"]
    path.write_text("changed")
    assert not Exported(project).wrote(path)


def test_exports_before_a_failure_stand_in_the_lock(project: Root) -> None:
    path = project.root / "exports/kto/a.jsonl"
    path.parent.mkdir(parents=True)
    exported = Exported(project)
    with pytest.raises(KeyboardInterrupt), exported:
        exported.note(path, b"{}")
        path.write_text("{}")
        exported.add(path, "a", "kto")
        assert Exported(project).wrote(path)  # known before the lock says so: the process may be killed here
        raise KeyboardInterrupt
    assert read_lock(project).lock.exports["exports/kto/a.jsonl"].dataset == "a"
    assert Exported(project).wrote(path)


def test_init_makes_an_empty_project(tmp_path: Path) -> None:
    init(tmp_path)
    assert (tmp_path / "registry").is_dir() and (tmp_path / "data").is_dir()
    assert not init(tmp_path).drift


def test_init_beside_a_dataset_info(write_project: WriteProject) -> None:
    root = write_project({"dataset_info.json": '{"a": {"file_name": "a.json"}}', "a.json": "[]"})
    init(root)
    project = open_project(root)
    assert project.data_dir == root and load(project, "a").file_name == "a.json"
    assert not plan(project).drift


def test_adopting_by_name(write_project: WriteProject) -> None:
    info = '{"//": "x", "a": {"file_name": "a"}, "b": {"file_name": "b"}, "n": {"x": null}, "B": {}}'
    project = open_project(write_project({"registry/": "", "data/dataset_info.json": info}))
    assert changed(adopt(project, ["a"])) == ["create registry/a.toml", "create dsreg.lock"]
    for name, error in (("n", RegistryError), ("//", RegistryError), ("zz", NotFoundError)):
        with pytest.raises(error):
            adopt(project, [name])
    made = adopt(project)
    assert set(made.unmanaged) == {"//", "n", "B"} and made.names == ["b"]
    assert project.info_path.read_text() == info


def test_real_registries_are_adopted_without_changing_a_byte(shared: Path, tmp_path: Path) -> None:
    adopted = 0
    for path in sorted((shared / "conformance/registries").glob("*.json")):
        root = tmp_path / path.stem
        (root / "data").mkdir(parents=True)
        info = root / "data/dataset_info.json"
        info.write_bytes(path.read_bytes())
        try:
            made = init(root)
        except RegistryError:
            assert not (root / "registry").exists()
        else:
            adopted += len(made.names)
            again = sync(open_project(root))
            assert not again.changes and not again.conflicts, path.name
        assert info.read_bytes() == path.read_bytes(), path.name
    assert adopted > 1800
