"""The command `dsreg`: its commands, and the boundary where errors become messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dsreg import __version__
from dsreg.cli import (
    add,
    check,
    convert,
    export,
    init,
    output,
    preview,
    remove,
    rename,
    render,
    show,
    sync,
)
from dsreg.cli import list as list_
from dsreg.cli import set as set_
from dsreg.cli.formats import formats
from dsreg.cli.here import choose_folder
from dsreg.errors import DsregError

app = typer.Typer(
    name="dsreg",
    help="Keep a repository of fine-tuning datasets in order: register, check, export.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    init.init,
    add.add,
    list_.list,
    show.show,
    set_.set,
    rename.rename,
    remove.remove,
    check.check,
    sync.sync,
    export.export,
    convert.convert,
    render.render,
    preview.preview,
):
    app.command()(command)
app.add_typer(formats, name="formats")


def _version(wanted: bool) -> None:
    if wanted:
        output.data(f"dsreg {__version__}")
        raise typer.Exit


@app.callback()
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
    try:
        _end_like_interrupted()
        code = app(arguments, prog_name="dsreg", standalone_mode=False)
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
