"""Links and paths in a stranger's project: nothing outside is written or deleted, only regular files are read."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.conftest import ROW, TOML, contents, run_forked, run_here, write_rows

Trap = Callable[[Path, Path], None]
EXPORT = ["export", "rivers", "--target", "openai"]


def moved_out(name: str) -> Trap:
    """A file or folder of the project lies outside, and a link stands in its place."""

    def make(root: Path, away: Path) -> None:
        shutil.move(root / name, away / "real")
        (root / name).symlink_to(away / "real")

    return make


def linked(name: str, target: str = "victim") -> Trap:
    """A link to a file outside stands where dsreg may want to write."""

    def make(root: Path, away: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(away / target)

    return make


def folder(name: str) -> Trap:
    """A folder that dsreg makes is a link to one outside."""

    def make(root: Path, away: Path) -> None:
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(away)

    return make


TRAPS: dict[str, Trap] = {
    "registry": moved_out("registry"),
    "a TOML": moved_out("registry/rivers.toml"),
    "a new TOML": linked("registry/more.toml", "none"),
    "data": moved_out("data"),
    "dataset_info.json": moved_out("data/dataset_info.json"),
    "dataset_info.json to nothing": linked("data/dataset_info.json", "none"),
    "the lock": moved_out("dsreg.lock"),
    "state": folder(".dsreg"),
    "state: lock": linked(".dsreg/lock"),
    "state: owner": linked(".dsreg/owner"),
    "state: pending": linked(".dsreg/pending.json"),
    "state: cache": linked(".dsreg/cache.json"),
    "state: exports": linked(".dsreg/exports.json"),
    "state: ignore": linked(".dsreg/.gitignore", "none"),
    "converters": folder("converters"),
    "a converter": linked("converters/rivers_to_openai.py"),
    "descriptors": folder("descriptors"),
    "copies": folder("data/converted"),
    "a copy": linked("data/converted/rivers.json"),
    "exports": folder("exports"),
    "exports of a target": folder("exports/openai"),
    "an export": linked("exports/openai/rivers.jsonl"),
    "a new export": linked("exports/openai/rivers.jsonl", "none"),
    "rejects": linked("exports/openai/rivers.jsonl.rejects.jsonl"),
    "new rejects": linked("exports/openai/rivers.jsonl.rejects.jsonl", "none"),
    "a descriptor": linked("exports/openai/rivers.trl.yaml"),
    "a new descriptor": linked("exports/openai/rivers.trl.yaml", "none"),
}
COMMANDS = [
    ["sync", "--force", "--accept", "registry"],
    ["add", "more", "data/rivers.jsonl", "--target", "openai"],
    ["set", "rivers", "--copy", "--target", "openai"],
    ["rename", "rivers", "streams"],
    ["remove", "-y", "rivers"],
    ["check", "--fix"],
    EXPORT,
    [*EXPORT, "--force", "--skip-invalid"],
]


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_nothing_outside_is_written_or_deleted(project: Path, trap: Trap) -> None:
    away = project.parent / "away"
    away.mkdir()
    (away / "victim").write_text('{"source":"mine"}\n')
    (away / ".dsreg-4194304-0.tmp").write_text("looks like a leftover")
    run_here("set", "rivers", "--target", "openai")
    trap(project, away)
    before = contents(away)
    kept = project.parent / "kept"
    shutil.copytree(project, kept, symlinks=True)
    for command in COMMANDS:
        done = run_here(*command)
        assert done.code in (0, 1, 2) and "Traceback" not in done.err, (command, done)
        assert contents(away) == before, (command, done)
        shutil.rmtree(project)
        shutil.copytree(kept, project, symlinks=True)
        os.chdir(project)


def test_links_inside_are_written_through(project: Path) -> None:
    (project / "store").mkdir()
    for name in ("registry/rivers.toml", "data/dataset_info.json", "dsreg.lock"):
        real = project / "store" / Path(name).name
        shutil.move(project / name, real)
        real.chmod(0o640)
        (project / name).symlink_to(real)
    assert run_here("set", "rivers", "--ranking").code == 0
    assert run_here(*EXPORT).code == 0
    for name, word in (("rivers.toml", "ranking"), ("dataset_info.json", "ranking"), ("dsreg.lock", "exports/openai")):
        real = project / "store" / name
        assert word in real.read_text() and real.stat().st_mode & 0o777 == 0o640
    assert (project / "registry/rivers.toml").is_symlink() and (project / "dsreg.lock").is_symlink()


SETTINGS = ['data_dir = ".."', 'data_dir = "/tmp"', 'data_dir = "data/../../away"', 'data_dir = "link"']


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_data_folder_outside_is_refused(project: Path, settings: str) -> None:
    (project.parent / "away").mkdir()
    (project / "link").symlink_to(project.parent / "away")
    (project / "dsreg.toml").write_text(f"{settings}\n")
    for command in COMMANDS:
        done = run_here(*command)
        assert done.code == 2 and "outside the project" in done.err, done


OUTSIDE = ["../../away/secret.jsonl", "{away}/secret.jsonl", "link.jsonl", "../../away"]


@pytest.mark.parametrize("file_name", OUTSIDE)
def test_data_outside_is_read_only_and_reported(project: Path, file_name: str) -> None:
    away = project.parent / "away"
    away.mkdir()
    write_rows(away / "secret.jsonl", [ROW])
    (project / "data/link.jsonl").symlink_to(away / "secret.jsonl")
    name = file_name.format(away=away)
    (project / "registry/rivers.toml").write_text(TOML.replace("rivers.jsonl", name))
    before = contents(away)
    for command in (["sync"], ["set", "rivers", "--copy"], EXPORT, ["preview", "rivers"], ["show", "rivers"]):
        assert run_here(*command).code == 0, command
        assert contents(away) == before
    assert run_here("rename", "rivers", "streams").code == 0 and run_here("remove", "-y", "streams").code == 0
    assert contents(away) == before


@pytest.mark.parametrize("file_name", OUTSIDE[:2])
def test_check_reports_data_outside(project: Path, file_name: str) -> None:
    away = project.parent / "away"
    away.mkdir()
    write_rows(away / "secret.jsonl", [ROW])
    (project / "registry/rivers.toml").write_text(TOML.replace("rivers.jsonl", file_name.format(away=away)))
    done = run_here("check", "rivers")
    assert "the folder cannot be moved alone" in done.out, done


def test_a_lock_of_a_stranger_makes_nothing_outside_go(project: Path) -> None:
    """Generated files that nothing asks for are deleted: not where a lock says they are outside."""
    import hashlib

    victim = project.parent / "victim"
    victim.write_text("mine")
    lock = json.loads((project / "dsreg.lock").read_text())
    for path in (str(victim), "../victim", "data/../../victim"):
        lock["datasets"]["gone"] = {"files": {path: hashlib.sha256(b"mine").hexdigest()}}
        (project / "dsreg.lock").write_text(json.dumps(lock))
        done = run_here("sync", "--force")
        assert victim.exists() and done.code == 2 and "outside the project" in done.err, done


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
}
PRETRAIN = ["export", "rivers", "--target", "pretrain", "--text-template", "template.jinja"]
READ = {
    "data/rivers.jsonl": [["show", "rivers"], ["sync"], ["check"], EXPORT],
    "registry/rivers.toml": [["list"], ["sync"], ["check"], ["remove", "-y", "rivers"]],
    "data/dataset_info.json": [["sync"], ["check"], ["add", "more", "data/rivers.jsonl"]],
    "dsreg.lock": [["sync"], ["check"], EXPORT],
    "dsreg.toml": [["list"]],
    "template.jinja": [PRETRAIN],
    "train.yaml": [["remove", "-y", "rivers"]],
    "templates/formats/own/format.toml": [["formats", "list"], EXPORT],
    "templates/formats/own/reader.py": [["formats", "list"], EXPORT],
}


@pytest.mark.parametrize("place", READ)
@pytest.mark.parametrize("special", SPECIAL)
def test_only_regular_files_are_read(project: Path, place: str, special: str) -> None:
    """None of these commands waits for a pipe's writer or reads a device to no end."""
    path = project / place
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    SPECIAL[special](path)
    said = project.parent / "said"
    for command in READ[place]:
        code = run_forked(project, *command, said=said, before=give_up)
        assert code in (0, 1, 2) and "Traceback" not in said.read_text(), (command, code, said.read_text())


def give_up() -> None:
    """End the process that waits or reads for too long."""
    signal.alarm(20)
