"""What starting dsreg costs: the help beside that of a bare Typer app, and commands that have little to do."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from measure import Result, best, run

DATASETS = 1000
ROUNDS = 20
"""Runs of a command that takes a part of a second."""


def startup(folder: Path, rounds: int) -> tuple[dict[str, dict[str, Result]], list[str]]:
    """Measure what a start costs, in seconds of a core; gives the results and the lines of a table."""
    (folder / "bare.py").write_text(bare_app(), "utf-8")
    (folder / "few.jsonl").write_text('{"instruction": "q", "output": "a"}\n' * 10)
    project = folder / "project"
    make_project(project)
    dsreg = [sys.executable, "-m", "dsreg"]
    convert = "convert few.jsonl --format alpaca --target nova-sft --force -o".replace("few", str(folder / "few"))
    commands = {
        "bare --help": [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(folder)!r}); import bare",
            "--help",
        ],
        "dsreg --help": [sys.executable, "-c", "from dsreg.cli.app import main; main()", "--help"],
        "convert 10 rows": [*dsreg, *convert.split(), str(folder / "few.out.jsonl")],
        f"list {DATASETS:,} datasets": [*dsreg, "-C", str(project), "list"],
        f"sync --check of {DATASETS:,} datasets": [*dsreg, "-C", str(project), "sync", "--check"],
    }
    run([*dsreg, "-C", str(project), "sync"])
    found: dict[str, list[Result]] = {name: [] for name in commands}
    for _ in range(ROUNDS if rounds > 1 else 1):
        for name, command in commands.items():
            found[name].append(run(command))
    made = {name: best(results) for name, results in found.items()}
    lines = ["## Start", "", "The bare app is of Typer, with the same commands, options and help.", ""]
    lines += ["| command | ms of a core | ms | MB of memory |", "|---|--:|--:|--:|"]
    lines += [f"| {name} | {it.cpu * 1e3:.0f} | {it.wall * 1e3:.0f} | {it.memory} |" for name, it in made.items()]
    return {"startup": made}, lines


def make_project(folder: Path) -> None:
    """A project of many small datasets."""
    (folder / "registry").mkdir(parents=True)
    (folder / "data").mkdir()
    columns = '[columns]\nprompt = "instruction"\nquery = "input"\nresponse = "output"\n'
    for i in range(DATASETS):
        rows = [{"instruction": f"q{i}", "input": "", "output": f"a{j}"} for j in range(20)]
        (folder / "data" / f"set{i}.json").write_text(json.dumps(rows))
        text = f'format = "alpaca"\nfile_name = "set{i}.json"\n\n{columns}'
        (folder / "registry" / f"set{i}.toml").write_text(text)


def bare_app() -> str:
    """The source of a Typer app with the commands, options and help texts of dsreg, that does nothing."""
    from dsreg.cli.app import make_app

    settings = "no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False"
    lines = ["from typing import Annotated", "import typer", f"app = typer.Typer({settings})"]
    app = make_app()
    lines += function("app.callback()", "root", app.registered_callback.callback)  # type: ignore[union-attr, arg-type]
    groups = [("app", app), *((f"group{i}", group.typer_instance) for i, group in enumerate(app.registered_groups))]
    for (name, group), info in zip(groups, [None, *app.registered_groups], strict=True):
        if info is not None:
            helped = f"help={group.info.help!r}, {settings}"  # type: ignore[union-attr]
            lines += [f"{name} = typer.Typer({helped})", f"app.add_typer({name}, name={info.name!r})"]
        for command in group.registered_commands:  # type: ignore[union-attr]
            does: Any = command.callback
            called = command.name or does.__name__
            lines += function(f"{name}.command({called!r})", f"{name}_{called}", does)
    return "\n".join([*lines, "app()", ""])


def function(decorator: str, name: str, does: Callable[..., Any]) -> Iterator[str]:
    """The source of a command with the parameters of this one."""
    hints = get_type_hints(does, include_extras=True)
    parameters = []
    for word, parameter in inspect.signature(does).parameters.items():
        kind, info = get_args(hints[word]) if get_origin(hints[word]) is Annotated else (hints[word], None)
        shown = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
        shown = re.sub(r"dsreg[.\w]*|<enum '\w+'>", "str", shown)
        given = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
        parameters.append(f"{word}: Annotated[{shown}, {described(info)}]{given}")
    yield f"@{decorator}"
    yield f"def {name}({', '.join(parameters)}) -> None: {inspect.getdoc(does)!r}"


def described(info: Any) -> str:
    """The source of what Typer is told of a parameter."""
    words = [repr(name) for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
    words += [f"{key}={getattr(info, key)!r}" for key in ("metavar", "help", "min") if getattr(info, key, None)]
    if info.show_default is False:
        words.append("show_default=False")
    return f"typer.{type(info).__name__.removesuffix('Info')}({', '.join(words)})"
