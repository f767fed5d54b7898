"""Several processes write and report what one does."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dsreg.errors import DataFileError, DsregError
from dsreg.export import export
from dsreg.formats import find_format
from dsreg.jobs import crew, quick, stretches
from dsreg.notes import Notes
from dsreg.rows import open_writer
from dsreg.runner import Choices, make_conversion
from dsreg.source import make_source
from tests.fast.test_same import KINDS, Kind, line

PORTABLE = Choices(strip=frozenset({"system"}))
"""With such a choice, all rows go the portable way."""
ALPACA, PAIRS, SHAREGPT = KINDS[0], KINDS[1], KINDS[3]
OPENAI = KINDS[6]


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "STRETCH", 20_000)


@pytest.fixture(params=["fork", "spawn"])
def method(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both ways to start a process."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


def outcome(
    kind: Kind, path: Path, target: str, jobs: int | None, *, choices: Choices | None = None, suffix: str = ".jsonl"
) -> dict[str, Any]:
    """All that an export in so many processes leaves behind: files, account and advice, or an error."""
    source = make_source("data", find_format(kind.format), [path], kind.columns, ranking=kind.task == "preference")
    made = make_conversion(source, find_format(target), choices or Choices())
    out = path.parent / f"out{suffix}"
    try:
        report = export(made, out, jobs=jobs, skip_invalid=True, ours=True, fast=True)
    except DsregError as error:
        # columns count from the block that a line begins in, or goes on in
        return {"error": (type(error), re.sub(r"column \d+", "column", error.message), error.where, error.hint)}
    tally, rejects = report.tally, report.rejects_path
    return {
        "rows": out.read_bytes().splitlines(),
        "rejects": rejects.read_bytes().splitlines() if rejects else [],
        "account": str(tally),
        "lost": tally.lost_extras,
        "notes": main_notes(tally.notes),
        "advice": report.advice,
        "left": sorted(each.name for each in path.parent.iterdir()),
    }


def main_notes(notes: Notes) -> Any:
    """The notes without the places of single words: each stretch notes its own first."""
    return {kind: (count, notes.first[kind]) for kind, count in notes.counts.items() if " at " not in kind}


def lines_of(kind: Kind, count: int = 2000, odd: float = 0.1) -> bytes:
    """Lines of plain rows, with others among them: changed, spoiled, blank."""
    random = Random(7)
    plain = json.dumps(kind.row).encode()
    return b"\n".join(line(random, kind) if random.random() < odd else plain for _ in range(count))


@pytest.mark.usefixtures("method")
@pytest.mark.parametrize(
    ("kind", "target"),
    [(ALPACA, "nova-sft"), (SHAREGPT, "sharegpt"), (PAIRS, "alpaca"), (PAIRS, "hf-preference"), (OPENAI, "verl-sft")],
    ids=lambda value: value if isinstance(value, str) else value.format,
)
def test_lines(kind: Kind, target: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(lines_of(kind))
    one = outcome(kind, path, target, 1)
    assert len(one["rejects"]) > 20
    assert outcome(kind, path, target, 2) == one


@pytest.mark.parametrize("odd", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_any_number_of_processes(jobs: int, odd: float, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(lines_of(SHAREGPT, odd=odd))
    assert outcome(SHAREGPT, path, "openai", jobs) == outcome(SHAREGPT, path, "openai", 1)


@pytest.mark.parametrize("choices", [Choices(strip=frozenset({"system"})), Choices(skip=frozenset({"multi_turn"}))])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".jsonl.gz"])
def test_choices_and_containers(choices: Choices, suffix: str, tmp_path: Path) -> None:
    """With such choices, all rows go the portable way."""
    path = tmp_path / "data.jsonl"
    path.write_bytes(lines_of(ALPACA))
    one = outcome(ALPACA, path, "nova-sft", 1, choices=choices, suffix=suffix)
    assert outcome(ALPACA, path, "nova-sft", 2, choices=choices, suffix=suffix) == one


def test_rows_that_take_turns_in_going_the_portable_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes even where texts may be copied or written anew: an escape can be written in two ways."""
    monkeypatch.setattr(stretches, "STRETCH", 200_000)
    called = {"from": "function_call", "value": '{"name": "f", "arguments": {}}'}
    said = [{"from": "human", "value": "\u4f60\u597d"}, {"from": "gpt", "value": "\u00e9"}]
    random = Random(3)
    odd = [random.random() < (0.2, 0.7, 0.9)[i // 900 % 3] for i in range(8000)]
    rows = [json.dumps({"conversations": [said[0], called, said[1]] if each else said}) for each in odd]
    for name, text in (("data.jsonl", "\n".join(rows)), ("data.json", f"[{', '.join(rows)}]")):
        path = tmp_path / name
        path.write_text(text)
        one = outcome(SHAREGPT, path, "openai", 1)
        assert len({b"\\u4f60" in row for row in one["rows"]}) == (2 if name == "data.jsonl" else 1)
        for jobs in (2, 3):
            assert outcome(SHAREGPT, path, "openai", jobs) == one
        path.unlink()


def packed(data: bytes, how: str) -> bytes:
    if how == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return gzip.compress(data) if how == "gzip" else b"\xef\xbb\xbf" + data


@pytest.mark.parametrize("how", ["gzip", "zstd", "mark"])
@pytest.mark.parametrize("choices", [Choices(), PORTABLE], ids=["fast", "portable"])
def test_lines_that_must_be_unpacked(how: str, choices: Choices, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    noise = b"".join(b'{"instruction":"%b","output":"b"}\n' % os.urandom(40).hex().encode() for _ in range(1500))
    path.write_bytes(packed(lines_of(ALPACA) + b"\n" + noise, how))
    one = outcome(ALPACA, path, "nova-sft", 1, choices=choices)
    assert len(one["rejects"]) > 20
    for jobs in (2, 3):
        assert outcome(ALPACA, path, "nova-sft", jobs, choices=choices) == one


def test_broken_compression(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    noise = b"".join(b'{"instruction":"%b","output":"b"}\n' % os.urandom(40).hex().encode() for _ in range(3000))
    path.write_bytes(gzip.compress(noise)[:-1000])
    one = outcome(ALPACA, path, "sharegpt", 1)
    assert one["error"][0] is DataFileError
    assert outcome(ALPACA, path, "sharegpt", 2) == one


def arrays() -> dict[str, bytes]:
    """JSON arrays, by what is special about them."""
    rows = [{**ALPACA.row, "n": i, "output": "x" * (i * 37 % 900)} for i in range(500)]
    first = [{"n": 0, "turns": [{"n": i, "v": "x" * 50} for i in range(300)], **row} for row in rows[:40]]
    plain = [{"n": 1, **ALPACA.row, "output": "x" * 300} for _ in range(200)]
    first[20]["output"] = first[39]["output"] = 7
    mixed = [row if i % 9 else dict(reversed(row.items())) for i, row in enumerate(rows)]
    odd = [row if i % 20 else {**row, "output": ["", 3, None, {"a": 1}][i // 20 % 4]} for i, row in enumerate(rows)]
    good = json.dumps(rows).encode()
    return {
        "compact": json.dumps(rows, separators=(",", ":")).encode(),
        "on lines": b"\n\n [\n" + b",\n".join(json.dumps(row).encode() for row in odd) + b"\n]\n\n",
        "indented": json.dumps(odd, indent=2, ensure_ascii=False).encode(),
        "parts that begin like rows": json.dumps([*first, *rows], separators=(",", ":")).encode(),
        "parts on lines that begin like rows": json.dumps([*plain, *first], indent=0).encode(),
        "rows that begin differently": json.dumps(mixed).encode(),
        "a long row": json.dumps([*rows, {**ALPACA.row, "n": 1, "output": "x" * 90_000}, *rows]).encode(),
        "rows that are no objects": json.dumps([*rows, 7, [], "text", *rows], indent=0).encode(),
        "broken in the middle": good[:90_000] + b'"' + good[90_000:],
        "cut off": good[:-3],
        "followed by something": good + b" [1]",
        "closed too early": good[:100_000] + b"]" + good[100_000:],
        "a comma too many": good[:-1] + b", ]",
        "no comma": good.replace(b'}, {"instruction": "Why?", "input": "Sky"', b'} {"instruction": "Why?"', 300),
        "no numbers": good.replace(b'"n": 77,', b'"n": NaN,'),
        "a number too long": good.replace(b'"n": 77,', b'"n": 123456789012345678901,'),
        "a key twice": good.replace(b'"n": 77,', b'"n": 77, "output": "again",'),
        "not UTF-8": good.replace(b'"n": 77, "output": "', b'"n": 77, "output": "\xff'),
    }


@pytest.mark.parametrize("name", arrays())
@pytest.mark.parametrize("choices", [Choices(), PORTABLE], ids=["fast", "portable"])
def test_arrays(name: str, choices: Choices, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(arrays()[name])
    one = outcome(ALPACA, path, "openai", 1, choices=choices)
    for jobs in (2, 3):
        assert outcome(ALPACA, path, "openai", jobs, choices=choices) == one


@pytest.mark.usefixtures("method")
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_arrays_into_containers(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(arrays()["indented"])
    one = outcome(ALPACA, path, "sharegpt", 1, suffix=suffix)
    assert len(one["rejects"]) == 18
    assert json.loads(one["rejects"][3])["line"] > 300
    assert outcome(ALPACA, path, "sharegpt", 2, suffix=suffix) == one


@pytest.mark.parametrize("group", [700, 100_000])
@pytest.mark.parametrize(
    ("container", "choices"),
    [("parquet", Choices()), ("parquet", PORTABLE), ("file", Choices()), ("stream", Choices())],
    ids=["parquet", "portable", "file", "stream"],
)
def test_columns(container: str, choices: Choices, group: int, tmp_path: Path) -> None:
    """A group of rows is one part, or several."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "instruction": "" if i % 71 == 70 else f"Why {i}?",
            "output": os.urandom(9).hex(),
            "when": float("nan") if i == 999 else 1.5,
        }
        for i in range(10_000)
    ]
    table, path = pa.Table.from_pylist(rows), tmp_path / ("data.parquet" if container == "parquet" else "data.arrow")
    if container == "parquet":
        pq.write_table(table, path, row_group_size=group)
    else:
        opened = pa.ipc.new_file if container == "file" else pa.ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    one = outcome(ALPACA, path, "nova-sft", 1, choices=choices)
    assert len(one["rejects"]) == 141
    assert outcome(ALPACA, path, "nova-sft", 2, choices=choices) == one


@pytest.mark.parametrize("how", ["plain", "gzip", "array", "parquet"])
@pytest.mark.parametrize("choices", [Choices(), PORTABLE], ids=["fast", "portable"])
def test_workers_do_all_the_work(how: str, choices: Choices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that started them converts nothing itself, where nothing is wrong."""
    rows = [{**ALPACA.row, "output": os.urandom(9).hex()} for _ in range(1000)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path = tmp_path / ("data.parquet" if how == "parquet" else "data.json")
    if how == "parquet":
        with open_writer(path, "parquet") as writer:
            for row in rows:
                writer.write(row)
    else:
        path.write_bytes({"plain": lines, "gzip": gzip.compress(lines), "array": json.dumps(rows).encode()}[how])

    def fail(*_: Any) -> None:
        raise AssertionError("a worker has failed")

    monkeypatch.setattr(crew.Whole, "finish", fail)
    account = outcome(ALPACA, path, "nova-sft", 2, choices=choices)["account"]
    assert account == "1,000 read = 1,000 used + 0 set aside + 0 rejected; 1,000 written"
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("large", "choices", "said", "processes"),
    [
        (False, Choices(), None, 0),
        (True, Choices(), None, 3),
        (False, PORTABLE, None, 0),
        (True, PORTABLE, None, 3),
        (True, Choices(), 1, 0),
        (True, PORTABLE, 1, 0),
        (False, Choices(), 2, 2),
    ],
)
def test_all_cores_where_a_file_is_large(
    large: bool, choices: Choices, said: int | None, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, started = tmp_path / "data.jsonl", []
    path.write_bytes(lines_of(ALPACA))
    monkeypatch.setattr(quick, "cores", lambda: 3)
    if large:
        monkeypatch.setattr(quick, "WORTHWHILE", path.stat().st_size - 1)
    start = crew.crew

    def starting(order: Any, jobs: int, *, fed: bool) -> Any:
        started.append(jobs)
        return start(order, jobs, fed=fed)

    monkeypatch.setattr(crew, "crew", starting)
    outcome(ALPACA, path, "nova-sft", said, choices=choices)
    assert started == ([processes] if processes else [])


def test_several_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json{end}" for name, end in [("a", "l"), ("b", ""), ("c", "l")]]
    for path, data in zip(paths, [lines_of(ALPACA), arrays()["indented"], lines_of(ALPACA, 10)], strict=True):
        path.write_bytes(data)
    found = []
    for jobs in (1, 2):
        source = make_source("d", find_format("alpaca"), paths, ALPACA.columns)
        rejects = tmp_path / "out.jsonl.rejects.jsonl"
        report = export(
            make_conversion(source, find_format("nova-sft")),
            tmp_path / "out.jsonl",
            jobs=jobs,
            skip_invalid=True,
            ours=True,
            fast=True,
        )
        found.append(
            (str(report.tally), report.advice, report.output and report.output.read_bytes(), rejects.read_bytes())
        )
    assert found[0] == found[1]


def test_lines_after_a_blank_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of rows that follow a blank line, in one stretch and in several."""
    path, rows = tmp_path / "data.jsonl", [json.dumps({**ALPACA.row, "output": "x" * 100})] * 3000
    rows[2990] = json.dumps({**ALPACA.row, "output": 3})
    path.write_text("\n".join(["\n", *rows[:100], "", "", *rows[100:]]))
    for length in (20_000, 1 << 20):
        monkeypatch.setattr(stretches, "STRETCH", length)
        for jobs in (1, 2):
            (reject,) = outcome(ALPACA, path, "openai", jobs)["rejects"]
            assert (json.loads(reject)["row"], json.loads(reject)["line"]) == (2991, 2995)


def test_a_line_longer_than_a_stretch(tmp_path: Path) -> None:
    rows = [{**ALPACA.row, "output": "x" * size} for size in (10, 70_000, 3, 45_000, 19_990, 5)]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    assert outcome(ALPACA, path, "nova-sft", 3) == outcome(ALPACA, path, "nova-sft", 1)


@pytest.mark.parametrize("choices", [Choices(), PORTABLE], ids=["fast", "portable"])
def test_errors_are_those_of_one_process(choices: Choices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("jobs.stretches", "rows.lines"):
        monkeypatch.setattr(f"dsreg.{module}.MAX_ROW", 30_000)
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(ALPACA.row | {"output": "x" * size}) for size in (9, 400_000, 9)))
    one = outcome(ALPACA, path, "nova-sft", 1, choices=choices)
    assert one["error"][0] is DataFileError
    assert outcome(ALPACA, path, "nova-sft", 2, choices=choices) == one
