"""Commands that are killed, refused by the system, or run at the same time."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dsreg import derived
from dsreg.errors import ConflictError, OutputError
from dsreg.files import atomic_write, project_lock, unified_diff
from dsreg.lock import read_lock
from dsreg.model import Dataset
from dsreg.project import Root, open_project
from dsreg.registry import load_all
from dsreg.sync import add_dataset, init, plan, remove_dataset, rename_dataset, set_dataset, sync

MakeProject = Callable[[Path], Root]
REPOSITORY = Path(__file__).resolve().parents[2]
COPY = Dataset(format="verl", file_name="a.json", llamafactory="copy", targets=["t"])


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it on the way out."""


def alpaca(file_name: str) -> Dataset:
    return Dataset(format="alpaca", file_name=file_name, targets=["t"])


def set_twice(project: Root) -> None:
    set_dataset(project, "a", alpaca("first.json"))
    set_dataset(project, "a", alpaca("second.json"))


COMMANDS: dict[str, Callable[[Root], object]] = {
    "add": lambda project: add_dataset(project, "n", alpaca("n.json")),
    "set": lambda project: set_dataset(project, "a", alpaca("new.json")),
    "set twice": set_twice,
    "set to a copy": lambda project: set_dataset(project, "a", COPY),
    "set without generated files": lambda project: set_dataset(project, "a", Dataset(format="alpaca")),
    "rename": lambda project: rename_dataset(project, "a", "z"),
    "remove": lambda project: remove_dataset(project, "a"),
    "init": lambda project: init(project.root),
    "sync": sync,
}
CALLS = ("replace", "fsync", "unlink")


def wanted_files(project: Root, name: str, dataset: Dataset, _: object) -> list[derived.Wanted]:
    """Datasets with targets have a converter that says what it was made from."""
    content = f"{name} {dataset.file_name}\n".encode()
    return [derived.Wanted(f"converters/{name}.py", lambda: content)] if dataset.targets else []


@pytest.fixture(autouse=True)
def generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "wanted_files", wanted_files)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of two datasets, in sync, to be copied."""
    root = tmp_path_factory.mktemp("template") / "p"
    with pytest.MonkeyPatch.context() as context:
        context.setattr(derived, "wanted_files", wanted_files)
        build(root)
    return root


@pytest.fixture
def make_project(template: Path) -> MakeProject:
    """Copy the template to a folder."""

    def make(root: Path) -> Root:
        shutil.copytree(template, root)
        return open_project(root)

    return make


def build(root: Path) -> None:
    (root / "registry").mkdir(parents=True)
    (root / "data").mkdir()
    info = '{\n  "//": "mine",\n  "loose": { "file_name": "l.json" }\n}\n'
    (root / "data/dataset_info.json").write_text(info)
    project = open_project(root)
    add_dataset(project, "a", alpaca("a.json"))
    add_dataset(project, "b", alpaca("b.json"))


class Faults:
    """Counts calls of the system that matter and fails at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
        self.calls, self.at, self.error = 0, 0, error
        for name in CALLS:
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self.at:
                raise self.error
            return None if self.at and self.calls > self.at else real(*args, **kwargs)

        return call

    def arm(self, at: int) -> None:
        """Fail at this call and, like a dead process, do nothing after it; 0 lets everything pass."""
        self.calls, self.at = 0, at


def check_whole(project: Root) -> None:
    """Every file is one that some command meant to write."""
    json.loads(project.info_path.read_text())
    json.loads(project.lock_path.read_text())
    assert not load_all(project).problems


def check_complete(project: Root) -> None:
    """After the next sync everything agrees with the registry, and nothing of a person's was touched."""
    sync(project)
    assert not plan(project).drift
    info = json.loads(project.info_path.read_text())
    datasets = load_all(project).datasets
    assert set(info) == {"//", "loose", *datasets} and info["//"] == "mine"
    temps = [path for path in project.root.rglob(".dsreg-*.tmp") if f"-{os.getpid()}-" not in path.name]
    assert not temps, "a dead process left its temporary files"
    wanted = {f"{name}.py" for name, found in datasets.items() if found.targets}
    assert {path.name for path in (project.root / "converters").glob("*.py")} == wanted
    assert set(read_lock(project).lock.datasets) == set(datasets)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_killed_at_any_write_is_completed_by_the_next_sync(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, command: Callable[[Root], object]
) -> None:
    faults = Faults(monkeypatch, Killed())
    at = 0
    while True:
        at += 1
        project = make_project(tmp_path / str(at))
        if command is sync:
            (project.registry_dir / "a.toml").write_text(
                'format = "alpaca"\nfile_name = "by hand.json"\ntargets = ["t"]\n'
            )
        faults.arm(at)
        try:
            command(project)
        except Killed:
            pass
        else:
            assert at > 3, "no write was interrupted"
            faults.arm(0)
            check_complete(project)
            return
        faults.arm(0)
        check_whole(project)
        check_complete(project)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO, errno.EROFS])
def test_what_the_system_refuses_is_an_error_with_a_reason(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    faults = Faults(monkeypatch, OSError(code, os.strerror(code)))
    for at in range(1, 12):
        project = make_project(tmp_path / str(at))
        faults.arm(at)
        with pytest.raises(OutputError, match="cannot write") as caught:
            set_dataset(project, "a", alpaca("new.json"))
        faults.arm(0)
        assert caught.value.where
        check_whole(project)
        check_complete(project)


def test_a_hand_edit_after_a_kill_is_still_a_conflict(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "p")
    faults = Faults(monkeypatch, Killed())
    faults.arm(6)
    with pytest.raises(Killed):
        set_dataset(project, "a", alpaca("new.json"))
    faults.arm(0)
    info = json.loads(project.info_path.read_text())
    project.info_path.write_text(json.dumps({**info, "a": {"file_name": "by hand"}}))
    with pytest.raises(ConflictError):
        sync(project)


def test_a_killed_command_leaves_its_work_to_a_command_for_another_dataset(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(1, 40):
        project = make_project(tmp_path / str(at))
        with monkeypatch.context() as context:
            faults = Faults(context, Killed())
            faults.arm(at)
            try:
                set_dataset(project, "a", alpaca("new.json"))
            except Killed:
                pass
            else:
                return
        set_dataset(project, "b", alpaca("other.json"))
        set_dataset(project, "a", alpaca("third.json"))
        check_complete(project)
    pytest.fail("the command never ended")


def test_a_file_that_changes_while_dsreg_runs_is_not_overwritten(tmp_path: Path, make_project: MakeProject) -> None:
    from dsreg.sync import apply

    project = make_project(tmp_path / "p")
    (project.registry_dir / "a.toml").write_text('format = "alpaca"\n')
    made = plan(project)
    project.info_path.write_text(project.info_path.read_text() + "\n")
    with pytest.raises(ConflictError, match="while dsreg was running"):
        apply(made)


def test_leftovers_of_dead_processes_are_cleaned(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project(tmp_path / "p")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, alive = (project.registry_dir / f".dsreg-{pid}-0.tmp" for pid in (process.pid, os.getppid()))
    dead.write_text("half")
    alive.write_text("half")
    sync(project)
    assert not dead.exists() and alive.exists()


def test_the_lock_of_a_living_process_is_named(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project(tmp_path / "p")
    code = f"import sys, time; sys.path.insert(0, {str(REPOSITORY)!r})\nfrom pathlib import Path\n"
    code += "from dsreg.files import project_lock\n"
    code += f"with project_lock(Path({str(project.root)!r})): print('held', flush=True); time.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(OutputError, match=f"process {process.pid}"), project_lock(project.root, timeout=0.1):
            pass
        process.kill()
    with project_lock(project.root, timeout=5):
        pass


def test_a_write_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o604)
    atomic_write(path, b"new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o604
    assert [found.name for found in tmp_path.iterdir()] == ["f"]


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_read_only_folder_is_an_error(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project(tmp_path / "p")
    project.registry_dir.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="no permission"):
            add_dataset(project, "n", alpaca("n.json"))
    finally:
        project.registry_dir.chmod(0o700)


@pytest.mark.parametrize(
    "old, new",
    [
        (b"a\nb\n", b"a\nc\n"),
        (None, b"a"),
        (b"a", None),
        (b"a\r\n", b"a\n"),
        (b"x\n" * 50 + b"y\n", b"x\n" * 50 + b"z\n"),
    ],
)
def test_a_diff_is_one_that_git_applies(tmp_path: Path, old: bytes | None, new: bytes | None) -> None:
    if old is not None:
        (tmp_path / "f").write_bytes(old)
    diff = unified_diff(old, new, "f")
    subprocess.run(["git", "apply", "--whitespace=nowarn"], cwd=tmp_path, input=diff.encode(), check=True)
    assert ((tmp_path / "f").read_bytes() if new is not None else None) == new


WORKER = """
import sys
sys.path.insert(0, {repository!r})
from pathlib import Path
from dsreg.model import Dataset
from dsreg.project import open_project
from dsreg.sync import add_dataset, remove_dataset, rename_dataset, set_dataset
project = open_project(Path({root!r}))
print("ready", flush=True)
worker, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    name = f"w{{worker}}_{{number}}"
    add_dataset(project, name, Dataset(format="alpaca", file_name=name + ".json"))
    if len(sys.argv) > 3:
        set_dataset(project, name, Dataset(format="sharegpt", file_name="x.json"))
        rename_dataset(project, name, name + "_new")
        if number % 2:
            remove_dataset(project, name + "_new")
"""


def start_worker(project: Root, *args: str) -> subprocess.Popen[bytes]:
    code = WORKER.format(repository=str(REPOSITORY), root=str(project.root))
    return subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def poll(project: Root, processes: list[subprocess.Popen[bytes]]) -> Iterator[dict[str, Any]]:
    """What a reader sees of dataset_info.json while the processes run."""
    while any(process.poll() is None for process in processes):
        yield json.loads(project.info_path.read_text())
        time.sleep(0.005)


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project(tmp_path / "p")
    processes = [start_worker(project, str(number), "10") for number in range(6)]
    seen = [len(info) for info in poll(project, processes)]
    assert [process.communicate()[1] for process in processes] == [b""] * 6
    assert seen == sorted(seen)
    assert len(json.loads(project.info_path.read_text())) == 4 + 60
    assert len(read_lock(project).lock.datasets) == len(load_all(project).datasets) == 2 + 60
    assert not plan(project, [name for name in load_all(project).datasets if name not in "ab"]).drift


def test_processes_killed_at_random_leave_nothing_that_sync_cannot_complete(
    tmp_path: Path, make_project: MakeProject
) -> None:
    project = make_project(tmp_path / "p")
    chance = random.Random(6)
    for number in range(8):
        process = start_worker(project, str(number), "1000", "all")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        check_whole(project)
        check_complete(project)
