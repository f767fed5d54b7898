"""`dsreg check --fix`: repair entries."""

from __future__ import annotations

from pathlib import Path

from dsreg.cli import output


def fix_entries(names: list[str], dataset_dir: str | None, *, dry_run: bool) -> int:
    """Repair entries and say what was done; with `dry_run` show it as a diff and write nothing."""
    from dsreg.check.fixing import fix_folder, fix_project

    if dataset_dir is not None:
        path = Path(dataset_dir).expanduser()
        shown = output.path(path / "dataset_info.json")
        repairs = fix_folder(path, names or None, dry_run=dry_run, shown=shown)
    else:
        from dsreg.cli.here import here

        repairs = fix_project(here(), names or None, dry_run=dry_run)
    if dry_run and repairs.diff:
        output.data(repairs.diff.rstrip("\n"))
    for name, done in repairs.done.items():
        for text in done:
            output.say(f"{output.line(name)}: {output.line(text)}")
    if not repairs.done:
        output.say("nothing to repair")
    for path_written in repairs.written:
        output.say(f"updated {path_written}")
    return 0
