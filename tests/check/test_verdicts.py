"""`check FILE --format F` against what the consumers of F said about the same files; each deviation with its reason."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.check.conftest import run
from tests.formats.test_nova_verdicts import FORMATS

# file: the exit code, a code that says it, and why it is not an error (or is one)
DEVIATIONS: dict[str, tuple[int, str, str]] = {
    "bm_seed_bad_int": (0, "DS325", "a number as a prompt is written as text"),
    "trl_kto_paired": (1, "DS324", "pairs are hf-preference's; TRL's KTO takes them apart, dsreg by `--target hf-kto`"),
    "verl_rl_bad_gt_date": (0, "", "only verl's own scorer for this data_source wants another text"),
    "verl_rl_bad_gt_int": (0, "DS325", "a number as ground truth is written as text"),
    "verl_rl_bad_no_reward": (0, "DS325", "a prompt without ground truth is a row; reward_model is added"),
    "verl_rl_bad_unknown_source": (0, "DS416", "a reward function of one's own makes it right"),
    "verl_rl_sagemaker_min": (0, "DS325", "the style is added"),
    "verl_rl_tools_union": (0, "DS412", "objects come back as they were before Arrow unified them"),
    "dpo_three": (1, "DS202", "a sample is one pair; cutting candidates would lose data"),
    "rlvr_kw": (1, "DS304", "the guide says the training job fails on reserved words"),
    "neval_metaobj": (0, "DS325", "metadata is left out: one validator wants text, another an object"),
    "rlvr_converse": (0, "DS325", "content blocks of one text are written as text"),
    "rlvr_developer": (0, "DS325", "the developer's turn is written as system"),
    "rlvr_id_int": (0, "DS325", "the id is written as text"),
    "rlvr_list": (0, "DS325", "the answer is written as an object"),
    "rlvr_str": (0, "DS325", "the answer is written as an object"),
    "sft_bom": (0, "DS326", "no byte order mark is written"),
    "sft_doc": (0, "", "only the transform schema refuses documents, which guide and both validators take"),
    "sft_image_jpg": (0, "DS325", "jpg is written as jpeg"),
    "sft_kw_lower": (0, "DS403", "a reserved word in another letter case is an advisory"),
    "sft_kw_user": (0, "DS403", "a reserved word in another letter case is an advisory"),
    "sft_mixed_image": (0, "DS402", "features in some rows only are an advisory"),
    "sft_no_eol": (0, "", "only one format detector wants the last line ended"),
    "sft_noversion": (0, "DS325", "the schema version is written"),
    "sft_pretty": (0, "DS326", "one row a line is written"),
    "sft_tool_image": (0, "DS415", "tools beside media are an advisory"),
    "sft_tool_json": (0, "DS325", "a tool's answer is written as text"),
}


def compare(path: Path, format: str, accepted: bool) -> None:
    done = run("check", str(path), "--format", format, "--json")
    assert done.code in (0, 1), done.err
    codes = {issue["code"] for issue in done.json["issues"]}
    if path.stem in DEVIATIONS:
        code, said, _ = DEVIATIONS[path.stem]
        assert done.code == code != (0 if accepted else 1)
        assert not said or said in codes
    else:
        assert (done.code == 0) is accepted, codes


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_targets(shared: Path) -> None:
    folder = shared / "conformance" / "targets"
    said: dict[tuple[str, str], set[str]] = {}
    for row in rows(folder / "verdicts.tsv"):
        if row["format"]:
            said.setdefault((row["file"], row["format"]), set()).add(row["verdict"])
    assert len(said) > 25
    for (file, format), verdicts in said.items():
        compare(folder / file, format, verdicts == {"accept"})


@pytest.mark.parametrize("kind", FORMATS)
def test_nova(kind: str, shared: Path) -> None:
    folder = shared / "conformance" / "aws"
    format, validators = FORMATS[kind]
    said: dict[str, set[str]] = {}
    for row in rows(folder / "verdicts.tsv"):
        if row["sample"].partition("_")[0] == kind and row["validator"] in validators:
            said.setdefault(row["sample"], set()).add(row["verdict"])
    assert said
    for sample, verdicts in said.items():
        compare(next(folder.glob(f"{sample}.*")), format, verdicts == {"P"})
