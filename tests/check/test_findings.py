"""Findings about small registries: code, place, and what the hint says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.check.conftest import Check, write

ROW = {"instruction": "Why?", "input": "", "output": "Because."}
CHAT = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
OPENAI = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
FILE: dict[str, Any] = {"file_name": "a.json"}
ASK = {"prompt": "instruction", "response": "output"}
SHARE = {**FILE, "formatting": "sharegpt"}
Found = Callable[..., list[dict[str, Any]]]

ENTRIES: list[tuple[str, dict[str, Any], list[dict[str, Any]], str, str, str]] = [
    # what it is, the entry, the rows, the code, the path, part of message or hint
    ("misspelt", {**FILE, "colums": ASK}, [ROW], "DS180", "colums", "did you mean `columns`?"),
    ("format", {**SHARE, "format": "sharegpt"}, [CHAT], "DS180", "format", "did you mean `formatting`?"),
    ("misspelt column", {**FILE, "columns": {**ASK, "promt": "x"}}, [ROW], "DS180", "columns.promt", "`prompt`"),
    ("misspelt tag", {**SHARE, "tags": {"role_tg": "from"}}, [CHAT], "DS180", "tags.role_tg", "`role_tag`"),
    ("own key", {**FILE, "owner": "geo"}, [ROW], "DS181", "owner", "LlamaFactory does not know `owner`"),
    ("stage", {**FILE, "stage": "rm"}, [ROW], "DS182", "stage", "`ranking` replaced it"),
    ("sample_num", {**FILE, "sample_num": 2}, [ROW], "DS182", "sample_num", "num_samples"),
    ("load_from", {**FILE, "load_from": "file"}, [ROW], "DS182", "load_from", "never was a key"),
    ("role", {**SHARE, "columns": {"messages": "conversations", "role": "from"}}, [CHAT], "DS182", "columns.role",
     "tags.role_tag"),
    ("no checksum", {**FILE, "file_sha1": None}, [ROW], "DS183", "file_sha1", "no checksum"),
    ("stale checksum", {**FILE, "file_sha1": "0" * 40}, [ROW], "DS183", "file_sha1", "changed since"),
    ("backwards", {**FILE, "columns": {"instruction": "prompt"}}, [ROW], "DS184", "columns.instruction", "backwards"),
    ("flat", {**SHARE, "messages": "conversations"}, [CHAT], "DS185", "messages", "belongs in `columns`"),
    ("tag in columns", {**SHARE, "columns": {"messages": "conversations", "role_tag": "from"}}, [CHAT], "DS185",
     "columns.role_tag", "belongs in `tags`"),
    ("singular", {**SHARE, "tag": {"role_tag": "from"}}, [CHAT], "DS185", "tag", "is called `tags`"),
    ("ranking as text", {**FILE, "ranking": "false"}, [ROW], "DS188", "ranking", '"ranking": false'),
    ("label and ranking", {**FILE, "ranking": True, "columns": {**ASK, "kto_tag": "k"}}, [ROW], "DS189",
     "ranking", "exclude"),
    ("pairs", {**FILE, "columns": {**ASK, "chosen": "c", "rejected": "r"}}, [ROW], "DS190", "columns.chosen", "true"),
    ("parent", {"file_name": "../x/a.json"}, [], "DS192", "file_name", "leads out of the folder"),
    ("absolute", {"file_name": "/mnt/nowhere/a.json"}, [ROW], "DS192", "file_name", '"file_name": "a.json"'),
    ("openai", {**FILE, "formatting": "openai"}, [CHAT], "DS194", "formatting", "rewrites system prompts"),
    ("equal tags", {**SHARE, "tags": {"user_tag": "u", "system_tag": "u"}}, [CHAT], "DS196",
     "tags.system_tag", "both 'u'"),
    ("no ranking", {**FILE, "ranking": True}, [ROW], "DS262", "chosen", "unset"),
    ("hub first", {**FILE, "hf_hub_url": "a/b"}, [ROW], "DS153", "file_name", "keep one source key"),
    ("hub", {"hf_hub_url": "a/b"}, [], "DS152", "", "not checked"),
    ("not there", {"file_name": "b.json"}, [ROW], "DS121", "file_name", '"file_name": "a.json"'),
    ("no such folder", {"file_name": "x/b.json"}, [ROW], "DS121", "file_name", "there is no folder"),
    ("split", {**FILE, "split": "test"}, [ROW], "DS129", "split", "leave `split` out"),
    ("formatting", {**FILE, "formatting": "ShareGPT"}, [CHAT], "DS140", "formatting", "small letters"),
    ("column", {**FILE, "columns": {"prompt": "instructions", "response": "output"}}, [ROW], "DS261", "instructions",
     '"prompt": "instruction"'),
    ("no input", FILE, [{"instruction": "i", "output": "o"}], "DS261", "input", "leave `query` out"),
    ("partial", {**FILE, "columns": {"prompt": "instruction", "system": "s"}}, [ROW | {"s": "Be kind."}], "DS146",
     "columns", "`columns` leaves `response` unset"),
    ("unread system", FILE, [ROW | {"system": "Be kind."}], "DS146", "columns", "`system`"),
    ("tags", {**SHARE, "columns": {"messages": "messages"}}, [OPENAI], "DS145", "tags", '"user_tag": "user"'),
    ("layout", FILE, [OPENAI], "DS149", "formatting", '"formatting": "sharegpt"'),
    ("all dropped", {**FILE, "columns": ASK}, [ROW | {"output": 5}], "DS156", "", "no row is left"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "rows", "code", "path", "text"), [case[1:] for case in ENTRIES],
                         ids=[case[0] for case in ENTRIES])  # fmt: skip
def test_entries(
    entry: dict[str, Any], rows: list[dict[str, Any]], code: str, path: str, text: str, found: Found, tmp_path: Path
) -> None:
    issues = [issue for issue in found(entry, a_json=rows) if issue["code"] == code]
    assert issues, code
    issue = next((issue for issue in issues if issue["path"] == path), issues[0])
    assert issue["path"] == path
    assert text in issue["message"] + issue["hint"]
    assert issue["file"] in (str(tmp_path / "dataset_info.json"), str(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("entry", "rows"),
    [
        (FILE, [ROW]),
        (SHARE, [CHAT]),
        ({**FILE, "columns": {**ASK, "query": "", "history": ""}}, [{"instruction": "i", "output": "o"}]),
        ({**FILE, "columns": {"prompt": "text"}}, [{"text": "Once upon a time."}]),
        ({"hf_hub_url": "a/b", "ms_hub_url": "c/d", "om_hub_url": "e/f"}, []),
    ],
    ids=["alpaca", "sharegpt", "empty column names", "pretraining", "mirrors"],
)
def test_nothing_is_found_in_what_is_right(entry: dict[str, Any], rows: list[dict[str, Any]], found: Found) -> None:
    assert [issue for issue in found(entry, a_json=rows) if issue["code"] != "DS152"] == []


def test_lines_point_at_the_key(tmp_path: Path, check: Check) -> None:
    entry = '"d": {\n    "file_name": "a.json",\n    "columns": {\n      "promt": "x"\n    }\n  }'
    text = f'{{\n  "a": {{"file_name": "a.json"}},\n  {entry}\n}}'
    (tmp_path / "dataset_info.json").write_text(text)
    (tmp_path / "a.json").write_text(json.dumps([ROW]))
    issues = check("--dataset-dir", str(tmp_path), "d", "--json").json["issues"]
    assert [issue["line"] for issue in issues if issue["code"] == "DS180"] == [6]


def turns(*roles: str) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": "…"} for role in roles]}


ROWS: list[tuple[str, dict[str, Any], dict[str, Any], str, str, str]] = [
    ("order", SHARE, turns("human", "human", "gpt"), "DS230", "conversations[1].from", "`human` follows `human`"),
    ("start", SHARE, turns("gpt", "human", "gpt"), "DS230", "conversations[0].from", "starts with `gpt`"),
    ("role", SHARE, turns("hummany", "gpt"), "DS230", "conversations[0].from", 'role "hummany" is none of the tags'),
    ("system inside", SHARE, turns("human", "system", "human", "gpt"), "DS230",
     "conversations[1].from", "in the middle"),
    ("end", SHARE, turns("human"), "DS231", "conversations", "ends with `human`: no answer"),
    ("empty", SHARE, {"conversations": []}, "DS232", "conversations", "no messages"),
    ("object", {**FILE, "columns": ASK}, {"instruction": "i", "output": {"a": 1}}, "DS233",
     "output", 'an object {"a": 1}'),
    ("call", SHARE, {"conversations": [{"from": "human", "value": "?"}, {"from": "function_call", "value": "{'a"}]},
     "DS279", "conversations[1].value", "Invalid JSON format"),
    ("tools", {**SHARE, "columns": {"messages": "conversations", "tools": "tools"}}, {**CHAT, "tools": " "},
     "DS277", "tools", "for no tools"),
    ("label", {**FILE, "columns": {**ASK, "kto_tag": "k"}}, {"instruction": "i", "output": "o", "k": "true"},
     "DS236", "k", 'text "true"'),
    ("two systems", {**SHARE, "columns": {"messages": "conversations", "system": "s"}},
     {**turns("system", "human", "gpt"), "s": "Be kind."}, "DS296", "s", "the column is lost"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "row", "code", "path", "text"), [case[1:] for case in ROWS],
                         ids=[case[0] for case in ROWS])  # fmt: skip
def test_rows(entry: dict[str, Any], row: dict[str, Any], code: str, path: str, text: str, found: Found) -> None:
    # the first row has the types of the second: Arrow would refuse the file otherwise
    usual = {**CHAT, "instruction": "i", "output": "o", "k": True}
    good = {key: usual.get(key) if type(usual.get(key)) is type(value) else None for key, value in row.items()}
    lines = f"{json.dumps(good)}\n{json.dumps(row)}"
    issues = found({**entry, "file_name": "a.jsonl"}, a_jsonl=lines)
    issue = next(issue for issue in issues if issue["code"] == code and issue["row"] == 2)
    assert (issue["path"], issue["line"]) == (path, 2)
    assert issue["file"].endswith("a.jsonl")
    assert text in issue["message"] + issue["hint"] + issue["consequence"]


def test_only_the_first_rows_of_a_kind_are_told(found: Found, check: Check, tmp_path: Path) -> None:
    issues = found(SHARE, a_json=[turns("gpt")] * 500)
    assert len([issue for issue in issues if issue["code"] == "DS230"]) == 20
    text = check("--dataset-dir", str(tmp_path)).out
    assert text.count("starts with `gpt`") == 3
    assert "… and 497 more of DS230" in text
    assert "d: 500 rows: 0 kept, 500 dropped (stage sft)" in text


def test_a_column_that_is_not_there_is_told_once(found: Found) -> None:
    issues = [
        issue for issue in found(FILE, a_json=[{"instruction": "i", "output": "o"}] * 9) if issue["code"] == "DS261"
    ]
    assert len(issues) == 1
    assert "(9 rows)" in issues[0]["message"]
    assert issues[0]["row"] is None


def test_a_link_that_leads_out_of_the_folder_is_told(found: Found, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "a.json").symlink_to(folder / "b.json")
    (folder / "b.json").write_text(json.dumps([ROW]))
    inside = found(FILE)
    assert "DS192" not in {issue["code"] for issue in inside}
    outside = tmp_path.parent / f"{tmp_path.name}-away.json"
    outside.write_text(json.dumps([ROW]))
    (tmp_path / "a.json").unlink()
    (tmp_path / "a.json").symlink_to(outside)
    told = [issue["message"] for issue in found(FILE) if issue["code"] == "DS192"]
    assert told == ["'a.json' is a link that leads out of the folder"]


WHOLE: list[tuple[str, dict[str, Any], Any, str, str]] = [
    ("copies", FILE, [ROW, ROW | {"instruction": "How?"}, ROW, ROW], "DS290", "2 rows are exact copies"),
    ("copies but for ids", FILE, [ROW | {"id": 1}, ROW | {"id": 2}], "DS290", "row 2 repeats 1"),
    ("empty answers", FILE, [ROW, ROW | {"output": " "}], "DS291", "1 answers are empty, first row 2"),
    ("equal pairs", {**FILE, "ranking": True, "columns": {"prompt": "i", "chosen": "c", "rejected": "r"}},
     [{"i": "?", "c": "a", "r": "a"}], "DS405", "same answer twice"),
    ("unequal pairs", {**FILE, "ranking": True, "columns": {"prompt": "i", "chosen": "c", "rejected": "r"}},
     [{"i": "?", "c": "a" * 90, "r": "a"}], "DS406", "as long as rejected"),
    ("many unequal pairs", {**FILE, "ranking": True, "columns": {"prompt": "i", "chosen": "c", "rejected": "r"}},
     [{"i": "?", "c": "ab", "r": "a"}] * 1000 + [{"i": "?", "c": "a", "r": "ab"}] * 1000, "DS406",
     "answers of the first 1,000 rows are 2.00 times"),
    ("labels", {**FILE, "columns": {"prompt": "i", "response": "o", "kto_tag": "k"}},
     [{"i": "?", "o": "a", "k": True}], "DS407", "all labels are desirable"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "rows", "code", "text"), [case[1:] for case in WHOLE], ids=[case[0] for case in WHOLE]
)
def test_all_rows_together(entry: dict[str, Any], rows: Any, code: str, text: str, found: Found) -> None:
    issue = next(issue for issue in found(entry, a_json=rows) if issue["code"] == code)
    assert text in issue["message"]
    assert issue["severity"] != "error"


def test_no_index_of_duplicates_where_they_are_ignored(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("overview.hash_of", "together.hashes", "copies.find_copies"):
        monkeypatch.setattr(f"dsreg.check.{name}", lambda *given: pytest.fail("copies were looked for"))
    assert found(FILE, "--ignore", "DS290", a_json=[ROW, ROW]) == []


def test_media(found: Found, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "1.png").write_bytes(b"")
    row = {
        "conversations": [{"from": "human", "value": "<image>?"}, {"from": "gpt", "value": "A cat."}],
        "images": ["1.png"],
    }
    columns = {"messages": "conversations", "images": "images"}
    (tmp_path / "pictures" / "a.json").write_text(json.dumps([row, row | {"images": []}]))
    issues = {issue["code"]: issue for issue in found({**SHARE, "file_name": "pictures/a.json", "columns": columns})}
    assert issues["DS253"]["path"] == "images[0]"
    assert issues["DS295"]["hint"] == f"media_dir: {tmp_path / 'pictures'}"


FILES: list[tuple[str, str, str, str, str, str]] = [
    ("array in txt", "a.txt", '[{"instruction": "i", "input": "", "output": "o"}]', "DS143", "warning", "a.json"),
    ("lines in json", "a.json", json.dumps(ROW) + "\n" + json.dumps(ROW), "DS144", "note", "JSON Lines"),
    ("array in jsonl", "a.jsonl", json.dumps([ROW]), "DS144", "note", "a JSON array"),
    ("broken", "a.json", '[{"instruction": "i"},]', "DS125", "error", "comma"),
    ("mixed types", "a.jsonl", '{"meta": "x"}\n{"meta": 5}', "DS147", "error", "text (row 1), numbers (row 2)"),
    (
        "pointer",
        "a.json",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1",
        "DS125",
        "error",
        "git lfs pull",
    ),
    ("empty", "a.json", "", "DS128", "error", "nothing in it"),
]


@pytest.mark.parametrize(("name", "text", "code", "severity", "says"), [case[1:] for case in FILES],
                         ids=[case[0] for case in FILES])  # fmt: skip
def test_files(name: str, text: str, code: str, severity: str, says: str, found: Found) -> None:
    issues = [i for i in found({"file_name": name}, **{name.replace(".", "_"): text}) if i["code"] == code]
    assert {issue["severity"] for issue in issues} == {severity}
    assert any(says in issue["message"] + issue["hint"] for issue in issues)


def test_the_summary_names_the_stages_that_fit(check: Check, tmp_path: Path) -> None:
    columns = {"prompt": "instruction", "query": "input", "response": "output", "kto_tag": "k"}
    write(tmp_path, {"d": {**FILE, "columns": columns}}, {"a_json": [ROW | {"k": True}, ROW | {"k": False}]})
    assert "(stage kto; fits ppo as well)" in check("--dataset-dir", str(tmp_path)).out
    done = check("--dataset-dir", str(tmp_path), "--stage", "sft")
    assert "d: 2 rows: 0 kept, 2 dropped (stage sft; fits kto, ppo)" in done.out
    assert "hint: --stage kto" in done.out
    assert done.code == 1


def test_dates_in_the_words_of_their_file(check: Check, tmp_path: Path) -> None:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    day = datetime.datetime(2024, 5, 1)
    pq.write_table(pa.table({"instruction": ["a"], "output": [day]}), tmp_path / "a.parquet")
    rows = "".join(json.dumps({"instruction": "a", "output": f"2024-05-0{at}"}) + "\n" for at in range(1, 4))
    (tmp_path / "b.jsonl").write_text(rows)
    write(tmp_path, {"a": {"file_name": "a.parquet"}, "b": {"file_name": "b.jsonl"}}, {})
    found = {
        result["dataset"]: next(issue["message"] for issue in result["issues"] if issue["code"] == "DS154")
        for result in check("--dataset-dir", str(tmp_path), "--json").json
    }
    assert found["a"] == "column 'output' holds timestamps, not text"
    assert found["b"] == "the text of column 'output' is read as timestamps"
