"""The command `dsreg`: its commands, and the boundary where errors become messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from dsreg import __version__
from dsreg.cli import output
from dsreg.cli.here import choose_folder
from dsreg.errors import DsregError

COMMANDS = tuple("init add list show set rename remove check sync export convert render preview formats".split())
"""Each has the module of its name in this package, and a function or a group of its name in that."""


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands; importing and setting up all of them takes longer than running one."""
    app = typer.Typer(
        name="dsreg",
        help="Keep a repository of fine-tuning datasets in order: register, check, export.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(root)
    for name in names:
        command = getattr(import_module(f"dsreg.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command()(command)
    return app


def named_in(arguments: Sequence[str]) -> Sequence[str]:
    """The command that these arguments name, behind options that go before it; all where they begin otherwise."""
    rest = list(arguments)
    while rest and rest[0] in ("-C", "-q", "--quiet"):
        del rest[: 2 if rest[0] == "-C" else 1]
    return rest[:1] if rest and rest[0] in COMMANDS else COMMANDS


def _version(wanted: bool) -> None:
    if wanted:
        output.data(f"dsreg {__version__}")
        raise typer.Exit


def root(
    folder: Annotated[
        str | None, typer.Option("-C", metavar="DIR", help="Work in the project at DIR; DSREG_ROOT does the same.")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say only what goes wrong.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Keep a repository of fine-tuning datasets in order: register, check, export."""
    choose_folder(folder)
    output.set_quiet(quiet)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; every error ends here.

    0 done, 1 findings in the data, 2 refused, 3 a bug in dsreg, 130 interrupted, 141 nobody reads the output.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _open_closed()
    _use_utf8()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for some reads what is installed
    try:
        _end_like_interrupted()
        with _WithoutPandas():
            code = make_app(named_in(arguments))(arguments, prog_name="dsreg", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:  # typer makes an exit code of it
            output.error("interrupted")
        return code if isinstance(code, int) else 0
    except DsregError as error:
        return _refused(error)
    except (KeyboardInterrupt, typer.Abort):
        output.error("interrupted")
        return 130
    except (BrokenPipeError, SystemExit):  # typer ends the process where it meets a broken pipe itself
        _silence()
        return 141
    except OSError as error:
        place = str(error.filename) if error.filename is not None else ""
        output.error(error.strerror or str(error), where=place)
        return 2
    except MemoryError:
        output.error("there is not enough memory")
        return 2
    except Exception as error:
        return _misused(error) if hasattr(error, "format_message") else _crashed(error, arguments)


def _open_closed() -> None:
    """Let go into nothing what is printed where the shell closed a stream: `dsreg list >&-`."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def _end_like_interrupted() -> None:
    """Clean up when the process is told to end, as it does after Ctrl-C."""

    def stop(signal: int, frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


class _WithoutPandas:
    """Keeps pyarrow from importing pandas, which takes long, only to ask whether a list is one of its columns."""

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Say that there is no pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _use_utf8() -> None:
    """Data is UTF-8 whatever the terminal's settings; talk is never a reason to stop."""
    for stream, errors in ((sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors)


def _silence() -> None:
    """Let the interpreter flush at its end into nothing, where nobody reads standard output any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _refused(error: DsregError) -> int:
    """Show an error that dsreg raised, with the rejects where it is about them."""
    from dsreg.export import Unwritten

    if isinstance(error, Unwritten):
        from dsreg.cli.report import show_rejects

        show_rejects(error.report)
    output.error(error.message, where=error.where, hint=error.hint)
    return error.exit_code


def _misused(error: Any) -> int:
    """Show what the command line's parser has to say, in the tone of the other errors."""
    if type(error).__name__ == "NoArgsIsHelpError":
        output.data(error.format_message())
        return 0
    message = error.format_message().partition(" (Possible options:")[0].replace("Value error, ", "")
    message, _, meant = message.partition(". Did you mean ")
    hint = f"did you mean {meant.rstrip('?')}?" if meant else _usage_hint(error)
    output.error(message[:1].lower() + message[1:].rstrip("."), hint=hint)
    return 2


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "dsreg"
    wrong = getattr(error, "option_name", "")
    if wrong in ("-C", "-q", "--quiet", "--version") and command != "dsreg":
        return f"it stands before the command: dsreg {wrong} {command.removeprefix('dsreg ')}"
    if len(wrong) == 2 and not getattr(error, "possibilities", None):
        return f"{command} --help; a name that begins with - stands after --"
    import difflib

    near = difflib.get_close_matches(wrong, getattr(error, "possibilities", None) or (), 1)
    return f"did you mean {near[0]}?" if near else f"{command} --help"


def _crashed(error: Exception, arguments: Sequence[str]) -> int:
    """Show whose fault it is: that of a format of the project, or dsreg's, with what is needed to repair it."""
    from dsreg.cli import crash  # with what it imports, only a crash is worth its time

    place = crash.in_own_format(error)
    if place:
        id = Path(place).parent.name
        output.error(
            f"the code of this format fails: {type(error).__name__}: {error}",
            where=output.path(place),
            hint=f"dsreg formats test {id}",
        )
        return 2
    path = crash.write_report(error, arguments)
    output.error(
        f"this is a bug in dsreg: {crash.summary(error)}",
        hint=f"please report it with {path}; it holds no data of yours" if path else "please report it",
    )
    return 3


if __name__ == "__main__":
    sys.exit(main())
