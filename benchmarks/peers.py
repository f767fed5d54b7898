"""What people use instead of dsreg: `python benchmarks/peers.py ENGINE JOB INPUT OUTPUT`.

The scripts are what one writes by hand; `checked` refuses what dsreg refuses, as far as it is a matter of types, empty
texts and roles. All write JSON Lines.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def question(row: Row) -> str:
    """Instruction and input, joined as LlamaFactory does."""
    first, second = row.get("instruction") or "", row.get("input") or ""
    return f"{first}\n{second}" if first and second else first or second


def dialogue(row: Row) -> tuple[str, list[tuple[str, str]]]:
    """The system prompt and the turns of an Alpaca or ShareGPT row."""
    if "conversations" in row:
        roles = {"human": "user", "gpt": "assistant"}
        return row.get("system") or "", [(roles[turn["from"]], turn["value"]) for turn in row["conversations"]]
    turns = []
    for asked, answered in row.get("history") or ():
        turns += [("user", asked), ("assistant", answered)]
    turns.append(("user", question(row)))
    if "output" in row:
        turns.append(("assistant", row["output"]))
    return row.get("system") or "", turns


def to_nova(row: Row) -> Row:
    """The Nova row of a dialogue."""
    system, turns = dialogue(row)
    made: Row = {"schemaVersion": "bedrock-conversation-2024"}
    if system:
        made["system"] = [{"text": system}]
    made["messages"] = [{"role": role, "content": [{"text": text}]} for role, text in turns]
    return made


def to_sharegpt(row: Row) -> Row:
    """The ShareGPT row of a dialogue."""
    system, turns = dialogue(row)
    names = {"user": "human", "assistant": "gpt"}
    return {"conversations": [{"from": names[r], "value": t} for r, t in turns], "system": system, "tools": ""}


def to_preference(row: Row) -> Row:
    """The preference row of Hugging Face, as texts."""
    return {"prompt": question(row), "chosen": row["chosen"], "rejected": row["rejected"]}


JOBS: dict[str, Callable[[Row], Row]] = {
    "alpaca-nova": to_nova,
    "sharegpt-nova": to_nova,
    "alpaca-sharegpt": to_sharegpt,
    "preference-hf": to_preference,
}


def check(row: Row) -> None:
    """Raise ValueError for a row that no trainer could use."""
    texts = [row.get(key) for key in ("output", "chosen", "rejected") if key in row]
    if "conversations" not in row:
        texts.append(question(row))
    for i, turn in enumerate(row.get("conversations", ())):
        if turn["from"] != ("human", "gpt")[i % 2]:
            raise ValueError("roles")
        texts.append(turn["value"])
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError("texts")


def orjson_loop(job: str, source: str, target: str) -> None:
    """Decode and encode, and nothing else: the mark that the ratios are about."""
    from orjson import dumps, loads

    with open(source, "rb", 1 << 20) as file, open(target, "wb", 1 << 20) as out:  # noqa: PTH123
        for line in file:
            out.write(dumps(loads(line)) + b"\n")


def script(job: str, source: str, target: str, *, checked: bool = False) -> None:
    """An orjson script."""
    from orjson import dumps, loads

    convert = JOBS[job]
    with open(source, "rb", 1 << 20) as file, open(target, "wb", 1 << 20) as out:  # noqa: PTH123
        for line in file:
            row = loads(line)
            if checked:
                check(row)
            out.write(dumps(convert(row)) + b"\n")


def script_checked(job: str, source: str, target: str) -> None:
    """An orjson script with checks."""
    script(job, source, target, checked=True)


def stdlib(job: str, source: str, target: str) -> None:
    """A script of the standard library."""
    convert = JOBS[job]
    with open(source, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as out:  # noqa: PTH123
        for line in file:
            out.write(json.dumps(convert(json.loads(line)), ensure_ascii=False) + "\n")


def datasets(job: str, source: str, target: str) -> None:
    """Hugging Face datasets: load, map, write."""
    from datasets import load_dataset

    missing = {"system": None} if job.endswith("nova") else {}  # every row must have every key here
    data = load_dataset("json", data_files=source, split="train")
    data.map(lambda row: {**missing, **JOBS[job](row)}, remove_columns=data.column_names).to_json(
        target, force_ascii=False
    )


SQL = {
    "preference-hf": """select case when coalesce(input, '') = '' then instruction
        else instruction || chr(10) || input end as prompt, chosen, rejected from rows""",
    "sharegpt-nova": """select 'bedrock-conversation-2024' as "schemaVersion",
        case when coalesce(system, '') <> '' then [{'text': system}] end as system,
        list_transform(conversations, lambda t: {'role': case when t."from" = 'human' then 'user' else 'assistant' end,
        'content': [{'text': t.value}]}) as messages from rows""",
}


def duckdb(job: str, source: str, target: str) -> None:
    """DuckDB on one thread; no history there, so not every job."""
    import duckdb as engine

    engine.sql("set threads = 1; set preserve_insertion_order = true")
    engine.sql(f"create view rows as select * from read_json('{source}', format = 'newline_delimited')")
    engine.sql(f"copy ({SQL[job]}) to '{target}' (format json)")


JQ = {
    "preference-hf": '{prompt: (if (.input // "") == "" then .instruction else .instruction + "\\n" + .input end),'
    " chosen, rejected}",
}


def jq(job: str, source: str, target: str) -> None:
    """The command jq."""
    with open(target, "wb") as out:  # noqa: PTH123
        subprocess.run(["jq", "-c", JQ[job], source], check=True, stdout=out)


ENGINES: dict[str, Callable[[str, str, str], None]] = {
    "orjson_loop": orjson_loop,
    "script": script,
    "script_checked": script_checked,
    "stdlib": stdlib,
    "datasets": datasets,
    "duckdb": duckdb,
    "jq": jq,
}
ONLY = {"duckdb": SQL.keys(), "jq": JQ.keys()}

if __name__ == "__main__":
    ENGINES[sys.argv[1]](*sys.argv[2:5])
