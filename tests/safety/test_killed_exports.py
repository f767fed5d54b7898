"""Exports that are killed or interrupted, in real processes, at any moment."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsreg.scratch import scratch_folder
from tests.safety.conftest import TOML, contents, make_project, run_apart, run_forked, run_here, start, temps

KILLS = int(os.environ.get("DSREG_KILLS", "2"))
"""How many processes each test kills; more of them in a long run by hand."""
MEGABYTES = float(os.environ.get("DSREG_KILL_MB", "1"))
EXPORT = ["export", "rivers", "--target", "openai"]
OUTPUT = "exports/openai/rivers.jsonl"


def write_data(path: Path, word: str) -> None:
    line = json.dumps({"instruction": f"Name a {word}.", "output": word * 60})
    path.write_text(f"{line}\n" * int(MEGABYTES * 1e6 / len(line)))


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the export of old and of new data is."""
    found = {}
    for word in ("old", "new"):
        root = tmp_path_factory.mktemp(word) / "p"
        make_project(root)
        write_data(root / "data/rivers.jsonl", word)
        assert run_here("-C", str(root), "-q", *EXPORT).code == 0
        found[word] = (root / OUTPUT).read_bytes()
    return found


def duration(root: Path, *arguments: str) -> float:
    begin = time.monotonic()
    assert run_apart(root, *arguments).code == 0
    return time.monotonic() - begin


def end_at(root: Path, moment: float, sent: signal.Signals, *arguments: str) -> tuple[int, str]:
    process = start(root, *arguments)
    time.sleep(moment)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    return process.returncode, err.decode()


@pytest.mark.parametrize("first", ["", "old"])
def test_a_killed_export_is_whole_or_absent_and_is_simply_run_again(
    tmp_path: Path, sides: dict[str, bytes], first: str
) -> None:
    root, chance = tmp_path / "p", random.Random(6)
    make_project(root)
    if first:
        write_data(root / "data/rivers.jsonl", first)
        assert run_here("-C", str(root), "-q", *EXPORT).code == 0
    write_data(root / "data/rivers.jsonl", "new")
    shutil.copytree(root, tmp_path / "timed")
    whole = duration(tmp_path / "timed", *EXPORT)
    before = sides.get(first)
    for _ in range(KILLS):
        copy = tmp_path / "copy"
        shutil.copytree(root, copy)
        end_at(copy, chance.uniform(0.3 * whole, 1.1 * whole), signal.SIGKILL, *EXPORT)
        output = copy / OUTPUT
        found = output.read_bytes() if output.exists() else None
        assert found in (before, sides["new"])
        again = run_here("-C", str(copy), *EXPORT)
        assert again.code == 0, again
        assert output.read_bytes() == sides["new"] and not temps(copy)
        shutil.rmtree(copy)


def kill_at(call: str, at: int) -> Callable[[], None]:
    """Let this process die after its `at`-th call of the system, as by SIGKILL."""
    real, count = getattr(os, call), itertools.count(1)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        done = real(*args, **kwargs)
        if next(count) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return lambda: setattr(os, call, wrapped)


COMMANDS = {
    "descriptors": EXPORT,
    "rejects": ["export", "rivers", "--target", "hf-prompt-completion", "--skip-invalid"],
    "Parquet": ["export", "rivers", "--target", "verl-sft", "--skip-invalid"],
    "another place": [*EXPORT, "--skip-invalid", "-o", "../elsewhere/out.jsonl"],
}


def written(root: Path) -> dict[str, bytes]:
    """All files in and beside a project; rejects name their source by its path."""
    found = contents(root.parent)
    return {name: data.replace(os.fsencode(root), b"ROOT") for name, data in found.items()}


@pytest.mark.parametrize(("kind", "call"), [*((kind, "replace") for kind in COMMANDS), ("rejects", "fsync")])
def test_killed_after_each_rename_and_sync(project: Path, kind: str, call: str) -> None:
    """The moments that chance rarely meets: between the name of an output and the lock that says whose it is."""
    command = COMMANDS[kind]
    with (project / "data/rivers.jsonl").open("a") as file:
        file.write("{}\n" if "--skip-invalid" in command else "")
    whole = project.parent / "0" / "project"
    shutil.copytree(project, whole)
    assert run_forked(whole, *command) == 0
    for at in range(1, 99):
        copy = project.parent / str(at) / "project"
        shutil.copytree(project, copy)
        killed = run_forked(copy, *command, before=kill_at(call, at))
        if killed == 0:
            assert at > 3, "nothing was killed"
            return
        assert killed == -signal.SIGKILL
        assert run_forked(copy, *command) == 0, at
        assert written(copy) == written(whole) and not temps(copy.parent), at
    pytest.fail("the export never ended")


def test_what_a_person_made_of_a_killed_exports_output_is_not_overwritten(project: Path) -> None:
    run_forked(project, *EXPORT, before=kill_at("replace", 2))
    assert (project / OUTPUT).exists(), "killed after the output got its name"
    (project / OUTPUT).write_text("mine\n")
    done = run_here(*EXPORT)
    assert done.code == 2 and "no record of having written it like this" in done.err and "--force" in done.err
    assert (project / OUTPUT).read_text() == "mine\n"


@pytest.mark.parametrize("output", ["out.jsonl", "out.jsonl.gz", "out.parquet"])
def test_a_killed_conversion_is_whole_or_absent(project: Path, output: str) -> None:
    write_data(project / "data/rivers.jsonl", "new")
    command = ["convert", "data/rivers.jsonl", "--format", "alpaca", "--target", "openai", "-o", output]
    whole, chance = duration(project, *command), random.Random(7)
    expected = (project / output).read_bytes()
    for _ in range(max(KILLS // 4, 1)):
        (project / output).unlink()
        end_at(project, chance.uniform(0.5 * whole, 1.1 * whole), signal.SIGKILL, *command)
        if (project / output).exists():
            assert (project / output).read_bytes() == expected
        assert run_here(*command, "--force").code == 0
        assert (project / output).read_bytes() == expected and not temps(project)


def test_an_interrupt_leaves_nothing(project: Path) -> None:
    write_data(project / "data/rivers.jsonl", "new")
    whole, chance = duration(project, *EXPORT, "-o", "timed.jsonl"), random.Random(8)
    codes = set()
    for number in range(max(KILLS // 2, 3)):
        moment = chance.uniform(0.4 * whole, 0.95 * whole)
        code, err = end_at(project, moment, signal.SIGINT, *EXPORT, "-o", f"out{number}.jsonl")
        codes.add(code)
        assert not temps(project) and "Traceback" not in err, err
        out = project / f"out{number}.jsonl"
        assert not out.exists() or out.read_bytes() == (project / "timed.jsonl").read_bytes()
    assert codes <= {0, 130, -signal.SIGINT}, codes  # the last: Python was ending already


def test_leftovers_of_another_container_are_left_while_they_are_written(project: Path) -> None:
    """A process whose number means nothing here holds its file locked."""
    from dsreg.files import clean_leftovers, open_temp

    ours = project / ".dsreg-4194304-abcdef0.tmp"  # no process has this number
    descriptor = open_temp(ours)
    assert clean_leftovers(project) == []
    os.close(descriptor)
    assert clean_leftovers(project) == [ours]


def test_a_dead_process_of_the_same_number_is_no_obstacle(project: Path) -> None:
    """As in containers, where every process has the same number."""
    left = project / "exports/openai" / f".dsreg-{os.getpid()}-0123456789.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    assert run_here(*EXPORT).code == 0 and not left.exists()


def test_toml_is_as_it_was(project: Path) -> None:
    run_forked(project, *EXPORT, before=kill_at("replace", 1))
    assert (project / "registry/rivers.toml").read_text() == TOML


def test_what_a_killed_process_kept_aside_goes_with_the_next(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input and rows for standard output are kept in files first."""
    aside = project.parent / "tmp"
    aside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    (aside / "dsreg-scratch-foreign").mkdir()
    (aside / "dsreg-crash-1.txt").touch()
    command = ["convert", "data/rivers.jsonl", "--format", "alpaca", "--target", "openai"]
    assert run_forked(project, *command, before=kill_at("replace", 1)) == -signal.SIGKILL
    assert len(list(aside.iterdir())) == 3
    with scratch_folder() as living:
        assert run_here(*command).code == 0 and living.is_dir()
    assert {path.name for path in aside.iterdir()} == {"dsreg-scratch-foreign", "dsreg-crash-1.txt"}
