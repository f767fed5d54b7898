"""Input that is small to send and large to read: each ends in a clear error within the limits of SECURITY.md."""

from __future__ import annotations

import gzip
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsreg.formats import built_in
from tests.safety.conftest import REPOSITORY, ROW, Done, run_apart, run_here

LIMIT = 700 << 20
"""Bytes of memory that a command may use here, the interpreter and pyarrow included."""
CONVERT = ["convert", "bomb.jsonl", "--format", "alpaca", "--target", "openai", "-o", "out.jsonl"]
BOUNDED = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))"


def run_bounded(root: Path, *command: str) -> Done:
    done = run_apart(root, *command, before=BOUNDED)
    assert done.code in (0, 1, 2) and "Traceback" not in done.err, done
    assert "not enough memory" not in done.err, done
    return done


def long_line(size: int) -> Iterator[bytes]:
    yield b'{"instruction": "'
    for _ in range(size >> 20):
        yield b"x" * (1 << 20)
    yield b'", "output": "b"}\n'


def deep(text: str, depth: int) -> bytes:
    return (text * depth).encode()


GOOD = json.dumps(ROW).encode() + b"\n"
BOMBS: dict[str, tuple[bytes, str]] = {
    "deep lists": (b'{"instruction": ' + b"[" * 10**6, "reject"),
    "deep objects": (b'{"a":' * 10**6, "reject"),
    "deep array": (b"[" * 10**5, "the file ends inside the array"),
    "deep closed array": (b"[" * 10**4 + b"]" * 10**4, "reject"),
    "a huge integer": (b'{"instruction": "a", "output": "b", "n": ' + b"9" * 10**6 + b"}", "reject"),
    "a huge exponent": (b'{"instruction": "a", "output": "b", "n": 1e' + b"9" * 10**6 + b"}", "reject"),
    "many keys": (json.dumps({**ROW, **{f"k{i}": i for i in range(10**5)}}).encode(), "written"),
    "many keys twice": (b"{" + b'"output":"",' * 10**5 + b'"instruction":""}', "reject"),
    "many brackets in a text": (json.dumps({**ROW, "output": "[{" * 10**6}).encode(), "written"),
    "many backslashes": (b'{"instruction": "' + b"\\\\" * 10**6 + b'", "output": "b"}', "written"),
    "many lines without rows": (GOOD + b"\n" * 10**5 + GOOD, "2 read = 2 used"),
    "many other keys": (b"".join(b'{"instruction":"a","output":"b","k%d":1}\n' % i for i in range(5_000)), "written"),
    "many rejects": (b"{}\n" * 10**4, "10,000 of 10,000 rows rejected"),
    "many kinds of rejects": (GOOD + b"".join(b'{"a%d":\n' % i for i in range(5_000)), "rejected"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_in_a_row(project: Path, bomb: str) -> None:
    data, said = BOMBS[bomb]
    (project / "bomb.jsonl").write_bytes(data)
    begin = time.monotonic()
    done = run_here(*CONVERT)
    assert done.code in (0, 1, 2) and said in done.err, done
    assert len(done.err) < 5_000, "what is said has bounds as well"
    assert time.monotonic() - begin < 20
    commands = [["add", "x", "bomb.jsonl", "--format", "alpaca"], ["preview", "x", "--target", "openai"]]
    # what LlamaFactory does with so many columns takes Arrow as long as it takes LlamaFactory
    commands += [["check", "bomb.jsonl", "--format", "alpaca"]] if bomb not in ("many keys", "many other keys") else []
    for command in commands:
        done = run_here(*command)
        assert done.code in (0, 1, 2), done
        assert len(done.err + done.out) < 10_000, "what is said has bounds as well"


@pytest.mark.parametrize("container", ["jsonl", "json", "csv", "txt", "jsonl.gz", "jsonl.zst"])
def test_a_line_that_does_not_end(project: Path, container: str) -> None:
    """Seventy million bytes for one row, or a few thousand that unpack to them."""
    import zstandard

    path = project / f"bomb.{container}"
    start = {"json": b"[", "csv": b"instruction,output\n"}.get(container, b"")
    pieces = (start, *long_line(70 << 20))
    if container.endswith("zst"):
        path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(pieces)))
    elif container.endswith("gz"):
        path.write_bytes(gzip.compress(b"".join(pieces), 1))
    else:
        with path.open("wb") as file:
            file.writelines(pieces)
    done = run_bounded(project, "convert", path.name, "--format", "alpaca", "--target", "openai", "-o", "out.jsonl")
    assert done.code == 2 and "longer than 64 MiB" in done.err, done
    assert not (project / "out.jsonl").exists()


def test_a_small_file_that_unpacks_to_a_large_one(project: Path) -> None:
    """Rows come out of it one by one, and memory stays as it was; so does the account."""
    import zstandard

    row = json.dumps({**ROW, "output": "x" * 10**6}).encode() + b"\n"
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    with (project / "bomb.jsonl.zst").open("wb") as file:
        for _ in range(150):
            file.write(packer.compress(row))
        file.write(packer.flush())
    assert (project / "bomb.jsonl.zst").stat().st_size < 10**5
    done = run_bounded(project, "convert", "bomb.jsonl.zst", "--format", "alpaca", "--target", "openai", "--dry-run")
    assert done.code == 0 and "150 read = 150 used" in done.err


FILES: dict[str, tuple[str, bytes, str]] = {
    "deep dataset_info.json": ("data/dataset_info.json", b'{"a":' * 10**5, "nested too deeply"),
    "deep closed dataset_info.json": ("data/dataset_info.json", b'{"a":' * 5000 + b"1" + b"}" * 5000, "too deeply"),
    "a huge integer there": ("data/dataset_info.json", b'{"a": {"n": ' + b"9" * 10**5 + b"}}", "digit"),
    "deep TOML": ("registry/rivers.toml", b'format = "alpaca"\na = ' + b"[" * 10**5, "registry/rivers.toml"),
    "deep tables": ("registry/rivers.toml", b"[" + b"a." * 2000 + b"b]\n", "registry/rivers.toml"),
    "deep inline tables": ("registry/rivers.toml", b"a = " + b"{a=" * 10**4, "registry/rivers.toml"),
    "a huge integer in TOML": ("registry/rivers.toml", b"num_samples = " + b"9" * 10**5, "registry/rivers.toml"),
    "a large TOML": ("registry/rivers.toml", b"#" * (5 << 20), "larger than 4 MiB"),
    "deep settings": ("dsreg.toml", b"a = " + b"[" * 10**5, "dsreg.toml"),
    "a deep manifest": ("templates/formats/x/format.toml", b"a = " + b"[" * 10**5, "format.toml"),
    "a manifest with deep tables": ("templates/formats/x/format.toml", b"[" + b"a." * 2000 + b"b]\n", "format.toml"),
    "a deep template": ("chat.jinja", b"{{ " + b"(" * 10**5, "not a template"),
    "a large template": ("chat.jinja", b"x" * (2 << 20), "larger than 1 MiB"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bomb_in_the_registry(project: Path, case: str) -> None:
    name, data, said = FILES[case]
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_bytes(data)
    all_said = ""
    pretrain = ["export", "rivers", "--target", "pretrain", "--text-template", "chat.jinja"]
    begin = time.monotonic()
    for command in (["sync"], ["check"], ["list"], ["show", "rivers"], ["set", "rivers", "--ranking"], pretrain):
        done = run_here(*command)
        assert done.code in (0, 1, 2), (command, done)
        all_said += done.err + done.out
    assert said in all_said and len(all_said) < 20_000
    assert (project / name).read_bytes() == data, "what cannot be read is not written"
    assert time.monotonic() - begin < 20


NESTED = [("alpaca", "openai"), ("sharegpt", "nova-sft"), ("verl", "alpaca"), ("openai", "verl-sft")]


@pytest.mark.parametrize("depth", [450, 1010])
@pytest.mark.parametrize(("format", "target"), NESTED)
def test_values_as_deep_as_a_row_may_be(project: Path, format: str, target: str, depth: int) -> None:
    """Every column of a format, and one more, holds something deep: shown, checked and converted, or rejected."""
    example = built_in()[format].examples()[0]
    rows = [{**example, key: "DEEP"} for key in [*example, "more"]]
    texts = [json.dumps(row).replace('"DEEP"', '{"a":[' * (depth // 2) + "]}" * (depth // 2)) for row in rows]
    (project / "data/deep.jsonl").write_text("".join(f"{text}\n" for text in [json.dumps(example), *texts]))
    (project / "registry/deep.toml").write_text(f'format = "{format}"\nfile_name = "deep.jsonl"\n')
    show = ["preview", "deep", "-n", "9"]
    for command in (
        show,
        [*show, "--json"],
        [*show, "--full", "--target", target],
        [*show, "--target", target],
        ["check", "deep", "--target", target],
        ["export", "deep", "--target", target, "--skip-invalid"],
        ["add", "more", "data/deep.jsonl", "--format", format],
    ):
        done = run_here(*command)
        assert done.code in (0, 1, 2), (command, done)


def test_a_lock_that_is_a_bomb_is_made_anew(project: Path) -> None:
    for data in (b'{"datasets":' + b"[" * 10**5, b"{" * 10**5, b'{"version": ' + b"1" * 5000 + b"}"):
        (project / "dsreg.lock").write_bytes(data)
        assert run_here("sync").code == 0
        assert json.loads((project / "dsreg.lock").read_bytes())["version"] == 1


def test_a_registry_of_ten_thousand(project: Path) -> None:
    entries = {f"d{i:05}": {"file_name": "rivers.jsonl", "columns": {"prompt": "instruction"}} for i in range(10_000)}
    (project / "data/dataset_info.json").write_text(json.dumps(entries, indent=2))
    begin = time.monotonic()
    assert run_here("add", "--adopt", "d00000", "d09999").code in (0, 2)
    assert run_here("add", "new", "data/rivers.jsonl", "--format", "alpaca").code == 0
    assert run_here("remove", "-y", "new").code == 0
    assert time.monotonic() - begin < 15
    assert json.loads((project / "data/dataset_info.json").read_text())["d09999"] == entries["d09999"]


def test_memory_does_not_grow_with_rejects(project: Path) -> None:
    """Many rejects with much in each: they are counted, written, and not kept."""
    row = json.dumps({"a": "x" * 10_000})
    with (project / "bomb.jsonl").open("w") as file:
        file.write(GOOD.decode())
        file.writelines(f"{row}\n" for _ in range(10_000))
    code = "import resource\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    done = run_apart(project, *CONVERT, "--skip-invalid", before=code + AT_END)
    assert done.code == 0 and "10,000 rejected" in done.err
    grown = int(done.err.rsplit("grown ", 1)[1])
    assert grown < 95_000, f"{grown} KB"  # the rows have 100 MB; modules and buffers need some


AT_END = """
import atexit
atexit.register(lambda: print("grown", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr))
"""


def test_the_limits_are_those_that_are_documented() -> None:
    from dsreg.info import INFO_LIMIT
    from dsreg.project import TOML_LIMIT
    from dsreg.rows.source import MAX_ROW
    from dsreg.text_template import TEMPLATE_LIMIT

    text = (REPOSITORY / "SECURITY.md").read_text("utf-8")
    for limit in (MAX_ROW, TOML_LIMIT, INFO_LIMIT, TEMPLATE_LIMIT):
        assert f"{limit >> 20} MiB" in text
    assert f"{sys.get_int_max_str_digits():,} digits" in text
    assert resource.RLIM_INFINITY  # the other limits are those of the tests above
