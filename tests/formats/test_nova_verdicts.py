"""What AWS's own validators said about small files, beside what reading and writing them as Nova rows says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsreg.errors import DataFileError
from dsreg.formats import find_format, options_of
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rows import BadRow, open_rows
from dsreg.source import columns_in

Row = dict[str, Any]
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "nova_cases" / "verdicts.jsonl").read_text("utf-8").splitlines()
]
# By the beginning of a case's name: the format, and the validators whose current version is for its default model.
# The samples script is no gate for RLVR: it refuses every row without tools, AWS's own example too.
FORMATS = {
    "sft": ("nova-sft", {"NSl2", "NFl2", "NFsch2", "SDKany", "SKtk"}),
    "cpt": ("nova-cpt", {"NF", "NS"}),
    "dpo": ("nova-dpo", {"NS", "SDKdpo", "SKtk"}),
    "rlvr": ("nova-rlvr", {"NF", "NFsch", "SDKany", "SKtk"}),
    "neval": ("nova-eval", {"NF", "NFsch", "SDKgq", "SKtk"}),
}
# Refused as they stand, but what dsreg writes in their place is what all of them take.
REPAIRED = {
    "sft_bom": "no byte order mark is written",
    "sft_image_jpg": "jpg is written as jpeg, the same type's accepted name",
    "sft_no_eol": "every line is ended",
    "sft_noversion": "the schema version is written",
    "sft_pretty": "one compact row a line is written",
    "sft_tool_json": "a tool's answer is written as text",
    "neval_metaobj": "metadata is left out: one validator wants text, another an object",
    "rlvr_converse": "content blocks of one text are written as text",
    "rlvr_developer": "the developer's turn is written as system",
    "rlvr_id_int": "the id is written as text",
    "rlvr_list": 'the answer is written as {"answer": …}',
    "rlvr_str": 'the answer is written as {"answer": …}',
}
# Refused by one of them, and written as they are.
ADVISED = {
    "sft_kw_lower": "a reserved word in another letter case is an advisory, DS403",
    "sft_kw_user": "a reserved word in another letter case is an advisory, DS403",
    "sft_mixed_image": "features in some rows only are an advisory, DS402",
    "sft_doc": "only the transform schema refuses documents, which guide and both validators take",
    "sft_tool_image": "tools beside media are an advisory, DS415",
}
# Taken by all of them, and refused.
STRICTER = {
    "dpo_three": "a sample is one pair; cutting candidates would lose data",
    "rlvr_kw": "the guide says the training job fails on reserved words",
}


def outcome(id: str, path: Path) -> str:
    """`written`, or the code of the first error; the file as a whole may be refused as well."""
    format = find_format(id)
    try:
        with open_rows(path) as stream:
            rows = list(stream)
    except DataFileError:
        return "file"
    for row in rows:
        if isinstance(row, BadRow):
            return row.code
        columns = columns_in(format, [row], {})
        task = format.task_of(columns)
        try:
            sample = format.reader.read_row(row, Constants(task, columns))
            options = options_of(format, "write", {})
            format.writer.write_row(sample, Constants(task, format.manifest.columns, options=options))
        except RowError as error:
            return error.code
    return "written"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_recorded_verdicts(case: Row, tmp_path: Path) -> None:
    name = case["name"]
    id, validators = FORMATS[name.partition("_")[0]]
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(case["text"].encode())
    said = {validator: verdict for validator, verdict in case["verdicts"].items() if validator in validators}
    assert said, "no validator of this format has seen the file"
    accepted = set(said.values()) == {"P"}
    found = outcome(id, path)
    if name in STRICTER:
        assert accepted and found.startswith("DS"), (found, said)
    elif name in REPAIRED or name in ADVISED:
        assert not accepted and found == "written", (found, said)
    else:
        assert (found == "written") is accepted, (found, said)


def test_deviations_are_of_recorded_cases() -> None:
    assert {*REPAIRED, *ADVISED, *STRICTER} <= {case["name"] for case in CASES}
