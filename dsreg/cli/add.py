"""`dsreg add`: register a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dsreg.cli import options, output

if TYPE_CHECKING:
    from dsreg.project import Root


def add(
    name: options.NewName,
    source: options.Source = None,
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
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over the entry of that name in dataset_info.json as it stands.")
    ] = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Register a file, a folder, or a dataset on a hub. What is not given is detected."""
    from dsreg.add import propose
    from dsreg.cli.asked import asked_of
    from dsreg.cli.changes import plan_json, tell_plan
    from dsreg.cli.here import here
    from dsreg.cli.proposal import proposal_json, tell_proposal
    from dsreg.errors import UsageError
    from dsreg.sync import add_dataset

    root = here()
    asked = asked_of(locals())
    if adopt:
        if source is not None or asked.given():
            raise UsageError("--adopt takes the entry as it stands, without other flags", hint=f"dsreg set {name} …")
        _adopt(root, name, dry_run=dry_run, json=json)
        return
    proposal = propose(root, name, source, asked)
    plan = add_dataset(root, name, proposal.dataset, dry_run=dry_run)
    if json:
        output.data_json({**proposal_json(name, proposal), **plan_json(plan, dry_run=dry_run)})
    else:
        tell_proposal(name, proposal)
        tell_plan(plan, dry_run=dry_run)
    if plan.problems:
        raise typer.Exit(1)


def _adopt(root: Root, name: str, *, dry_run: bool, json: bool) -> None:
    from dsreg.cli.changes import plan_json, tell_plan
    from dsreg.sync import adopt

    plan = adopt(root, [name], dry_run=dry_run)
    if json:
        output.data_json(plan_json(plan, dry_run=dry_run))
        return
    tell_plan(plan, dry_run=dry_run)
    if not plan.names:
        output.say(f"{name} is in the registry already")
