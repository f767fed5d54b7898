"""`[target.<id>]`: what it settles holds for every command, and what it misspells is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.formats import built_in
from tests.cli.conftest import Dsreg

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Name a river."}
ANSWER = {"role": "assistant", "content": "The Seine."}
WEIGHED = {"messages": [USER, {**ANSWER, "weight": 0}]}
PLAIN = {"messages": [USER, ANSWER]}
PAIR = {"messages": [USER], "chosen": [ANSWER], "rejected": [{**ANSWER, "content": "Paris."}]}
TOML = 'format = "openai"\nfile_name = "rows.jsonl"\n'


def write(project: Path, *rows: dict[str, Any], dataset: str = "", settings: str = "", targets: str = "[]") -> None:
    (project / "registry/rows.toml").write_text(f"{TOML}targets = {targets}\n{dataset}")
    (project / "dsreg.toml").write_text(settings)
    (project / "data/rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(params=["the dataset", "the settings", "the settings under the dataset"])
def place(request: pytest.FixtureRequest) -> Any:
    """Where the table stands."""

    def tables(table: str) -> dict[str, str]:
        where: str = request.param
        if where == "the settings under the dataset":
            id = table.partition("]")[0]
            return {"dataset": table, "settings": f'{id}]\nskip = "system"\ncontainer = "parquet"\n'}
        return {"dataset" if where == "the dataset" else "settings": table}

    return tables


@pytest.mark.parametrize("value", ['"weight"', '["weight"]'])
@pytest.mark.parametrize("key", ["skip", "strip"])
def test_features_are_dealt_with_as_the_registry_says(
    dsreg: Dsreg, project: Path, place: Any, key: str, value: str
) -> None:
    table = f'[target.nova-sft]\n{key} = {value}\ncontainer = "json"\n'
    write(project, WEIGHED, PLAIN, targets='["nova-sft"]', **place(table))
    written = 1 if key == "skip" else 2
    done = dsreg("export", "rows", "--target", "nova-sft")
    assert done.code == 0 and f"; {written} written" in done.err, done
    assert len(json.loads((project / "exports/nova-sft/rows.json").read_text())) == written
    shown = json.loads(dsreg("preview", "rows", "--target", "nova-sft", "--json").out)
    assert [len(row["converted"]) for row in shown] == [written - 1, 1]
    assert "DS301" not in dsreg("check", "rows", "--target", "nova-sft").out
    script = dsreg("render", "rows", "--target", "nova-sft")
    assert script.code == 0 and "weight" in script.out.partition("STEPS =")[2].partition("\n\n")[0]
    assert dsreg("sync").code == 0
    assert (project / "converters/rows_to_nova-sft.py").read_text() == script.out


def test_a_flag_wins_over_the_registry(dsreg: Dsreg, project: Path) -> None:
    write(project, WEIGHED, PLAIN, dataset='[target.nova-sft]\nskip = "weight"\n')
    assert "; 2 written" in dsreg("export", "rows", "--target", "nova-sft", "--strip", "weight").err
    write(project, WEIGHED, PLAIN, dataset='[target.nova-sft]\nstrip = "weight"\n')
    assert "; 1 written" in dsreg("export", "rows", "--target", "nova-sft", "--skip", "weight").err


def test_take_is_honoured(dsreg: Dsreg, project: Path, place: Any) -> None:
    write(project, PAIR, targets='["nova-sft"]', **place('[target.nova-sft]\ntake = "rejected"\nskip = []\n'))
    assert dsreg("export", "rows", "--target", "nova-sft", "--option", "container=jsonl").code == 0
    assert "Paris." in (project / "exports/nova-sft/rows.jsonl").read_text()
    assert dsreg("sync").code == 0
    assert "adapt_preference_to_sft_rejected" in (project / "converters/rows_to_nova-sft.py").read_text()


def test_the_container_of_a_converter(dsreg: Dsreg, project: Path) -> None:
    write(project, PLAIN, targets='["openai"]', dataset='[target.openai]\ncontainer = "json"\n')
    assert dsreg("sync").code == 0
    for script, container in (
        ((project / "converters/rows_to_openai.py").read_text(), "json"),
        (dsreg("render", "rows", "--target", "openai").out, "json"),
        (dsreg("render", "rows", "--target", "openai", "--option", "container=jsonl").out, "jsonl"),
    ):
        assert f'CONTAINER = "{container}"\n' in script
    done = dsreg("render", "rows", "--target", "openai", "--option", "container=csv")
    assert done.code == 2 and "json | jsonl | parquet" in done.err


def test_one_text_is_a_list_of_one_for_copies(dsreg: Dsreg, project: Path) -> None:
    write(
        project, WEIGHED, dataset='llamafactory = "copy"\n[target.llamafactory]\nstrip = "weight"\nmedia = "images"\n'
    )
    assert dsreg("sync").code == 0
    info = json.loads((project / "data/dataset_info.json").read_text())
    assert info["rows"]["columns"]["images"] == "images"


@pytest.mark.parametrize("value", ["5", "[5]", "{a = 1}"])
def test_features_that_are_no_texts(dsreg: Dsreg, project: Path, value: str) -> None:
    write(project, PLAIN, dataset=f"[target.nova-sft]\nskip = {value}\n")
    done = dsreg("export", "rows", "--target", "nova-sft")
    assert done.code == 2 and "`skip` must be a list of texts" in done.err


# a table, what is told about it, what is offered
UNKNOWN = {
    "an option": ("[target.nova-sft]\ncontaner = 'json'\n", "target.nova-sft.contaner", "did you mean `container`?"),
    "a target": ("[target.nova-stf]\n", "target.nova-stf", "did you mean `nova-sft`?"),
    "another target's": ("[target.openai]\ndata_source = 'a'\n", "target.openai.data_source", "it is kept"),
}


@pytest.mark.parametrize("file", ["registry/rows.toml", "dsreg.toml"])
@pytest.mark.parametrize(("table", "key", "hint"), UNKNOWN.values(), ids=UNKNOWN)
def test_misspellings_are_told(dsreg: Dsreg, project: Path, file: str, table: str, key: str, hint: str) -> None:
    write(project, PLAIN, **{"dataset" if file != "dsreg.toml" else "settings": table})
    for command in ("sync", "check"):
        done = dsreg(command)
        told = [line for line in (done.out + done.err).splitlines() if "DS160" in line]
        assert len(told) == 1 and told[0].count(f"unknown key `{key}`") == 1 and f"{file}:" in told[0], done
        assert hint in done.out + done.err


def test_a_copy_has_options_of_its_own(dsreg: Dsreg, project: Path) -> None:
    write(project, PLAIN, dataset='[target.llamafactory]\nlayuot = "alpaca"\n', settings="datadir = 'x'\n")
    done = dsreg("sync")
    assert "`target.llamafactory.layuot`" in done.err and "did you mean `layout`?" in done.err
    assert "`datadir`" in done.err and "did you mean `data_dir`?" in done.err


def test_what_there_is_is_not_told(dsreg: Dsreg, project: Path) -> None:
    tables = [
        f"[target.{id}]\nskip = []\nstrip = []\n" + "".join(f"{name} = 1\n" for name in format.manifest.options)
        for id, format in built_in().items()
    ]
    write(project, PLAIN, dataset="".join([*tables, "[target.llamafactory]\nmedia = []\n"]), settings="".join(tables))
    assert "DS160" not in dsreg("sync").err


def test_converters_follow_the_projects_own_formats(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("formats", "new", "mine", "--like", "openai").code == 0
    write(project, PLAIN, targets='["mine"]')
    assert dsreg("sync").code == 0 and dsreg("sync", "--check").code == 0
    writer = project / "templates/formats/mine/writer.py"
    writer.write_text(writer.read_text().replace("def write_row(", "def write_row(  # as we do it\n    ", 1))
    assert dsreg("sync", "--check").code == 1
    assert dsreg("sync").code == 0
    assert "# as we do it" in (project / "converters/rows_to_mine.py").read_text()
