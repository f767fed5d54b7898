"""Jinja environments in which every `{{ value }}` becomes a literal of the language that the template writes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

import jinja2

from dsreg.codegen import literals
from dsreg.codegen.literals import Code
from dsreg.formats import templates_dir

LITERALS: dict[str, Callable[[Any], str]] = {
    "python": literals.python_literal,
    "json": literals.json_literal,
    "yaml": literals.yaml_literal,
    "shell": literals.shell_literal,
    "markdown": literals.markdown_literal,
    "html": literals.html_literal,
}
KINDS = {
    ".py": "python",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".sh": "shell",
    ".txt": "shell",
    ".md": "markdown",
    ".html": "html",
}
_SHELL_COMMENT = re.compile(r"^\s*#.*\{\{", re.MULTILINE)
_RULE = "# " + "-" * 78


@functools.cache
def environment(kind: str) -> jinja2.Environment:
    """The environment for "python", "json", "yaml", "shell", "markdown" or "html".

    A value is written as a literal of that language whatever the template's author does; only `Code` is pasted as it
    is. A name that has no value is an error.
    """
    to_literal = LITERALS[kind]

    def finalize(value: Any) -> str:
        if isinstance(value, jinja2.Undefined):
            return str(value)  # raises, and names it
        return str(value) if type(value) is Code else to_literal(value)

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_dir()),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters.update(docstring=literals.docstring, heading=heading)
    return made


def heading(text: str) -> Code:
    """A comment that begins a part of a script; `text` is ours, and on one line."""
    return Code(f"{_RULE}\n# {' '.join(text.split())}")


def render_template(path: str, values: Mapping[str, Any]) -> str:
    """Render a template below `templates/`; its suffix before `.j2` decides how values are written.

    Raises KeyError for a suffix without a language, jinja2.UndefinedError for a name without a value, and ValueError
    or TypeError for a value that the language cannot hold.
    """
    kind = KINDS[PurePosixPath(path.removesuffix(".j2")).suffix]
    made = environment(kind)
    template = made.get_template(path)
    if kind == "shell" and made.loader and _SHELL_COMMENT.search(made.loader.get_source(made, path)[0]):
        raise ValueError(f"{path}: a value in a comment could end it with a line break")
    return template.render(values)
