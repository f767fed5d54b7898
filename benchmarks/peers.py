"""What people use instead of dsreg: `python benchmarks/peers.py ENGINE JOB INPUT OUTPUT`.

The scripts are what one writes by hand; `checked` refuses what dsreg refuses, as far as it is a matter of types, empty
texts and roles. All write JSON Lines.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from columnar import SQL, duckdb, polars

Row = dict[str, Any]
NOVA = {"schemaVersion": "bedrock-conversation-2024"}


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
    made: Row = dict(NOVA)
    if system:
        made["system"] = [{"text": system}]
    made["messages"] = [{"role": role, "content": [{"text": text}]} for role, text in turns]
    return made


def to_nova_tools(row: Row) -> Row:
    """The Nova row of a ShareGPT dialogue in which tools are called."""
    made: Row = {**NOVA, "toolConfig": {"tools": []}, "messages": []}
    for tool in json.loads(row["tools"]):
        schema = {"json": tool["parameters"]}
        spec = {"name": tool["name"], "description": tool["description"], "inputSchema": schema}
        made["toolConfig"]["tools"].append({"toolSpec": spec})
    called = ""
    for i, turn in enumerate(row["conversations"]):
        role, text = turn["from"], turn["value"]
        block: Row = {"text": text}
        if role == "function_call":
            call, called = json.loads(text), f"call_{i}_0"
            block = {"toolUse": {"toolUseId": called, "name": call["name"], "input": call["arguments"]}}
        elif role == "observation":
            block = {"toolResult": {"toolUseId": called, "content": [{"text": text}]}}
        made["messages"].append({"role": "user" if i % 2 == 0 else "assistant", "content": [block]})
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
    "tools-nova": to_nova_tools,
}
ROLES = ({"human", "observation"}, {"gpt", "function_call"})


def check(row: Row) -> None:
    """Raise ValueError for a row that no trainer could use."""
    texts = [row[key] for key in ("instruction", "output", "chosen", "rejected") if key in row]
    for turn in row.get("history") or ():
        texts += turn
    for i, turn in enumerate(row.get("conversations", ())):
        if turn["from"] not in ROLES[i % 2]:
            raise ValueError("roles")
        texts.append(turn["value"])
    for text in texts:
        if type(text) is not str or not text:
            raise ValueError("texts")
    for key in ("input", "system"):
        if type(row.get(key) or "") is not str:
            raise ValueError(key)


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


JQ = {
    "preference-hf": '{prompt: (if (.input // "") == "" then .instruction else .instruction + "\\n" + .input end),'
    " chosen, rejected}",
    "sharegpt-nova": '{schemaVersion: "bedrock-conversation-2024"}'
    ' + (if (.system // "") == "" then {} else {system: [{text: .system}]} end)'
    ' + {messages: [.conversations[] | {role: (if .from == "human" then "user" else "assistant" end),'
    " content: [{text: .value}]}]}",
}


def jq(job: str, source: str, target: str) -> None:
    """The command jq."""
    with open(target, "wb") as out:  # noqa: PTH123
        subprocess.run(["jq", "-c", JQ[job], source], check=True, stdout=out)


CONVMERGE = {
    "alpaca-nova": ("alpaca", "messages"),
    "alpaca-sharegpt": ("alpaca", "sharegpt"),
    "preference-hf": ("alpaca", "preference"),
    "sharegpt-nova": ("sharegpt", "messages"),
}
"""What convmerge calls the source of a job, and the target that is nearest to ours."""


def convmerge(job: str, source: str, target: str) -> None:
    """The command convmerge, which checks rows as well."""
    from convmerge.cli import main

    read, write = CONVMERGE[job]
    sys.argv = ["convmerge", "convert", "--input", source, "--output", target, "--from", read, "--format", write]
    sys.exit(main())


def from_convmerge(job: str, row: Row) -> Row:
    """A row of convmerge in the shape of ours."""
    if job == "alpaca-sharegpt":
        return {"system": "", "tools": "", **row}
    if job == "preference-hf":
        return {key: turns[0]["content"] if len(turns) == 1 else turns for key, turns in row.items()}
    turns = [(turn["role"], turn["content"]) for turn in row["messages"]]
    system = [{"text": text} for role, text in turns if role == "system"]
    said = [{"role": role, "content": [{"text": text}]} for role, text in turns if role != "system"]
    return {**NOVA, **({"system": system} if system else {}), "messages": said}


TEXT_JOBS = ("alpaca-nova", "sharegpt-nova", "preference-hf", "alpaca-sharegpt")


class Peer(NamedTuple):
    """What runs a job; where it can, by what it is installed, and whether one round has to do."""

    run: Callable[[str, str, str], None]
    jobs: Collection[str] = (*TEXT_JOBS, "tools-nova")
    needs: str = ""
    slow: bool = False


PEERS: dict[str, Peer] = {
    "orjson loop": Peer(orjson_loop),
    "orjson script": Peer(script),
    "orjson script, checked": Peer(script_checked),
    "stdlib script": Peer(stdlib, slow=True),
    "DuckDB, 1 thread": Peer(partial(duckdb, threads=1), SQL.keys(), "duckdb"),
    "DuckDB, 2 threads": Peer(partial(duckdb, threads=2), SQL.keys(), "duckdb"),
    "Polars, 2 threads": Peer(polars, SQL.keys(), "polars"),
    "datasets": Peer(datasets, TEXT_JOBS, "datasets", slow=True),
    "convmerge": Peer(convmerge, CONVMERGE.keys(), "convmerge", slow=True),
    "jq": Peer(jq, JQ.keys(), "jq", slow=True),
}


def installed(peer: Peer) -> bool:
    """Whether a peer can run here."""
    return not peer.needs or bool(shutil.which(peer.needs) or importlib.util.find_spec(peer.needs))


if __name__ == "__main__":
    PEERS[sys.argv[1]].run(*sys.argv[2:5])
