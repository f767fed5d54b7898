"""Where exports go, and what is left there: no empty folders, no stale rejects, no names that lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg import Project
from dsreg.errors import DsregError, UsageError
from dsreg.export import export
from dsreg.formats import find_format
from dsreg.runner import make_conversion
from dsreg.source import make_source
from tests.conftest import WriteProject

GOOD = {"instruction": "Name a river.", "output": "The Seine."}
BAD = {"instruction": 1, "output": "The Seine."}
TOML = 'format = "alpaca"\nfile_name = "rivers.jsonl"\ncolumns = {prompt = "instruction", response = "output"}\n'


@pytest.fixture
def root(write_project: WriteProject) -> Path:
    root = write_project({"registry/rivers.toml": TOML, "data/": ""})
    set_rows(root, GOOD, GOOD)
    return root


def set_rows(root: Path, *rows: dict[str, Any]) -> None:
    (root / "data/rivers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize("skip_invalid", [False, True])
def test_stale_rejects_go_with_any_export_that_has_none(root: Path, skip_invalid: bool) -> None:
    rivers = Project.find(root)["rivers"]
    set_rows(root, GOOD, BAD)
    report = rivers.export("openai", skip_invalid=True)
    assert report.rejects_path is not None and report.rejects_path.exists()
    set_rows(root, GOOD)
    rivers.export("openai", skip_invalid=skip_invalid)
    assert not report.rejects_path.exists()


def test_what_is_no_rejects_file_stays(root: Path) -> None:
    rivers = Project.find(root)["rivers"]
    place = root / "exports/openai/rivers.jsonl.rejects.jsonl"
    place.parent.mkdir(parents=True)
    for text in ("mine\n", ""):
        place.write_text(text)
        rivers.export("openai")
        assert place.read_text() == text


def test_rejects_that_are_the_source_stay(root: Path) -> None:
    rejects = root / "data/out.jsonl.rejects.jsonl"
    rejects.write_text(json.dumps({"source": "a", **GOOD}, separators=(",", ":")) + "\n")
    (root / "registry/again.toml").write_text(TOML.replace("rivers.jsonl", rejects.name))
    Project.find(root)["again"].export("openai", root / "data/out.jsonl")
    assert rejects.exists()


@pytest.mark.parametrize("path", [None, "deep/er/out.jsonl"])
def test_a_failed_export_leaves_no_folder(root: Path, path: str | None) -> None:
    set_rows(root, BAD)
    (root / "exports").mkdir()
    before = set(root.rglob("*"))
    with pytest.raises(DsregError):
        Project.find(root)["rivers"].export("openai", root / path if path else None)
    assert {found for found in root.rglob("*") if ".dsreg" not in found.parts} == before


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".arrow", ".xlsx", ".CSV", ".csv.gz"])
@pytest.mark.parametrize("options", [{}, {"container": "jsonl"}])
def test_an_output_cannot_be_named_as_what_it_is_not(root: Path, suffix: str, options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be written") as caught:
        Project.find(root)["rivers"].export("openai", root / f"new/out{suffix}", options=options)
    assert all(word in caught.value.hint for word in (".json ", ".jsonl", ".parquet"))
    assert not (root / "new").exists()


@pytest.mark.parametrize("name", ["out.jsonl.zstd", "out.v1.2", "csv"])
def test_other_names_are_free(root: Path, name: str) -> None:
    assert Project.find(root)["rivers"].export("openai", root / name).tally.written == 2


VERL = {
    "data_source": "a",
    "prompt": [{"role": "user", "content": "q"}],
    "extra_info": {"tools_kwargs": {"a": {"b": 1}}},
}


@pytest.mark.parametrize(("name", "container"), [(None, None), (None, "parquet"), ("out.parquet", None)])
def test_objects_that_parquet_cannot_hold_are_refused_before_a_row_is_read(
    root: Path, name: str | None, container: str | None
) -> None:
    (root / "registry/rivers.toml").write_text('format = "verl"\nfile_name = "rivers.jsonl"\n')
    (root / "data/rivers.jsonl").write_text("no row\n")
    options = {"objects": "kept", **({"container": container} if container else {})}
    with pytest.raises(UsageError, match="objects=kept of verl: parquet cannot hold that") as caught:
        Project.find(root)["rivers"].export("verl", root / name if name else None, options=options)
    assert caught.value.hint == "--option container=jsonl"


@pytest.mark.parametrize(("name", "container"), [(None, "jsonl"), ("out.jsonl", None), ("out.json", None)])
def test_objects_that_json_holds_are_kept(root: Path, name: str | None, container: str | None) -> None:
    (root / "registry/rivers.toml").write_text('format = "verl"\nfile_name = "rivers.jsonl"\n')
    set_rows(root, VERL)
    options = {"objects": "kept", **({"container": container} if container else {})}
    report = Project.find(root)["rivers"].export("verl", root / name if name else None, options=options)
    assert report.output is not None
    assert '"tools_kwargs":{"a":{"b":1}}' in report.output.read_text().replace(" ", "")


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([9] * 1000, "chosen answers are 9.00 times as long as rejected ones"),
        ([9] * 1000 + [1] * 1000, "chosen answers of the first 1,000 rows are 9.00 times as long as rejected ones"),
        ([1] * 1000 + [900], None),
    ],
)
def test_length_advice_is_about_the_first_rows(tmp_path: Path, rows: list[int], said: str | None, fast: bool) -> None:
    path = tmp_path / "pairs.jsonl"
    pairs = ({"instruction": "?", "chosen": "a" * size, "rejected": "b"} for size in rows)
    path.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs))
    columns = {"prompt": "instruction", "chosen": "chosen", "rejected": "rejected"}
    source = make_source("pairs", find_format("alpaca"), [path], columns, ranking=True)
    report = export(make_conversion(source, find_format("hf-preference")), None, fast=fast)
    messages = [advice.message for advice in report.advice if advice.code == "DS406"]
    assert messages == ([f"{said}; a model may learn the length"] if said else [])
