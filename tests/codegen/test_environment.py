"""Values in templates of every language are literals of that language."""

from __future__ import annotations

import ast
import html
import json
import math
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dsreg.codegen.literals import Code, docstring, python_literal
from dsreg.codegen.templating import environment, render_template

TEXT = st.text(max_size=20) | st.text(
    alphabet="\"'\\{}[]#%&*!|>@`\n\r\t\0:,- ~\u2028\ud800\x85\ufeffé中😀", max_size=12
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


def render(kind: str, template: str, **values: Any) -> str:
    return environment(kind).from_string(template).render(values)


@given(VALUES)
def test_python(value: Any) -> None:
    assert ast.literal_eval(render("python", "{{ value }}", value=value)) == value


@given(VALUES, st.integers(0, 8))
def test_python_laid_out(value: Any, column: int) -> None:
    assert ast.literal_eval(python_literal(value, column, width=10)) == value


@given(VALUES)
def test_json(value: Any) -> None:
    assert json.loads(render("json", '{"key": {{ value }}}', value=value)) == {"key": value}


@given(VALUES)
def test_yaml(value: Any) -> None:
    text = render("yaml", "# {{ value }}\nkey: {{ value }}\n", value=value)
    assert yaml.safe_load(text) == {"key": value}


@given(TEXT.filter(lambda text: "\0" not in text))
def test_shell(value: str) -> None:
    assert shlex.split(render("shell", "swift --dataset {{ value }} --x", value=value)) == [
        "swift",
        "--dataset",
        value,
        "--x",
    ]


@given(TEXT)
def test_html(value: str) -> None:
    seen: list[Any] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, attrs))

    text = render("html", '<p title="{{ value }}">{{ value }}</p>', value=value)
    Parser(convert_charrefs=True).feed(text)
    assert len(seen) == 1
    assert html.unescape(text) == f'<p title="{value}">{value}</p>'


MARKDOWN = {
    "plain-name_1": r"plain-name\_1",
    "[a](javascript:b)": r"\[a\](javascript:b)",
    "<img src=x>": "&lt;img src=x&gt;",
    "# title": r"\# title",
    "- item": r"\- item",
    "1. item": r"1\. item",
    "a\n\n---\nb": "a --- b",
    "`code` | $x$": r"\`code\` \| \$x\$",
}


@pytest.mark.parametrize("value", MARKDOWN)
def test_markdown(value: str) -> None:
    assert render("markdown", "{{ value }}", value=value) == MARKDOWN[value]


@pytest.mark.parametrize("kind", ["python", "json", "yaml", "shell", "markdown", "html"])
def test_a_name_without_a_value_is_an_error(kind: str) -> None:
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        render(kind, "{{ missing }}")
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        render(kind, "{% set x = value.missing %}{{ x }}", value={})


@pytest.mark.parametrize("kind", ["python", "json", "yaml", "shell"])
@pytest.mark.parametrize("value", [math.nan, math.inf, object()], ids=["nan", "infinity", "object"])
def test_what_has_no_literal_is_an_error(kind: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        render(kind, "{{ value }}", value=value)


def test_only_code_is_pasted() -> None:
    assert render("python", "{{ a }} {{ b }} {{ b | upper }}", a="x", b=Code("x")) == '"x" x "X"'


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr("dsreg.codegen.templating.templates_dir", lambda: tmp_path)
    environment.cache_clear()
    (tmp_path / "descriptors").mkdir()
    yield tmp_path / "descriptors"
    environment.cache_clear()


BY_SUFFIX = {
    "a.py.j2": '{"a": None}',
    "a.json.j2": '{"a": null}',
    "a.yaml.j2": '{"a": null}',
    "a.yml.j2": '{"a": null}',
    "a.txt.j2": """'{"a": null}'""",
    "a.sh.j2": """'{"a": null}'""",
    "a.html.j2": "{&quot;a&quot;: null}",
    "a.md.j2": '{"a": null}',
}


@pytest.mark.parametrize("name", BY_SUFFIX)
def test_the_suffix_decides_the_language(name: str, templates: Path) -> None:
    (templates / name).write_text("x: {{ value }}\n", "utf-8")
    assert render_template(f"descriptors/{name}", {"value": {"a": None}}) == f"x: {BY_SUFFIX[name]}\n"


def test_a_value_in_a_shell_comment_is_refused(templates: Path) -> None:
    (templates / "a.sh.j2").write_text("swift\n  # {{ value }}\n", "utf-8")
    with pytest.raises(ValueError, match="comment"):
        render_template("descriptors/a.sh.j2", {"value": "x\nrm -rf ."})


LONG = "b" * 60
LAID_OUT = [
    ({}, "{}"),
    ({"a": [1, None, True]}, '{"a": [1, None, True]}'),
    ({"a": LONG, "c": [LONG]}, f'{{\n    "a": "{LONG}",\n    "c": ["{LONG}"],\n}}'),
    (("a",), '("a",)'),
    (frozenset(["b", "a"]), 'frozenset({"a", "b"})'),
    (frozenset(), "frozenset()"),
    ('it\'s "x"', "'it\\'s \"x\"'"),
]


@pytest.mark.parametrize(("value", "literal"), LAID_OUT)
def test_python_layout(value: Any, literal: str) -> None:
    assert python_literal(value) == literal


@given(st.text(alphabet="\"'\\\nab \r\ud800\u2028", max_size=12))
def test_docstring(text: str) -> None:
    assert ast.literal_eval(str(docstring(text))) == text.strip("\n") + "\n"
