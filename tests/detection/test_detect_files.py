"""What real files are taken for: the cookbook, LlamaFactory's demo data, and files found in the wild."""

from __future__ import annotations

import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dsreg.detection import Detection, detect
from dsreg.errors import DataFileError, UsageError
from dsreg.formats import built_in
from dsreg.rows import open_rows

ROOT = Path(__file__).parents[2]
ENTRIES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted((ROOT / "registry").glob("*.toml"))}


def sample(path: Path) -> list[Any]:
    with open_rows(path) as rows:
        return list(islice(rows, 200))


def needs(format: str) -> None:
    if format not in built_in():
        pytest.skip(f"there is no format {format}")


@pytest.mark.parametrize("name", ENTRIES)
def test_the_cookbook_is_registered_as_it_is_detected(name: str) -> None:
    entry = ENTRIES[name]
    needs(entry["format"])
    found = detect(sample(ROOT / "data" / entry["file_name"]))
    assert found.format == entry["format"]
    assert found.ranking == entry.get("ranking", False)
    assert found.tags == entry.get("tags", {})
    assert found.llamafactory_copy == (entry.get("llamafactory") == "copy")
    if "columns" in entry:
        assert found.columns == entry["columns"]
    else:
        defaults = built_in()[found.format].manifest.columns
        assert found.columns == {own: defaults[own] for own in found.columns}
    assert not [reason for reason in found.reasons if "cannot be read" in reason]


# LlamaFactory's entries say `sharegpt` with tags for what dsreg calls openai, and alpaca's prompt for pretraining.
DEMO = {
    "alpaca_en_demo.json": ("alpaca", "sft", {"prompt": "instruction", "query": "input", "response": "output"}),
    "identity.json": ("alpaca", "sft", {"prompt": "instruction", "query": "input", "response": "output"}),
    "glaive_toolcall_en_demo.json": ("sharegpt", "sft", {"messages": "conversations", "tools": "tools"}),
    "dpo_en_demo.json": (
        "sharegpt",
        "preference",
        {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
    ),
    "kto_en_demo.json": ("openai", "kto", {"messages": "messages", "kto_tag": "label"}),
    "mllm_demo.json": ("openai", "sft", {"messages": "messages", "images": "images"}),
    "mllm_video_audio_demo.json": ("openai", "sft", {"messages": "messages", "videos": "videos", "audios": "audios"}),
    "c4_demo.jsonl": ("pretrain", "pretrain", {"text": "text"}),
    "wiki_demo.txt": ("pretrain", "pretrain", {"text": "text"}),
}


@pytest.mark.parametrize("name", DEMO)
def test_demo_files_need_no_copy_and_all_rows_can_be_read(shared: Path, name: str) -> None:
    found = detect(sample(shared / "data/llamafactory" / name))
    assert (found.format, found.task, found.columns) == DEMO[name]
    assert not found.llamafactory_copy
    assert not [reason for reason in found.reasons if "cannot be read" in reason]


# Files from public repositories: the format and task, or a word of the refusal.
WILD: dict[str, tuple[str, str] | str] = {
    "alpaca_history_nested.json": ("alpaca", "sft"),
    "alpaca_identity_placeholders.json": ("alpaca", "sft"),
    "alpaca_instruction_output.csv": ("alpaca", "sft"),
    "alpaca_missing_comma_rows_crlf.json": "comma",
    "alpaca_torchtune_text_col.json": ("alpaca", "sft"),
    "benchmax_standardized_example.jsonl": ("benchmax", "prompt"),
    "csv_bom_mixed_eol.csv": "`user_input`",
    "csv_latin1.csv": "UTF-8",
    "eval_bedrock_conversation_turns.jsonl": "`conversationTurns`",
    "eval_bedrock_gold_multimodal.jsonl": "`gold`",
    "eval_bedrock_nested_samples.jsonl": "`evaluationSamples`",
    "eval_sagemaker_all_formats_mixed.jsonl": "different sets of columns",
    "json_is_jsonl_nulls.json": "cannot be told",
    "json_request_trailing_comma.json": "comma",
    "jsonl_completion_heterogeneous.jsonl": ("hf-prompt-completion", "sft"),
    "jsonl_hash_comments.jsonl": "cannot be told",
    "kto_alpaca_tag.json": ("alpaca", "kto"),
    "kto_en_label.json": ("openai", "kto"),
    "mllm_demo_images.json": ("openai", "sft"),
    "mllm_video_audio.json": ("openai", "sft"),
    "mllm_visual_mix.json": ("openai", "sft"),
    "nova_bedrock_tooluse_ft.jsonl": ("sharegpt", "sft"),
    "nova_converse_sft.jsonl": ("nova-sft", "sft"),
    "nova_converse_sft_pretty.json": ("nova-sft", "sft"),
    "nova_rft_invalid_empty_prompt.jsonl": ("alpaca", "sft"),
    "nova_rft_multiturn.csv": ("alpaca", "sft"),
    "nova_rft_multiturn_valid_nested.jsonl": "inside the object `metadata`",
    "openai_array_indent4.json": ("openai", "sft"),
    "openai_empty_assistant.jsonl": ("openai", "sft"),
    "openai_multimodal_nova.jsonl": ("openai", "sft"),
    "openai_reasoning_tools.jsonl": ("openai", "sft"),
    "openai_tool_calls_nova.jsonl": ("openai", "sft"),
    "openai_v1_parts_mixed.jsonl": ("openai", "sft"),
    "parquet_text_meta.parquet": ("pretrain", "pretrain"),
    "pref_dpo_en_inner_bom.json": ("sharegpt", "preference"),
    "pref_human_annotation.jsonl": "`answer1`",
    "pref_prompt_chosen_rejected.jsonl": ("hf-preference", "preference"),
    "pref_stack_exchange_paired.json": ("alpaca", "preference"),
    "pretrain_swift.csv": "`response`",
    "pretrain_wiki_demo_head.txt": ("pretrain", "pretrain"),
    "pretrain_wiki_json_is_jsonl.json": ("pretrain", "pretrain"),
    "sharegpt_crlf_ids_tabs.json": ("sharegpt", "sft"),
    "sharegpt_glaive_function_call.json": ("sharegpt", "sft"),
    "sharegpt_missing_turns_single_object.json": ("sharegpt", "sft"),
    "sharegpt_prose_header_line.jsonl": "`Customer`",
    "sharegpt_swift_conversations.jsonl": ("sharegpt", "sft"),
    "sharegpt_swift_multi_modal_3.jsonl": ("alpaca", "sft"),
    "swift_grpo_numeric_response.jsonl": ("openai-rft", "prompt"),
    "tsv_demo.tsv": ("pretrain", "pretrain"),
    "verl_bfcl_nested.parquet": ("verl", "prompt"),
    "verl_frozen_lake.jsonl": ("verl", "prompt"),
    "verl_prompt_list_only.parquet": ("verl", "prompt"),
    "verl_prompt_strings.parquet": "`prompt`",
}


def test_every_wild_file_is_in_the_table(shared: Path) -> None:
    assert {path.name for path in (shared / "data/wild").iterdir()} - {"MANIFEST.tsv"} == set(WILD)


@pytest.mark.parametrize("name", WILD)
def test_wild_files_are_told_or_refused(shared: Path, name: str) -> None:
    expected = WILD[name]
    path = shared / "data/wild" / name
    if isinstance(expected, str):
        with pytest.raises((UsageError, DataFileError), match=expected) as refused:
            detect(sample(path))
        assert refused.value.hint
        return
    needs(expected[0])
    found: Detection = detect(sample(path))
    assert (found.format, found.task) == expected


# Inputs made after public bug reports: what is told, and what the reasons say.
BUGS: dict[str, tuple[str, str, str]] = {
    "16-tags-missing-for-role-content/birds.json": ("openai", "sft", "`role` and `content`"),
    "18-mixed-role-vocabulary/mix.json": ("sharegpt", "sft", "`hummany` (row 3)"),
    "25-output-is-an-object/form.json": ("alpaca", "sft", "output: expected text, found an object"),
    "33-empty-row-object/tail.json": ("alpaca", "sft", "row 2"),
    "35-tools-blank-or-bad-json/t.json": ("sharegpt", "sft", "row 4"),
    "46-only-first-two-turns-kept/m.json": ("sharegpt", "sft", "`human` ×3"),
    "47-verl-missing-reward-model/raw.jsonl": ("alpaca", "sft", "`answer`: by its name"),
    "39-assistant-text-beside-call-lost/o.jsonl": ("openai", "sft", "needs a copy"),
}


@pytest.mark.parametrize("name", BUGS)
def test_reported_inputs_are_told_with_their_reason(shared: Path, name: str) -> None:
    format, task, reason = BUGS[name]
    found = detect(sample(shared / "conformance/bugs" / name))
    assert (found.format, found.task) == (format, task)
    assert any(reason in said for said in found.reasons)
