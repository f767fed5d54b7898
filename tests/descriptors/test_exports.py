"""Descriptors beside exports: which there are, that their consumers can read them, what becomes of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from dsreg.descriptors import CONSUMERS
from dsreg.formats import built_in, templates_dir
from dsreg.llamafactory.predict import predict
from dsreg.exported import Exported
from dsreg.project import open_project
from tests.descriptors.cases import (
    ALPACA,
    ALPACA_LABELS,
    ALPACA_MEDIA,
    ALPACA_PAIRS,
    ALPACA_WITH_TOOLS,
    CALLS,
    CASES,
    LABELLED,
    OWN_QUESTIONS,
    PAIRS,
    PICTURES,
    QUESTIONS,
    SHAREGPT_TOOLS,
    Case,
)
from tests.descriptors.conftest import Export
from tests.descriptors.parse import ALLOWED, ENTRY_KEYS, SWIFT_TARGETS, keys, parse


def made(export: Export, case: Case) -> dict[str, Any]:
    """The descriptors of a case, parsed, by file name."""
    report = export(case.source, case.rows, case.target, toml=case.toml, **case.options)
    files = {path.name.removeprefix("d."): path for path in report.descriptors}
    return {file: parse(file, path.read_text()) for file, path in files.items()}


@pytest.mark.parametrize("name", CASES)
def test_which_descriptors_stand_beside_an_export(export: Export, name: str) -> None:
    assert set(made(export, CASES[name])) == set(CASES[name].files)


@pytest.mark.parametrize("name", CASES)
def test_only_keys_that_the_consumer_knows(export: Export, name: str) -> None:
    for file, value in made(export, CASES[name]).items():
        if file == "dataset_info.json":
            assert keys(value["d"]) <= ENTRY_KEYS
        elif file == "ms-swift.json":
            assert keys(value) <= ALLOWED[file]
            assert set(value[0].get("columns", {}).values()) <= SWIFT_TARGETS
        elif file.endswith(".yaml"):
            assert keys(value) <= ALLOWED[file]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.stage])
def test_llamafactory_uses_every_row_by_the_entry(export: Export, name: str) -> None:
    case = CASES[name]
    report = export(case.source, case.rows, case.target, toml=case.toml, **case.options)
    assert report.output is not None
    folder = report.output.parent
    (folder / "d.dataset_info.json").rename(folder / "dataset_info.json")
    found = predict(folder, "d", case.stage)
    verdicts = found.finish()
    assert found.fatal is None
    assert [verdict.status for verdict in verdicts] == ["ok"] * report.tally.written


ENTRY = [
    ("alpaca tools", "columns", {"prompt": "instruction", "query": "input", "response": "output", "system": "system",
                                 "history": "history", "tools": "tools"}),
    ("alpaca preference", "ranking", True),
    ("openai kto", "columns", {"messages": "messages", "kto_tag": "label"}),
    ("sharegpt images", "columns", {"messages": "conversations", "system": "system", "tools": "tools",
                                    "images": "images"}),
    ("pretrain", "columns", {"prompt": "text"}),
    ("openai sft", "formatting", "sharegpt"),
    ("openai sft", "tags", {"role_tag": "role", "content_tag": "content", "user_tag": "user",
                            "assistant_tag": "assistant", "observation_tag": "tool",
                            "function_tag": "function_call", "system_tag": "system"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "value"), ENTRY)
def test_entry(export: Export, name: str, key: str, value: Any) -> None:
    entry = made(export, CASES[name])["dataset_info.json"]["d"]
    assert entry[key] == value
    assert "ranking" not in entry or entry["ranking"] is True


AXOLOTL = [
    ("openai tools", None, {"type": "chat_template", "field_messages": "messages", "field_tools": "tools"}),
    ("alpaca sft", None, {"type": "alpaca"}),
    ("pretrain", None, {"type": "completion", "field": "text"}),
    ("hf preference texts", "dpo", {"type": "chatml.prompt_pairs", "split": "train"}),
    ("hf preference lists", "dpo", {"type": "chat_template.default", "split": "train", "field_messages": "prompt",
                                    "field_chosen": "chosen", "field_rejected": "rejected"}),
    ("hf kto texts", "kto", {"type": "chatml.ultra", "split": "train"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rl", "settings"), AXOLOTL)
def test_axolotl(export: Export, name: str, rl: str | None, settings: dict[str, Any]) -> None:
    value = made(export, CASES[name])["axolotl.yaml"]
    path = {"alpaca sft": "d.json"}.get(name, "d.jsonl")
    assert value == {"datasets": [{"path": path, "ds_type": "json", **settings}], **({"rl": rl} if rl else {})}


TRL = [
    ("openai sft", "json", ["messages"]),
    ("openai tools", "json", ["messages", "tools"]),
    ("hf sft", "json", ["prompt", "completion", "tools"]),
    ("hf kto lists", "json", ["prompt", "completion", "label"]),
    ("hf preference lists", "json", ["prompt", "chosen", "rejected"]),
    ("pretrain", "json", ["text"]),
    ("verl", "parquet", None),
]


@pytest.mark.parametrize(("name", "loader", "columns"), TRL)
def test_trl(export: Export, name: str, loader: str, columns: list[str] | None) -> None:
    (entry,) = made(export, CASES[name])["trl.yaml"]["datasets"]
    file = "d.parquet" if loader == "parquet" else "d.jsonl"
    assert entry == {"path": loader, "data_files": file, "split": "train", **({"columns": columns} if columns else {})}


SWIFT = [
    ("sharegpt sft", ["sft", "--dataset", "d.json"]),
    ("openai kto", ["rlhf", "--rlhf_type", "kto", "--dataset", "d.jsonl"]),
    ("kto", ["rlhf", "--rlhf_type", "kto", "--dataset", "d.json", "--columns", '{"kto_tag": "label"}']),
    ("alpaca preference", ["rlhf", "--rlhf_type", "dpo", "--dataset", "d.json", "--columns",
                           '{"chosen": "response", "rejected": "rejected_response"}']),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), SWIFT)
def test_ms_swift(export: Export, name: str, arguments: list[str]) -> None:
    files = made(export, CASES[name])
    assert files["ms-swift.sh"] == ["exec", "swift", *arguments, "$@"]
    (entry,) = files["ms-swift.json"]
    assert (entry["dataset_name"], entry["dataset_path"]) == ("d", arguments[arguments.index("--dataset") + 1])
    given = arguments[-1] if "--columns" in arguments else "{}"
    assert entry.get("columns", {}) == json.loads(given)


def test_verl(export: Export) -> None:
    assert made(export, CASES["verl"])["verl.yaml"] == {"data": {"train_files": "d.parquet", "prompt_key": "prompt"}}
    own = made(export, CASES["verl as json lines"])["verl.yaml"]
    assert own["data"]["train_files"] == "d.jsonl"
    assert own["reward"] == {"custom_reward_function": {"path": "reward.py", "name": "compute_score"}}
    report = export("verl", OWN_QUESTIONS, "verl")
    text = report.descriptors[0].read_text()
    assert '# verl has no scorer for these data_source: ["my/puzzles"]' in text
    assert made(export, CASES["verl sft"])["verl-sft.yaml"] == {
        "data": {"train_files": "d.parquet", "messages_key": "messages", "tools_key": "tools"}
    }


def test_media_of_verl(export: Export) -> None:
    report = export("alpaca", PICTURES, "verl", toml=ALPACA_MEDIA, data_source="hiyouga/geometry3k")
    value = parse("verl.yaml", report.descriptors[0].read_text())
    assert value == {"data": {"train_files": "d.parquet", "prompt_key": "prompt", "image_key": "images"}}


def test_a_key_further_inside_is_no_column(export: Export) -> None:
    rows = [{**row, "notes": {"images": ["x"], "text": '"images":'}} for row in ALPACA]
    report = export("alpaca", rows, "alpaca", toml=ALPACA_MEDIA)
    (entry,) = json.loads(report.descriptors[0].read_text()).values()
    assert "images" not in entry["columns"]


@pytest.mark.parametrize("suffix", ["json", "jsonl", "jsonl.gz", "parquet"])
@pytest.mark.parametrize("rows", [ALPACA, CASES["alpaca tools"].rows], ids=["without", "with"])
def test_a_column_is_found_in_every_container(
    export: Export, tmp_path: Path, suffix: str, rows: list[dict[str, Any]]
) -> None:
    report = export("alpaca", rows, "alpaca", path=tmp_path / f"out.{suffix}", toml=ALPACA_WITH_TOOLS)
    assert report.descriptors[0] == tmp_path / "out.dataset_info.json"
    (entry,) = json.loads(report.descriptors[0].read_text()).values()
    assert entry["file_name"] == f"out.{suffix}"
    assert ("tools" in entry["columns"]) == (rows is not ALPACA)


def test_where_they_stand(export: Export, tmp_path: Path) -> None:
    report = export("verl", QUESTIONS, "benchmax")
    assert report.descriptors == [tmp_path / "exports/benchmax/d/benchmax_env.py"]
    report = export("verl", QUESTIONS, "benchmax", path=tmp_path / "mine.jsonl")
    assert report.descriptors == [tmp_path / "mine_benchmax_env.py"]
    assert 'FILES = {"train": "mine.jsonl", "eval": "eval.jsonl"}' in report.descriptors[0].read_text()
    assert report.as_json()["descriptors"] == [str(report.descriptors[0])]
    assert Exported(open_project(tmp_path)).of("d") == [
        "exports/benchmax/d/benchmax_env.py",
        "exports/benchmax/d/train.jsonl",
        "mine.jsonl",
        "mine_benchmax_env.py",
    ]


def test_one_changed_by_hand_is_kept_unless_forced(export: Export, tmp_path: Path) -> None:
    path = export("sharegpt", CALLS, "hf-prompt-completion", toml=SHAREGPT_TOOLS).descriptors[0]
    before = path.read_text()
    path.write_text(before + "learning_rate: 1.0e-5\n")
    report = export("sharegpt", CALLS, "hf-prompt-completion", toml=SHAREGPT_TOOLS)
    assert path.read_text().endswith("learning_rate: 1.0e-5\n") and report.descriptors == []
    assert [advice.code for advice in report.advice if path.name in advice.message] == ["DS413"]
    report = export("sharegpt", CALLS, "hf-prompt-completion", toml=SHAREGPT_TOOLS, force=True)
    assert path.read_text() == before and report.descriptors == [path]
    again = export("sharegpt", CALLS, "hf-prompt-completion", toml=SHAREGPT_TOOLS)
    assert not [advice for advice in again.advice if advice.code == "DS413"]


def test_one_that_applies_no_more_goes_away(export: Export, tmp_path: Path) -> None:
    export("alpaca", LABELLED, "hf-kto", toml=ALPACA_LABELS)
    axolotl = tmp_path / "exports/hf-kto/d.axolotl.yaml"
    assert axolotl.exists()
    export("alpaca", LABELLED, "hf-kto", toml=ALPACA_LABELS, style="conversational")
    assert not axolotl.exists()
    export("alpaca", LABELLED, "hf-kto", toml=ALPACA_LABELS)
    axolotl.write_text("rl: kto\n")
    export("alpaca", LABELLED, "hf-kto", toml=ALPACA_LABELS, style="conversational")
    assert axolotl.read_text() == "rl: kto\n"


def test_a_name_that_ms_swift_would_take_for_a_number_of_rows(export: Export, tmp_path: Path) -> None:
    report = export("alpaca", PAIRS, "alpaca", path=tmp_path / "a#3.json", toml=ALPACA_PAIRS)
    assert [path.name for path in report.descriptors] == ["a#3.dataset_info.json", "a#3.ms-swift.json"]
    report = export("alpaca", PAIRS, "alpaca", path=tmp_path / "-x.json", toml=ALPACA_PAIRS)
    command = shlex.split(report.descriptors[-1].read_text(), comments=True)
    assert command[command.index("--dataset") + 1] == "./-x.json"


def test_manifests_list_what_there_is() -> None:
    listed = {file for format in built_in().values() for file in format.manifest.descriptors}
    templates = {path.name.removesuffix(".j2") for path in (templates_dir() / "descriptors").iterdir()}
    assert listed == templates == set(CONSUMERS)
