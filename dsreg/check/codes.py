"""All codes in one table: what each means, how grave it is, what comes of it, an example, and where it is from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dsreg.check import entry, file, registry_file
from dsreg.check.finding import Rule
from dsreg.check.rows import severity_of
from dsreg.errors import NotFoundError
from dsreg.llamafactory.reasons import REASONS
from dsreg.model import closest


class Code(NamedTuple):
    """One line of the table."""

    code: str
    severity: str
    meaning: str
    consequence: str
    example: str = ""
    source: str = ""


_READ = "dsreg does not convert the row; `check FILE --format` refuses it"
_WRITE = "the export rejects the row"
_KNOW = "written all the same"

FURTHER = [
    Code("DS156", "error", "Every row is dropped in this stage.", "LlamaFactory stops: Cannot find valid samples"),
    Code("DS148", "note", "A column of a file holds several JSON types.", "loaders through Arrow fail on it"),
    Code("DS160", "warning", "A TOML of the registry or dsreg.toml holds an unknown key.", "it is kept and ignored"),
    Code("DS161", "warning", "dsreg.lock cannot be read as a whole.", "every readable line counts"),
    Code("DS162", "note", "The data of a dataset cannot be read, or is not there.", "`sync` goes on"),
    Code("DS163", "note", "The data changed since dsreg.lock was written.", "`dsreg sync` writes the new digest"),
    Code("DS164", "note", "An entry of dataset_info.json is not dsreg's.", "it stays as it is"),
    Code("DS166", "error", "A TOML of the registry cannot be read or says something impossible.", "not checked"),
    Code("DS167", "error", "dataset_info.json does not say what the registry says.", "LlamaFactory reads that"),
    Code("DS168", "note", "LlamaFactory has no entry for this dataset.", "only dsreg reads it"),
    Code("DS169", "warning", "Rows are not in the copy that LlamaFactory reads.", "it never sees those rows"),
    Code("DS171", "error", "dataset_info.json is the file of another tool.", registry_file.STOP),
    Code("DS201", "error", "The row is not valid JSON.", _READ, '{"a": NaN}'),
    Code("DS202", "error", "Turns stand in an order that the format does not have.", _READ, "the dialogue is empty"),
    Code("DS203", "error", "A column that the row needs is missing, or two stand for one.", _READ),
    Code("DS204", "error", "A value has the wrong type.", _READ, '"output": {"name": "Zoë"}'),
    Code("DS205", "error", "One object holds the same key twice.", _READ, '{"input": "a", "input": "b"}'),
    Code("DS206", "error", "A role is unknown, or stands where it cannot.", _READ, '"from": "hummany"'),
    Code("DS207", "error", "A row or a message is no object.", _READ),
    Code("DS208", "error", "Media and placeholders do not match, or a media list holds null.", _READ),
    Code("DS209", "error", "The tools are not a list of objects, or its JSON text.", _READ, '"tools": " "'),
    Code("DS210", "error", "A function call is not JSON or lacks what it needs.", _READ),
    Code("DS211", "error", "The row has two system prompts that differ, in a column and as first message.", _READ),
    Code("DS212", "error", "A label is not true or false.", _READ, '"kto_tag": 1'),
    Code("DS216", "error", "A content part or block is not known, or cannot stand there.", _READ),
    Code("DS217", "error", "A message has a key that the format does not have.", _READ),
    Code("DS290", "note", "Rows are exact copies of others, as LlamaFactory sees them.", "they count more than once"),
    Code("DS291", "warning", "Answers are empty or blank.", "the model learns to say nothing"),
    Code("DS295", "warning", "Media files are not in media_dir but elsewhere.", "their paths are used as they are"),
    Code(
        "DS296", "warning", "A row has a system column and begins with another system turn.", "the column is not used"
    ),
    Code("DS301", "error", "The row uses a feature that the target cannot hold.", _WRITE, "tools in an Alpaca file"),
    Code("DS302", "error", "The order of turns is not the target's.", _WRITE),
    Code("DS303", "error", "A text is empty or blank where the target wants one.", _WRITE),
    Code("DS304", "error", "A text holds a word that the target reserves.", _WRITE, "System: in a Nova file"),
    Code("DS305", "error", "The target does not take these media, or not there.", _WRITE),
    Code("DS306", "error", "The target does not take these tools, calls or results.", _WRITE),
    Code("DS307", "error", "The answer or ground truth is missing, or not what the target wants.", _WRITE),
    Code("DS308", "error", "The row has not the shape that an option of the target asks for.", _WRITE),
    Code("DS310", "error", "A value has no place in the target.", _WRITE),
    Code("DS311", "error", "The row cannot become a row of another task.", _WRITE),
    Code("DS312", "error", "The row cannot become plain text.", _WRITE),
    Code("DS320", "error", "The dataset cannot become the target, or not without a choice.", "the export is refused"),
    Code("DS321", "error", "The data cannot be read.", "the export is refused"),
    Code("DS322", "note", "Columns have no place in the target.", "they are left out"),
    Code("DS323", "error", "No row can be written.", "the export would be empty"),
    Code("DS324", "error", "The file is not of this format.", "no row can be used"),
    Code("DS325", "note", "dsreg would write the rows otherwise.", "consumers may refuse the file as it stands"),
    Code("DS326", "warning", "The file is no plain JSON Lines, which the format is.", "consumers may refuse it"),
    Code("DS401", "warning", "The target recommends more or fewer rows.", _KNOW),
    Code("DS402", "warning", "A feature is used by some rows and not by others.", _KNOW),
    Code("DS403", "warning", "A reserved word occurs in other letter case.", _KNOW),
    Code("DS404", "warning", "Answers in the history are no longer trained.", _KNOW),
    Code("DS405", "warning", "Chosen and rejected answers are equal.", "such pairs teach nothing"),
    Code("DS406", "note", "Chosen and rejected answers differ in length on average.", "a model may learn the length"),
    Code("DS407", "warning", "All labels are of one kind.", "KTO learns from the difference"),
    Code("DS408", "warning", "Rows end with a tool's result that no answer follows.", _KNOW),
    Code("DS409", "warning", "Arguments of calls are not the JSON text of an object.", _KNOW),
    Code("DS410", "warning", "The standard style gets no chat template.", _KNOW),
    Code("DS411", "warning", "A column has values of several types.", _KNOW),
    Code("DS412", "warning", "Objects are kept as JSON text.", _KNOW),
    Code("DS413", "note", "A descriptor was not written by dsreg, or changed since.", "it is kept as it is"),
    Code("DS414", "warning", "Texts are nothing but white space.", _KNOW),
    Code("DS415", "warning", "Tools stand where one of AWS's checkers refuses them.", _KNOW),
    Code("DS416", "warning", "The consumer has no scorer for the data source.", _KNOW),
    Code("DS417", "warning", "Ground truths are empty.", _KNOW),
    Code("DS418", "warning", "Rows have different tools, whose parameters become text.", _KNOW),
]
"""Codes that no rule function and no prediction stands for: of readers, writers, advisories and `sync`."""


def rule_list() -> list[Rule]:
    """The rules that are functions."""
    return [*registry_file.RULES, *entry.RULES, *file.RULES]


def all_codes() -> dict[str, Code]:
    """Every code, sorted."""
    return {code.code: code for code in sorted(_codes())}


def _codes() -> Iterator[Code]:
    yield from FURTHER
    for rule in rule_list():
        meaning = " ".join((rule.find.__doc__ or "").split())
        yield Code(rule.code, rule.severity, meaning, rule.consequence, rule.example, rule.source)
    for reason, of in REASONS.items():
        yield Code(of.code, severity_of(reason), of.explain, of.effect, EXAMPLES.get(reason, ""), "LlamaFactory 0.9.5")


EXAMPLES = {
    "undefined_dataset": "dataset: alpaca_demo.json",
    "no_source": '"a": {"formatting": "sharegpt"}',
    "stage_needs_ranking": '--stage dpo for {"file_name": "a.json"}',
    "file_type": "data.json.gz, data.JSON",
    "folder_mixed": "a folder with a.json and README.md",
    "type_change": '{"meta": "x"} and later {"meta": 5}',
    "schema_lock": "a key that first occurs after 10 MiB of JSON Lines",
    "split_unknown": '"split": "test" for a file',
    "converter_unknown": '"formatting": "ShareGPT"',
    "rows_unlike": "the first row with an image is row 1,001",
    "source_ignored": '"hf_hub_url" beside "file_name"',
    "dates_read": 'every "output" of a .jsonl file is like "2024-05-01"',
    "missing_column": '"columns": {"prompt": "question"} and the data has instruction',
    "column_unset": '"columns": {"tools": "tools"} for sharegpt: `messages` is unset now',
    "tag_unset": '"tags": {"user_tag": "user"}: `role_tag` is unset now',
    "role_order": "human, human, gpt",
    "message_count": "human, gpt, human",
    "response_not_text": '"output": {"name": "Zoë"}',
    "kto_tag_not_bool": '"label": "true"',
    "pair_incomplete": '"chosen": [{"role": "assistant", "content": "…"}]',
    "tools_not_json": '"tools": " "',
    "call_not_json": "a line break inside the JSON text",
    "media_count": "two images, one <image>",
    "text_beside_call_lost": '"content": "I look it up.", "tool_calls": […]',
}


def explain(code: str) -> str:
    """What a code means, as text; raises NotFoundError with the nearest code."""
    table = all_codes()
    found = table.get(code.strip().upper())
    if found is None:
        near = closest(code.upper(), table)
        raise NotFoundError(f"there is no code {code}", hint=f"did you mean {near}?" if near else "docs/codes.md")
    lines = [f"{found.code} ({found.severity})", found.meaning, f"What comes of it: {found.consequence}."]
    lines += [f"Example: {found.example}"] if found.example else []
    lines += [f"Source: {found.source}"] if found.source else []
    return "\n".join(lines)


_PARTS = {
    "DS1": "Registry, entries, files",
    "DS2": "Rows",
    "DS3": "Targets: rows that an export rejects",
    "DS4": "Targets: advice on whole files",
}


def page() -> str:
    """docs/codes.md."""
    lines = [
        "# Codes",
        "",
        "Made from the rules by `dsreg check --explain all`; `--explain CODE` prints one of them.",
        "",
    ]
    lines += ["`--select` and `--ignore` take codes and beginnings of codes, as does `ignore` under `[check]`"]
    lines += ["in a dataset's TOML and in dsreg.toml. Errors make `dsreg check` end with 1.", ""]
    for prefix, title in _PARTS.items():
        lines += [f"## {title}", "", "| Code | | Meaning | What comes of it | Example |", "|---|---|---|---|---|"]
        for code in all_codes().values():
            if code.code.startswith(prefix):
                example = f"`{_cell(code.example)}`" if code.example else ""
                cells = (code.code, code.severity, _cell(code.meaning), _cell(code.consequence), example)
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
