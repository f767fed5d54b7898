"""`dsreg formats`: what dsreg can read and write."""

from __future__ import annotations

import typer

from dsreg.cli.formats import list as list_
from dsreg.cli.formats import matrix, new, show, test

formats = typer.Typer(help="List, describe, add and test formats.", no_args_is_help=True, rich_markup_mode=None)
for command in (list_.list, show.show, matrix.matrix, new.new, test.test):
    formats.command()(command)
