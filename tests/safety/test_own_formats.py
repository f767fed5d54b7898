"""A project's own formats are code: it runs only for commands that convert, which name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsreg.formats import built_in
from tests.safety.conftest import Dsreg, run_here

LOUD = 'from pathlib import Path\nPath("{root}/ran").open("a").write("{name} ")\n'
SILENT = [
    ["list"],
    ["show", "rivers"],
    ["show", "mine"],
    ["check", "rivers"],
    ["formats", "list"],
    ["formats", "show", "loud"],
    ["formats", "matrix"],
    ["add", "more", "data/rivers.jsonl", "--format", "alpaca"],
    ["set", "rivers", "--ranking"],
    ["rename", "rivers", "streams"],
    ["remove", "-y", "rivers"],
    ["sync"],
    ["preview", "rivers"],
    ["export", "rivers", "--target", "openai"],
    ["convert", "data/rivers.jsonl", "--format", "alpaca", "--target", "openai"],
]
CONVERTING = [
    ["export", "rivers", "--target", "loud"],
    ["preview", "rivers", "--target", "loud"],
    ["convert", "data/rivers.jsonl", "--format", "alpaca", "--target", "loud"],
    ["preview", "mine"],
    ["check", "rivers", "--target", "loud"],
    ["add", "more", "data/rivers.jsonl", "--format", "loud"],
]
PASTING = [["render", "rivers", "--target", "loud"], ["set", "rivers", "--target", "loud"]]


@pytest.fixture
def loud(project: Path) -> Path:
    """A format of the project that leaves a mark where its code runs, and a dataset in it."""
    folder = project / "templates/formats/loud"
    folder.mkdir(parents=True)
    for path in built_in()["alpaca"].folder.iterdir():
        if path.suffix in (".toml", ".jsonl", ".py"):
            text = path.read_text("utf-8")
            mark = LOUD.format(root=project, name=path.stem) if path.suffix == ".py" else ""
            head, end, tail = text.partition("from __future__ import annotations\n")
            (folder / path.name).write_text(head + end + mark + tail if end else mark + text, "utf-8")
    toml = (project / "registry/rivers.toml").read_text()
    (project / "registry/mine.toml").write_text(toml.replace("alpaca", "loud"))
    return project / "ran"


@pytest.mark.parametrize("command", SILENT, ids=" ".join)
def test_code_of_the_project_does_not_run(loud: Path, command: list[str]) -> None:
    assert run_here(*command).code in (0, 1)
    assert not loud.exists(), loud.read_text()


@pytest.mark.parametrize("command", CONVERTING, ids=" ".join)
def test_code_of_the_project_runs_where_it_converts_and_is_named(loud: Path, command: list[str]) -> None:
    done = run_here(*command)
    assert done.code == 0, done
    assert loud.exists()
    assert "loud" in done.err + done.out and done.err.count("templates/formats/loud") == 1


@pytest.mark.parametrize("command", PASTING, ids=" ".join)
def test_code_of_the_project_is_named_where_it_is_pasted(loud: Path, command: list[str]) -> None:
    done = run_here(*command)
    assert done.code and "only definitions can be pasted" in done.err, "the mark is a statement"
    assert done.err.count("note: templates/formats/loud: ") == 1


def test_a_built_in_format_cannot_be_replaced(loud: Path, project: Path) -> None:
    (project / "templates/formats/loud").rename(project / "templates/formats/openai")
    done = run_here("export", "rivers", "--target", "openai")
    assert done.code == 2 and "built in and cannot be replaced" in done.err and not loud.exists()


TEMPLATES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ messages.__class__.__base__.__subclasses__() }}",
    "{{ (messages | attr('__class__')) }}{{ messages | map(attribute='__class__') | list }}",
    "{{ raise_exception.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].system('touch ran') }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(messages) }}",
    "{{ '%s' | format(messages.__class__) }}{{ namespace.__init__.__globals__ }}",
    "{% set x = messages.append(1) %}{{ x }}",
    "{{ messages.clear() }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os.system('touch ran') }}",
    "{{ range(999999999) | list }}",
    "{{ tojson.__globals__ }}{{ messages | tojson(indent=messages) }}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_text_template_stays_in_its_sandbox(dsreg: Dsreg, project: Path, template: str) -> None:
    (project / "chat.jinja").write_text(template)
    done = dsreg("export", "rivers", "--target", "pretrain", "--text-template", "chat.jinja")
    assert done.code in (0, 1, 2) and not (project / "ran").exists(), done
    output = project / "exports/pretrain/rivers.jsonl"
    text = output.read_text() if output.exists() else ""
    assert "object" not in text and "root:" not in text and "globals" not in text, text
    assert json.loads((project / "data/rivers.jsonl").read_text().splitlines()[0])
