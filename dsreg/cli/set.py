"""`dsreg set`: change what is registered of a dataset."""

from __future__ import annotations

from typing import Annotated

import typer

from dsreg.cli import options, output


def set(
    name: options.Name,
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Another file or folder.", show_default=False)
    ] = None,
    format: options.Format = None,
    ranking: options.Ranking = None,
    column: options.Column = None,
    tag: options.Tag = None,
    hf_hub_url: options.HfHubUrl = None,
    ms_hub_url: options.MsHubUrl = None,
    om_hub_url: options.OmHubUrl = None,
    script_url: options.ScriptUrl = None,
    cloud_file_name: options.CloudFileName = None,
    subset: options.Subset = None,
    split: options.Split = None,
    folder: options.Folder = None,
    num_samples: options.NumSamples = None,
    copy: options.Copy = None,
    target: options.Targets = None,
    option: options.Settings = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="KEY", help="A key to remove: num_samples, columns.system, … Repeatable."),
    ] = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Change what is registered of a dataset. What is not given stays.

    --target replaces the list of targets; an empty value, as in --column system=, removes a column or a tag.
    """
    from dsreg.add import revise
    from dsreg.cli.asked import asked_of
    from dsreg.cli.changes import plan_json, tell_plan
    from dsreg.cli.here import here
    from dsreg.cli.proposal import proposal_json, tell_proposal
    from dsreg.sync import set_dataset

    root = here()
    proposal = revise(root, name, source, asked_of(locals()), unset or ())
    plan = set_dataset(root, name, proposal.dataset, dry_run=dry_run)
    if json:
        output.data_json({**proposal_json(name, proposal), **plan_json(plan, dry_run=dry_run)})
    else:
        tell_proposal(name, proposal)
        tell_plan(plan, dry_run=dry_run)
        if not plan.changes:
            output.say(f"{name} says so already")
    if plan.problems:
        raise typer.Exit(1)
