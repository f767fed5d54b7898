"""Every reason a prediction can give: its code, how grave it is, and what LlamaFactory does about it.

Facts are those of LlamaFactory 0.9.5 with `datasets` 4.0; the checker attaches hints to the reason ids.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Reason(NamedTuple):
    """One line of the table: `code`, `severity`, `effect` (what LlamaFactory does), `explain` (one sentence)."""

    code: str
    severity: Severity
    effect: str
    explain: str


_STOP = "LlamaFactory stops before training"
_SLOW = "the rows are not checked; LlamaFactory may run out of memory"
_DROP = "LlamaFactory leaves the row out with a warning"
_KEEP = "LlamaFactory uses the row"
_GO_ON = "LlamaFactory goes on"

# Registry and entry: DS10x. Stage: DS11x. Files and loading: DS12x, DS13x. Rows: DS23x, DS25x, DS26x-DS28x;
# DS201-DS229 are the row errors of dsreg's own readers.
REASONS: dict[str, Reason] = {
    # registry
    "registry_unreadable": Reason("DS101", "error", _STOP, "dataset_info.json cannot be opened or is not JSON."),
    "undefined_dataset": Reason("DS102", "error", _STOP, "No entry of dataset_info.json has this name."),
    "entry_not_object": Reason("DS103", "error", _STOP, "The entry is not a JSON object."),
    "no_source": Reason("DS104", "error", _STOP, "The entry has no file_name and no other source."),
    "columns_not_object": Reason("DS105", "error", _STOP, "`columns` is there but is not an object."),
    "tags_not_object": Reason("DS106", "error", _STOP, "`tags` is there but is not an object."),
    # stage
    "stage_needs_ranking": Reason("DS110", "error", _STOP, "This stage compares answers; the entry is not ranked."),
    "stage_forbids_ranking": Reason("DS111", "error", _STOP, "The entry is ranked; only rm and dpo take ranked data."),
    # load
    "source_not_text": Reason("DS120", "error", _STOP, "The source of the entry is not text."),
    "file_not_found": Reason("DS121", "error", _STOP, "The file or folder of the entry does not exist."),
    "file_type": Reason("DS122", "error", _STOP, "Only arrow, csv, json, jsonl, parquet and txt files are read."),
    "folder_empty": Reason("DS123", "error", _STOP, "The folder of the entry is empty."),
    "folder_mixed": Reason("DS124", "error", _STOP, "Everything in the folder must be a file of one type."),
    "file_content": Reason("DS125", "error", _STOP, "The content cannot be parsed as what the suffix claims."),
    "type_change": Reason("DS126", "error", _STOP, "A column changes its type, in one file or between files."),
    "schema_lock": Reason("DS127", "error", _STOP, "Columns or keys appear that the first 10 MiB or file do not have."),
    "no_rows": Reason("DS128", "error", _STOP, "There is not a single row to load."),
    "split_unknown": Reason("DS129", "error", _STOP, "The split does not exist; a plain file only has `train`."),
    "split_not_text": Reason("DS130", "error", _STOP, "`split` must be text such as `train` or `train[:90%]`."),
    "script_forbidden": Reason("DS131", "error", _STOP, "Loading scripts are no longer supported."),
    "cloud_protocol": Reason("DS132", "error", _STOP, "Cloud files must be s3:// or gs:// addresses."),
    "num_samples_invalid": Reason("DS133", "error", _STOP, "`num_samples` must be a whole number of at least 1."),
    "config_unknown": Reason("DS134", "error", _STOP, "`subset` names a configuration that the folder does not have."),
    "type_unknown": Reason("DS135", "error", _STOP, "A column has an Arrow type that `datasets` does not know."),
    "too_many_keys": Reason("DS136", "error", _SLOW, "Rows have so many different keys that their table is huge."),
    # align, for the dataset as a whole
    "converter_unknown": Reason("DS140", "error", _STOP, "`formatting` is not alpaca, sharegpt or openai."),
    "rows_unlike": Reason(
        "DS141", "error", _STOP, "Converted rows do not fit the types that the first 1,000 rows set."
    ),
    "nothing_left": Reason("DS142", "error", _STOP, "The slice or the sample leaves no row."),
    # what depends on the environment, or cannot be seen from here
    "order_of_folder": Reason("DS150", "note", _GO_ON, "The order of rows follows the file system's order of files."),
    "random_sample": Reason("DS151", "note", _GO_ON, "num_samples draws rows at random; shown is the draw of seed 42."),
    "not_local": Reason("DS152", "note", _GO_ON, "The data is on a hub or in the cloud; its rows were not looked at."),
    "folder_configs": Reason(
        "DS155", "note", _GO_ON, "README.md of the folder says what is read; it was not followed."
    ),
    "source_ignored": Reason("DS153", "warning", _GO_ON, "Another source in the entry wins; this one is never read."),
    "dates_read": Reason("DS154", "warning", _GO_ON, "Date-like text of this column is read as timestamps, not text."),
    # rows that stop the run
    "missing_column": Reason("DS261", "error", _STOP, "A column the entry names is not in the data."),
    "column_unset": Reason("DS262", "error", _STOP, "The row needs a column that the entry leaves unset."),
    "missing_key": Reason("DS263", "error", _STOP, "A message lacks the key that a tag names."),
    "tag_unset": Reason("DS264", "error", _STOP, "A tag that messages need is unset in the entry."),
    "bad_column_name": Reason("DS265", "error", _STOP, "A column or tag of the entry is not text."),
    "prompt_not_text": Reason("DS266", "error", _STOP, "The prompt or query is neither text nor empty."),
    "history_shape": Reason("DS267", "error", _STOP, "history must be a list of [question, answer] pairs."),
    "messages_null": Reason("DS268", "error", _STOP, "The messages of the row are null."),
    "messages_not_list": Reason("DS269", "error", _STOP, "The messages of the row are not a list of objects."),
    "unknown_role": Reason("DS270", "error", _STOP, "A role is not among the tags."),
    "tool_content_not_text": Reason("DS271", "error", _STOP, "A tool result that must be joined is not text."),
    "tool_calls_shape": Reason("DS272", "error", _STOP, "tool_calls is not a list of objects with `function`."),
    "system_not_text": Reason("DS273", "error", _STOP, "The system prompt is not text."),
    "media_null": Reason("DS274", "error", _STOP, "A media list holds a null or a value that is no path."),
    "content_not_text": Reason("DS275", "error", _STOP, "The content of a message is not text when it is tokenised."),
    "role_not_allowed": Reason("DS276", "error", _STOP, "A message has a role that cannot be tokenised there."),
    "tools_not_json": Reason("DS277", "error", _STOP, "tools is not the JSON text of a list of functions."),
    "tools_shape": Reason("DS278", "error", _STOP, "A tool lacks what the template needs from it."),
    "call_not_json": Reason("DS279", "error", _STOP, "The text of a function call is not JSON."),
    "call_shape": Reason("DS280", "error", _STOP, "A function call lacks name or arguments."),
    "empty_prompt_pt": Reason("DS281", "error", _STOP, "A broken row has no first message, which pretraining needs."),
    "row_unreadable": Reason("DS282", "error", _STOP, "The row cannot be converted."),
    # rows that are dropped
    "role_order": Reason("DS230", "warning", _DROP, "Roles do not alternate as user or tool, then assistant or call."),
    "message_count": Reason("DS231", "warning", _DROP, "The number of messages does not fit: no answer at the end."),
    "no_messages": Reason("DS232", "warning", _DROP, "The row has no messages."),
    "response_not_text": Reason("DS233", "warning", _DROP, "The answer is null or not text."),
    "response_unset": Reason("DS234", "warning", _DROP, "The entry maps no response column."),
    "pair_incomplete": Reason("DS235", "warning", _DROP, "chosen and rejected are not both what this format needs."),
    "kto_tag_not_bool": Reason("DS236", "warning", _DROP, "The KTO label is not true or false."),
    "one_answer": Reason("DS237", "warning", _DROP, "The stage compares two answers; the row has one."),
    "two_answers": Reason("DS238", "warning", _DROP, "The stage takes one answer; the row has two."),
    "prompt_even": Reason("DS239", "warning", _DROP, "The prompt does not end with the user's turn."),
    # rows that are used, with a surprise
    "pair_role": Reason("DS250", "warning", _KEEP, "chosen or rejected has a role that is not the assistant's."),
    "tool_result_lost": Reason("DS251", "warning", _KEEP, "Tool results at the end of a row are lost."),
    "text_beside_call_lost": Reason("DS252", "warning", _KEEP, "Text beside tool_calls is replaced by the calls."),
    "media_missing": Reason("DS253", "warning", _KEEP, "A media file is not in media_dir; its path is used as it is."),
    "media_count": Reason("DS254", "warning", "Multimodal templates stop", "Placeholders and media do not match."),
    "kto_flips": Reason("DS255", "warning", _KEEP, "A desirable row with an empty answer counts as undesirable."),
    "history_keys": Reason("DS256", "warning", _KEEP, "A history item is no pair: its keys or letters are used."),
}
