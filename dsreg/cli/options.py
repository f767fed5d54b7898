"""Options and arguments that several commands share, and what their values mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from dsreg.errors import UsageError

Name = Annotated[str, typer.Argument(metavar="NAME", help="A registered dataset.", show_default=False)]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="The dataset's name.", show_default=False)]
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Registered datasets.")]
Source = Annotated[
    str | None,
    typer.Argument(metavar="[SOURCE]", help="A file or folder; without it, data/NAME.* is looked for."),
]

Format = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="What the data is.")]
Ranking = Annotated[
    bool | None,
    typer.Option("--ranking/--no-ranking", help="Whether rows are pairs of a chosen and a rejected answer."),
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME=COLUMN", help="The data's column for a name of the format. Repeatable."),
]
Tag = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG=VALUE", help="LlamaFactory's role and key tags. Repeatable.")
]
HfHubUrl = Annotated[str | None, typer.Option("--hf-hub-url", metavar="REPO", help="A dataset on Hugging Face.")]
MsHubUrl = Annotated[str | None, typer.Option("--ms-hub-url", metavar="REPO", help="A dataset on ModelScope.")]
OmHubUrl = Annotated[str | None, typer.Option("--om-hub-url", metavar="REPO", help="A dataset on Modelers.")]
ScriptUrl = Annotated[
    str | None, typer.Option("--script-url", metavar="FOLDER", help="A folder with a loading script.")
]
CloudFileName = Annotated[
    str | None, typer.Option("--cloud-file-name", metavar="URL", help="A file in s3:// or gs:// storage.")
]
Subset = Annotated[str | None, typer.Option("--subset", metavar="NAME", help="The subset of a hub dataset.")]
Split = Annotated[str | None, typer.Option("--split", metavar="NAME", help="The split; train without it.")]
Folder = Annotated[str | None, typer.Option("--folder", metavar="NAME", help="The folder inside a hub dataset.")]
NumSamples = Annotated[
    int | None, typer.Option("--num-samples", metavar="N", min=1, help="How many rows LlamaFactory takes.")
]
Copy = Annotated[
    bool | None,
    typer.Option("--copy/--no-copy", help="Whether LlamaFactory reads a converted copy instead of the file itself."),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="FORMAT", help="A target to keep a converter for. Repeatable."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="A setting of a format: `dsreg formats show`. Repeatable."),
]

Target = Annotated[str, typer.Option("--target", metavar="FORMAT", help="What it becomes.", show_default=False)]
Take = Annotated[str | None, typer.Option("--take", metavar="CHOICE", help="Which answer to take, where it matters.")]
Skip = Annotated[
    list[str] | None,
    typer.Option("--skip", metavar="FEATURE", help="Set aside rows that use a feature. Repeatable."),
]
Strip = Annotated[
    list[str] | None, typer.Option("--strip", metavar="FEATURE", help="Take a feature out of the rows. Repeatable.")
]
TextTemplate = Annotated[
    str | None,
    typer.Option("--text-template", metavar="FILE", help="A chat template for dialogues that become plain text."),
]
SkipInvalid = Annotated[
    bool, typer.Option("--skip-invalid", help="Write the good rows, and the rejected ones to a file beside them.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "-j", "--jobs", metavar="N", min=1, show_default=False, help="Processes at work; by default as many as gain."
    ),
]
Output = Annotated[str | None, typer.Option("-o", "--output", metavar="PATH", help="Where to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that dsreg did not write.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]


def parse_pairs(values: Sequence[str] | None, flag: str) -> dict[str, str]:
    """The key=value pairs of a repeatable option; raises UsageError for one without `=` or a key given twice."""
    found: dict[str, str] = {}
    for value in values or ():
        key, sign, rest = value.partition("=")
        if not sign or not key:
            raise UsageError(f"{flag} {value}: expected KEY=VALUE")
        if found.get(key, rest) != rest:
            raise UsageError(f"{flag} {key} is given twice, as {found[key]} and as {rest}")
        found[key] = rest
    return found
