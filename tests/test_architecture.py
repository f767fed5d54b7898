"""The structure of the code: dependencies point one way, and only the command line talks."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from dsreg.formats import built_in, templates_dir

PACKAGE = Path(__file__).parent.parent / "dsreg"
# From the ground up; a module may import from its own layer and from those before it.
LAYERS = [
    {"errors", "rowcode", "notes"},
    {"tasks", "manifest", "model", "names", "advice"},
    {"files", "scratch", "jsonedit", "tomledit", "formats", "rows", "project", "parquet_schema", "llamafactory"},
    {"info", "entry", "format_options", "lock", "registry", "source", "uses", "text_template", "detection"},
    {"registered", "detected", "runner", "codegen"},
    {"export", "exported", "fast", "jobs"},
    {"descriptors"},
    {"derived", "matrix", "contract", "preview"},
    {"sync"},
    {"check", "api", "add"},
    {"cli"},
]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """The absolute names of all modules that a file imports, within functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def part(path: Path) -> str:
    """The top-level part of the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_dependencies_point_one_way(path: Path) -> None:
    if part(path) in ("__init__", "__main__"):
        return
    rank = {name: level for level, names in enumerate(LAYERS) for name in names}
    own = rank[part(path)]
    for module in imports(path):
        if module.startswith("dsreg."):
            assert rank[module.split(".")[1]] <= own, f"{path.name} must not import {module}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_talks(path: Path) -> None:
    if part(path) in ("cli", "__main__") or path.name == "script_output.py":  # pasted into scripts, which do talk
        return
    assert not imports(path) & {"typer", "rich", "click"}
    calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


ROW_CODE = [
    *sorted((PACKAGE / "rowcode").glob("*.py")),
    *(path for format in built_in().values() for path in format.folder.glob("*er.py")),
]


@pytest.mark.parametrize("path", ROW_CODE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_row_code_needs_only_the_standard_library(path: Path) -> None:
    for module in imports(path):
        assert module.startswith("dsreg.rowcode.") or module.split(".")[0] in sys.stdlib_module_names


def test_nobody_speaks_of_this_machine() -> None:
    for path in [*PACKAGE.rglob("*.py"), *templates_dir().rglob("*.*")]:
        if path.suffix in (".py", ".j2", ".toml"):
            text = path.read_text("utf-8")
            assert "/work/" not in text and "/root/" not in text, path


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno < 60, node.name
