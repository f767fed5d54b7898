"""Whatever a dataset or its file is called, a descriptor has the same structure, with the name in it intact."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsreg.descriptors import CONSUMERS, Facts, render
from tests.descriptors.parse import parse

ATTACKS = [
    *['"', "'", '"""', "\\", "\n", "\r\n", "{{ 7 * 7 }}", "{% raw %}", "{#", "#", " # ", ": ", "- ", "|", "&a", "*a"],
    *["$()", "$(id)", "`id`", "${HOME}", "\\${x}", "*/", "/*", "---\n", "!!python/object:os.system", "%", "@", "~"],
    *["null", "true", "1e3", "2024-01-01", "\u2028", "\x85", "\x1b[31m", "\ufeff", "中文", "😀", "\udcff", "--help"],
    *["\nimport os\n", '"); os.system("id") #', "<!-- -->"],
]
NAMES = st.lists(st.sampled_from(ATTACKS) | st.text(max_size=5), min_size=1, max_size=4).map("".join)
FILES = NAMES.map(lambda name: re.sub(r"[\0/\ud800-\udbff]", "_", name) + ".jsonl")
LAYOUTS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("dataset_info.json", "alpaca", "sft", {}),
    ("dataset_info.json", "sharegpt", "preference", {}),
    ("ms-swift.json", "sharegpt", "kto", {}),
    ("ms-swift.sh", "sharegpt", "kto", {}),
    ("axolotl.yaml", "sharegpt", "sft", {}),
    ("trl.yaml", "openai", "sft", {}),
    ("verl.yaml", "verl", "prompt", {}),
    ("verl-sft.yaml", "verl-sft", "sft", {}),
    ("benchmax_env.py", "benchmax", "prompt", {"shape": "messages", "id": "none"}),
]
NAME, DATA, SCORER = "plain_name", "plain_file.jsonl", "plain_scorer"


def described(layout: tuple[str, str, str, dict[str, Any]], name: str, data: str, scorer: str) -> str | None:
    file, target, task, options = layout
    data = data.replace(".jsonl", ".parquet") if target == "verl-sft" else data
    content = render(file, Facts(name, target, task, options, data, frozenset({"images", "tools"}), (scorer,)))
    return None if content is None else content.decode("utf-8", "surrogateescape")


def replaced(value: Any, names: dict[str, str]) -> Any:
    """A parsed descriptor in which plain names are others."""
    if isinstance(value, dict):
        return {replaced(key, names): replaced(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def as_read(file: str, data: str) -> str:
    """What stands for a file's name once the language of a descriptor was parsed."""
    if file.startswith("verl"):  # OmegaConf reads the value once more
        return re.sub(r"(\\*)\$\{", lambda match: match[1] * 2 + r"\${", data)
    return f"./{data}" if file == "ms-swift.sh" and data.startswith("-") else data


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout[0] != "benchmax_env.py"], ids=str)
@settings(max_examples=60, deadline=None)
@given(NAMES, FILES, NAMES)
def test_names_are_only_names(layout: tuple[str, str, str, dict[str, Any]], name: str, data: str, scorer: str) -> None:
    file = layout[0]
    plain, hostile = described(layout, NAME, DATA, SCORER), described(layout, name, data, scorer)
    assert plain is not None
    if hostile is None:
        assert file == "ms-swift.sh" and "#" in data
        return
    suffix = ".parquet" if layout[1] == "verl-sft" else ".jsonl"
    shown, was = as_read(file, data).replace(".jsonl", suffix), DATA.replace(".jsonl", suffix)
    assert parse(file, hostile) == replaced(parse(file, plain), {NAME: name, was: shown})


@settings(max_examples=60, deadline=None)
@given(NAMES, FILES)
def test_names_are_only_names_in_python(name: str, data: str) -> None:
    hostile, plain = (described(LAYOUTS[-1], *names, SCORER) for names in ((name, data), (NAME, DATA)))
    assert hostile is not None and plain is not None
    trees = [ast.parse(text) for text in (hostile, plain)]
    texts = [[node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)] for tree in trees]
    different = [(one, other) for one, other in zip(*texts, strict=True) if one != other]
    assert set(different) <= {(data, DATA), (texts[0][0], texts[1][0])}
    assert data in texts[0]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                node.value = ""
    assert ast.dump(trees[0]) == ast.dump(trees[1])


@pytest.mark.parametrize("name", ["中文", "😀", "\ud800", "é\u2028"])
def test_json_is_ascii(name: str) -> None:
    """LlamaFactory opens its registry in the system's encoding."""
    text = described(LAYOUTS[0], name, "数据.jsonl", SCORER)
    assert text is not None and text.isascii()
    assert json.loads(text)[name]["file_name"] == "数据.jsonl"


def test_every_descriptor_is_tried() -> None:
    assert {layout[0] for layout in LAYOUTS} == set(CONSUMERS)
