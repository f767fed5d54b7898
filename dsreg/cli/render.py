"""`dsreg render`: print the converter of a dataset."""

from __future__ import annotations

import sys

from dsreg.cli import options, output


def render(
    name: options.Name,
    target: options.Target,
    out: options.Output = None,
    take: options.Take = None,
    skip: options.Skip = None,
    strip: options.Strip = None,
    option: options.Settings = None,
    text_template: options.TextTemplate = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
) -> None:
    """Print a script that converts a dataset. It needs Python and nothing else; -o writes it to a file."""
    from pathlib import Path

    from dsreg.cli.choices import choices_of
    from dsreg.cli.here import project
    from dsreg.codegen.converter import render_converter
    from dsreg.export import check_output, container_of
    from dsreg.files import atomic_write
    from dsreg.format_options import check_options

    dataset = project()[name]
    choices = choices_of(take, skip, strip, option, text_template)
    conversion = dataset.conversion(target, choices)
    check_options(choices.options, [conversion.target])
    container = container_of(conversion, None, dataset.container(target, choices))
    script = render_converter(conversion, container=container)
    if out is None or out == "-":
        sys.stdout.write(script)
        return
    path = Path(out)
    check_output(path, conversion.source.files, ours=force)
    if not dry_run:
        atomic_write(path, script.encode("utf-8"))
    output.say(f"{'would write' if dry_run else 'wrote'} {out}; run it with: python {out} INPUT -o OUTPUT")
