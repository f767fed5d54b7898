"""`dsreg formats new`: start a format of the project's own."""

from __future__ import annotations

from typing import Annotated

import typer

from dsreg.cli import options, output


def new(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="The new format's id.", show_default=False)],
    like: Annotated[
        str, typer.Option("--like", metavar="FORMAT", help="The format whose folder is copied.", show_default=False)
    ],
    dry_run: options.DryRun = False,
) -> None:
    """Copy a format's folder into the project's templates/formats, to be changed there."""
    from dsreg.cli.here import here
    from dsreg.contract import copy_format

    root = here()
    written = copy_format(root, format, like, dry_run=dry_run)
    for path in written:
        output.say(f"{'would create' if dry_run else 'created'} {root.shown(path)}")
    output.say(f"next: change them, then dsreg formats test {format}")
