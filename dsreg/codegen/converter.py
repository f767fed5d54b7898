"""Render the standalone script of one conversion: the code that dsreg runs, pasted around its constants."""

from __future__ import annotations

from dsreg.codegen.bundle import PASTED, Bundle, Section
from dsreg.codegen.literals import Call, Code
from dsreg.codegen.templating import heading, render_template
from dsreg.errors import UsageError
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.pipeline import Steps
from dsreg.runner import Conversion, must_survey

SHARED = ("dsreg.codegen.", "dsreg.rows.bad", "dsreg.rows.strict", "dsreg.notes")
"""Modules of dsreg that are pasted beside the row code."""

BASICS = ("dsreg.rowcode.errors", "dsreg.rowcode.constants")
WRITTEN = {"json": "a JSON array", "jsonl": "JSON Lines", "parquet": "JSON Lines"}
# What the template itself defines, and what it uses.
DEFINED = ("SOURCE", "TARGET", "CONTAINER", "STEPS", "samples_of", "convert", "survey_file", "convert_file", "main")
USED: dict[str, tuple[str, ...]] = {
    "dsreg.rowcode.errors": ("RowError",),
    "dsreg.rowcode.constants": ("Constants",),
    "dsreg.rowcode.columns": ("as_object",),
}
USED_LAST: dict[str, tuple[str, ...]] = {
    "dsreg.rows.bad": ("BadRow",),
    "dsreg.codegen.script_json": ("Stop",),
    "dsreg.codegen.script_input": ("read_rows",),
    "dsreg.codegen.script_output": ("RowFile", "whole_file", "reject_of", "report", "arguments"),
}


def render_converter(conversion: Conversion, *, container: str | None = None) -> str:
    """The script that does this conversion with the standard library alone.

    `container` is "json", "jsonl" or "parquet", by default the target's own. Raises UsageError for a conversion that
    needs a text template, and for a format whose code cannot stand in a script of its own.
    """
    steps, target = conversion.steps, conversion.target
    container = container or target.manifest.container
    survey = must_survey(conversion)
    held = bool(steps.unheld or steps.skip or steps.strip)
    bundle, source_fields, target_fields = collect(conversion, survey=survey, held=held)
    sets_aside = held or steps.adapt is not None
    values = {
        "name": conversion.source.name,
        "source_id": conversion.source.format.id,
        "target_id": target.id,
        "extra": target.manifest.extra,
        "named": Code(", ".join(target.manifest.named) or "none"),
        "written": Code(WRITTEN[container]),
        "parquet": container == "parquet",
        "container": "json" if container == "json" else "jsonl",
        "imports": Code("\n".join(bundle.import_lines())),
        "source": constants_call(steps.source, source_fields),
        "target": constants_call(steps.target, target_fields),
        "steps": steps_call(steps) if held else None,
        "adapt": Code(adapt_name(steps)),
        "take": steps.take,
        "survey": survey,
        "sets_aside": sets_aside,
        "failures": Code("(RowError, SetAside)" if sets_aside else "RowError"),
        **pasted(bundle),
    }
    return render_template("converter.py.j2", values)


def collect(conversion: Conversion, *, survey: bool, held: bool) -> tuple[Bundle, set[str], set[str]]:
    """All source that the script needs, and the fields that its two Constants are read for."""
    steps = conversion.steps
    reader = conversion.source.format.folder / "reader.py"
    writer = conversion.target.folder / "writer.py"
    write = ["write_row", "survey", "decide"] if survey else ["write_row"]
    bundle = Bundle(PASTED + SHARED)
    bundle.reserve(*DEFINED)
    for module, name in (("collections", "Counter"), ("typing", "Any"), ("sys", "")):
        bundle.import_name(module, name)
    for module, names in USED.items():
        bundle.add(module, *names)
    bundle.add(reader, "read_row")
    if steps.adapt is not None:
        bundle.add("dsreg.rowcode.adapt", adapt_name(steps))
        bundle.add("dsreg.rowcode.pipeline", "SetAside")
    if held:
        bundle.add("dsreg.rowcode.pipeline", "convert_row")
    bundle.add(writer, *write)
    if survey:
        bundle.add("dsreg.notes", "Notes")
    for module, names in USED_LAST.items():
        bundle.add(module, *names)
    constants = ("dsreg.rowcode.constants", "Constants")
    source_fields = bundle.attributes(reader, "read_row", apart_from=constants) | {"columns", "extras"}
    return bundle, source_fields, bundle.attributes(writer, *write, apart_from=constants)


def adapt_name(steps: Steps) -> str:
    """The name of the step between tasks, empty without one; raises UsageError for a text template."""
    if steps.adapt is None:
        return ""
    if steps.adapt.__module__ != "dsreg.rowcode.adapt":
        raise UsageError(
            "a script of its own cannot render a text template: that needs Jinja",
            hint="leave out --text-template, or use `dsreg export`",
        )
    return steps.adapt.__name__


def constants_call(constants: Constants, fields: set[str]) -> Call:
    """The constants of one side, without those that nothing reads."""
    read = fields | {"task"} | ({"columns"} if "used" in fields else set())
    names = [name for name in ("task", "columns", "extras", "tags", "options") if name in read]
    return Call("Constants", {name: value for name in names if (value := getattr(constants, name))})


def steps_call(steps: Steps) -> Call:
    """The steps of a conversion that must hold back what its target cannot hold."""
    names = {
        "read_row": Code("read_row"),
        "source": Code("SOURCE"),
        "adapt": Code(adapt_name(steps) or "None"),
        "take": steps.take,
        "write_row": Code("write_row"),
        "target": Code("TARGET"),
        "target_id": steps.target_id,
    }
    features = {"unheld": steps.unheld, "skip": steps.skip, "strip": steps.strip}
    return Call("Steps", names | {name: value for name, value in features.items() if value})


def pasted(bundle: Bundle) -> dict[str, Code]:
    """The parts of the script: the two basic classes, the code for rows, the code for files."""
    sections = bundle.ordered()
    basics = [section.source() for section in sections if section.key in BASICS]
    rows = [with_heading(s) for s in sections if s.key not in BASICS and not s.key.startswith(SHARED)]
    files = [with_heading(section) for section in sections if section.key.startswith(SHARED)]
    return {
        "basics": Code("\n\n\n".join(basics)),
        "rows": Code("\n\n\n".join(rows)),
        "files": Code("\n\n\n".join(files)),
    }


def with_heading(section: Section) -> str:
    """The source of a section below a comment that says what it is about."""
    return f"{heading(section.module.title)}\n\n\n{section.source()}"
