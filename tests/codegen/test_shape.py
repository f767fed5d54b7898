"""No value from outside becomes code: whatever names a dataset brings, the script has the same shape."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsreg.codegen.converter import render_converter
from dsreg.formats import find_format
from dsreg.runner import Choices, make_conversion
from dsreg.source import make_source

ATTACKS = [
    *['"', "'", '"""', "'''", "\\", "\\\n", "\n", "\r", "\0", "{", "}", "%s", "%(prog)s"],
    *["{{ 7 * 7 }}", "{% raw %}", "{# #}", "#}", "# coding: latin-1", "f'{1}'", "__import__"],
    *["\u202e", "\u2028", "\ud800", "\N{FULLWIDTH QUOTATION MARK}", "列", "\x1b[31m"],
    *["$(id)", "`id`", "</script>", '")\nimport os\nos.system("id")\n("', "'); __import__('os').system('id'); ('"],
]
NAMES = st.lists(st.sampled_from(ATTACKS) | st.text(max_size=5), min_size=1, max_size=4).map("".join).filter(bool)


def rendered(names: list[str]) -> str:
    """A script in which a dataset, its columns, tags and options have these names."""
    dataset, messages, system, extra, owner, *tags = names
    source = make_source(
        dataset,
        find_format("sharegpt"),
        [Path("data.json")],
        {"messages": messages, "system": system, "id": extra},
        tags=dict(zip(["role_tag", "content_tag", "user_tag", "assistant_tag", "system_tag"], tags, strict=True)),
    )
    options = {"bucket_owner": owner, "media_prefix": owner}
    return render_converter(make_conversion(source, find_format("nova-sft"), Choices(options=options)))


def shape(script: str) -> str:
    """The syntax tree of a script without its constants."""
    tree = ast.parse(script)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = type(node.value).__name__
    return ast.dump(tree)


PLAIN = [f"plain{i}" for i in range(10)]
PLAIN_SHAPE = shape(rendered(PLAIN))


@settings(max_examples=30, deadline=None)
@given(st.lists(NAMES, min_size=10, max_size=10, unique=True))
def test_hostile_names_do_not_change_the_shape(names: list[str]) -> None:
    script = rendered(names)
    assert shape(script) == PLAIN_SHAPE
    compile(script, "converter.py", "exec")
    script.encode()


@pytest.mark.parametrize("name", ATTACKS)
def test_a_name_stands_in_the_script_as_its_value(name: str) -> None:
    values = [node.value for node in ast.walk(ast.parse(rendered([name + "x", name, *PLAIN[2:]])))
              if isinstance(node, ast.Constant)]  # fmt: skip
    assert name in values


def test_rendering_is_repeatable() -> None:
    assert rendered(PLAIN) == rendered(PLAIN)
