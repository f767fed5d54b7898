"""Outputs that would destroy something, and a system that refuses."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.safety.conftest import ROW, Dsreg, contents, run_apart, run_forked, run_here, temps, write_rows

EXPORT = ["export", "rivers", "--target", "openai"]
CONVERT = ["convert", "data/rivers.jsonl", "--format", "alpaca", "--target", "openai"]
COMMANDS = {"export": EXPORT, "convert": CONVERT, "render": ["render", "rivers", "--target", "openai"]}


def foreign(path: Path) -> None:
    path.write_text("mine\n")


def linked_file(path: Path) -> None:
    (path.parent / "real").write_text("mine\n")
    path.symlink_to("real")


def linked_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def linked_folder(path: Path) -> None:
    (path.parent / "real").mkdir()
    path.symlink_to("real")


def linked_input(path: Path) -> None:
    path.symlink_to("data/rivers.jsonl")


def hard_linked_input(path: Path) -> None:
    path.hardlink_to(path.parent / "data/rivers.jsonl")


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


# what stands at the output, what is said, whether --force overwrites it
PLACES: dict[str, tuple[Callable[[Path], None], str, bool]] = {
    "another file": (foreign, "no record of having written it", True),
    "an empty file": (Path.touch, "no record of having written it", True),
    "a link to another file": (linked_file, "no record of having written it", True),
    "a link to nothing": (linked_nowhere, "a symbolic link to a file that is not there", True),
    "a link to a folder": (linked_folder, "is a folder", False),
    "a link to the input": (linked_input, "is the (input itself|data of rivers)", False),
    "the input under another name": (hard_linked_input, "is the (input itself|data of rivers)", False),
    "a device": (device, "not a regular file", False),
    "a pipe": (os.mkfifo, "not a regular file", False),
}
FOLLOWED = {"a link to another file": "real", "a link to nothing": "nowhere"}  # what is written in place of a link
FITS = ("export", "a link to a folder")  # -o may name a folder there


@pytest.mark.parametrize(
    ("command", "place"), [(command, place) for command in COMMANDS for place in PLACES if (command, place) != FITS]
)
def test_an_output_that_would_destroy_something(project: Path, place: str, command: str) -> None:
    make, message, forced = PLACES[place]
    make(project / "out.jsonl")
    before = contents(project)
    done = run_here(*COMMANDS[command], "-o", "out.jsonl")
    assert done.code == 2 and re.search(message, done.err), done
    assert contents(project) == before and "Traceback" not in done.err
    done = run_here(*COMMANDS[command], "-o", "out.jsonl", "--force")
    assert done.code == (0 if forced else 2), done
    assert (project / "data/rivers.jsonl").read_bytes() == before["data/rivers.jsonl"]
    after = contents(project)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    descriptors = {name for name in changed - before.keys() if name.startswith("out.") and name != "out.jsonl"}
    assert changed - descriptors - {"dsreg.lock"} == ({FOLLOWED.get(place, "out.jsonl")} if forced else set())
    assert forced or not changed
    assert not temps(project)


@pytest.mark.parametrize("command", [EXPORT, CONVERT], ids=["export", "convert"])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (foreign, "another file"),
        (Path.mkdir, "is a folder"),
        (linked_file, "a symbolic link"),
        (linked_nowhere, "a symbolic link"),
        (os.mkfifo, "not a regular file"),
    ],
)
def test_rejects_that_would_destroy_something(
    project: Path, make: Callable[[Path], None], message: str, command: list[str]
) -> None:
    make(project / "out.jsonl.rejects.jsonl")
    before = contents(project)
    for more in ([], ["--force"]):
        done = run_here(*command, "-o", "out.jsonl", "--skip-invalid", *more)
        assert (done.code, message in done.err) == (2, True), done
        assert contents(project) == before
    assert run_here(*command, "-o", "out.jsonl").code == 0, "without rejects there is nothing to destroy"


def test_rejects_are_not_written_over_the_rejects_that_are_read(project: Path) -> None:
    write_rows(project / "out.jsonl.rejects.jsonl", [{"source": "", **ROW}])
    command = ["convert", "out.jsonl.rejects.jsonl", "--format", "alpaca", "--target", "openai"]
    done = run_here(*command, "-o", "out.jsonl", "--skip-invalid", "--force")
    assert done.code == 2 and "is the input itself" in done.err
    assert (project / "out.jsonl.rejects.jsonl").exists()


def test_an_export_is_known_from_any_folder_and_under_any_path(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "sub").mkdir()
    assert run_here(*EXPORT, "-o", "sub/out.jsonl").code == 0
    monkeypatch.chdir(project / "sub")
    assert run_here(*EXPORT, "-o", "out.jsonl").code == 0
    assert run_here(*EXPORT, "-o", str(project / "sub" / "out.jsonl")).code == 0
    (project.parent / "link").symlink_to(project)
    assert run_here(*EXPORT, "-o", str(project.parent / "link/sub/out.jsonl")).code == 0
    assert run_here(*EXPORT, "-o", str(project.parent / "away.jsonl")).code == 0
    assert run_here(*EXPORT, "-o", str(project.parent / "away.jsonl")).code == 0
    lock = (project / "dsreg.lock").read_text()
    assert "sub/out.jsonl" in lock and str(project.parent) not in lock, "paths of this machine are not shared"


def test_a_changed_export_is_not_overwritten(dsreg: Dsreg, project: Path) -> None:
    assert dsreg(*EXPORT).code == 0
    output = project / "exports/openai/rivers.jsonl"
    output.write_text("edited\n")
    assert dsreg(*EXPORT).code == 2 and output.read_text() == "edited\n"
    assert dsreg(*EXPORT, "--force").code == 0 and output.read_text() != "edited\n"
    assert dsreg(*EXPORT).code == 0


def limit_files(size: int) -> Callable[[], None]:
    """Let no file grow beyond this many bytes: a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


STATE = [
    ["add", "more", "data/rivers.jsonl"],
    ["set", "rivers", "--ranking"],
    ["rename", "rivers", "streams"],
    ["remove", "-y", "rivers"],
    ["sync"],
    [*EXPORT, "--force"],
    [*EXPORT, "--option", "container=parquet"],
    [*EXPORT, "-o", "out.json.gz"],
    [*CONVERT, "-o", "out.jsonl.zst"],
    CONVERT,
]


def prepare(project: Path) -> None:
    """Enough to do for every command: a change for sync, much data."""
    write_rows(project / "data/rivers.jsonl", [{**ROW, "output": os.urandom(50).hex()} for _ in range(3000)])
    (project / "registry/other.toml").write_text('format = "alpaca"\nfile_name = "rivers.jsonl"\n')


@pytest.mark.parametrize("command", STATE, ids=" ".join)
def test_a_disk_that_is_full(project: Path, command: list[str]) -> None:
    prepare(project)
    before = contents(project)
    for size in (0, 300):
        out = project.parent / "said"
        code = run_forked(project, *command, before=limit_files(size), said=out)
        assert code == 2 or (size and command[0] in ("rename", "remove")), "those write little"
        assert "Traceback" not in out.read_text() and (code == 0 or "too large" in out.read_text().lower())
        after = contents(project)
        for name, data in before.items() if code else ():
            assert after.get(name, data) == data or name.startswith(("registry/", "data/dataset_info")), name
        assert not temps(project)
    assert run_here("sync").code == 0, "completes what was begun"
    assert run_here("sync", "--check").code == 0
    assert run_here(*command).code == 0 or command[0] in ("add", "rename", "remove"), "which may be done by now"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 KB."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(mount)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_disk_that_really_is_full(project: Path, small_disk: Path) -> None:
    prepare(project)
    done = run_here(*EXPORT, "-o", str(small_disk / "out.jsonl"))
    assert done.code == 2 and "the disk is full" in done.err and "free some space" in done.err
    assert not list(small_disk.iterdir())


def as_nobody() -> None:
    if os.geteuid() == 0:
        os.setegid(65534)
        os.seteuid(65534)


@pytest.mark.parametrize("command", STATE[:-1], ids=" ".join)
def test_a_folder_that_may_not_be_written(project: Path, command: list[str]) -> None:
    prepare(project)
    for folder in [project, *(path for path in project.rglob("*") if path.is_dir())]:
        folder.chmod(0o555)
    for folder in project.parents:
        if folder.owner() == project.owner() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    before, out = contents(project), project.parent / "said"
    try:
        code = run_forked(project, *command, before=as_nobody, said=out)
    finally:
        for folder in [project, *(path for path in project.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
    said = out.read_text()
    assert code == 2 and "Traceback" not in said, said
    assert "no permission" in said.lower() or "permission denied" in said.lower(), said
    assert contents(project) == before


@pytest.mark.parametrize("target", ["openai", "hf-prompt-completion", "verl-sft"])
def test_data_that_vanishes_or_changes_while_it_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """At every time that the file is opened, it is gone, cut off, or another."""
    from dsreg.rows import source

    real, data = source.open_regular, project / "data/rivers.jsonl"
    whole = data.read_bytes()
    changes: list[Callable[[], object]] = [
        data.unlink,
        lambda: data.write_bytes(whole[:150]),
        lambda: data.write_bytes(b'{"instruction": {"a": 1}, "output": [1]}\n'),
        lambda: data.write_bytes(b"\x00\xff"),
        lambda: os.truncate(data, 0),
    ]
    for change in changes:
        for at in range(1, 9):
            count = 0

            def opened(path: Path, name: str = "", at: int = at, change: Callable[[], object] = change) -> object:
                nonlocal count
                count += 1
                if count == at:
                    change()
                return real(path, name)

            data.write_bytes(whole)
            monkeypatch.setattr(source, "open_regular", opened)
            done = run_here("export", "rivers", "--target", target, "--force")
            monkeypatch.setattr(source, "open_regular", real)
            assert done.code in (0, 1, 2) and not temps(project), done
            if count < at:
                break
        else:
            pytest.fail("the file was opened again and again")


def test_a_clock_that_goes_backwards(dsreg: Dsreg, project: Path) -> None:
    """What follows from data is made anew, whatever the times of the files say."""
    data, copy = project / "data/rivers.jsonl", project / "data/converted/rivers.json"
    assert dsreg("set", "rivers", "--copy").code == 0
    for year, word in ((2040, "Rhine"), (2001, "Rhone"), (1980, "Volga")):
        write_rows(data, [{**ROW, "output": word}])
        moment = (year - 1970) * 31_557_600
        os.utime(data, (moment, moment))
        assert dsreg("sync").code == 0 and word in copy.read_text()
        os.utime(copy, (moment, moment))
        write_rows(data, [{**ROW, "output": word[::-1]}])  # as many bytes, and the same time
        os.utime(data, (moment, moment))
        assert dsreg("sync").code == 0 and word[::-1] in copy.read_text()
        assert dsreg("sync", "--check").code == 0


def test_the_lock_of_a_dead_process_is_free(project: Path) -> None:
    holder = run_forked(project, "list", before=hold_and_die)
    assert holder == -signal.SIGKILL
    begin = time.monotonic()
    assert run_here("set", "rivers", "--ranking").code == 0
    assert time.monotonic() - begin < 5


def hold_and_die() -> None:
    from dsreg.files import project_lock

    with project_lock(Path.cwd()):
        os.kill(os.getpid(), signal.SIGKILL)


def test_no_process_leaves_files_for_the_next(project: Path) -> None:
    assert run_apart(project, *EXPORT).code == 0
    assert not temps(project)
    assert {path.name for path in (project / ".dsreg").iterdir()} <= {
        ".gitignore",
        "cache.json",
        "exports.json",
        "lock",
        "owner",
    }
