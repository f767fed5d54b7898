"""The jobs of the bench as queries of DuckDB and Polars.

Both know the columns, so that neither has to look for them, and write a null where a row has no system prompt.
"""

from __future__ import annotations

from typing import Any

COLUMNS = {
    "alpaca": {
        **dict.fromkeys(("instruction", "input", "output", "system"), "varchar"),
        "history": "varchar[][]",
    },
    "preference": dict.fromkeys(("instruction", "input", "chosen", "rejected"), "varchar"),
    "sharegpt": {"conversations": 'struct("from" varchar, value varchar)[]', "system": "varchar"},
}

_QUESTION = "case when coalesce(input, '') = '' then instruction else instruction || chr(10) || input end"
_SYSTEM = "case when coalesce(system, '') <> '' then [{'text': system}] end as system"


def _turn(role: str, text: str) -> str:
    return f"{{'role': '{role}', 'content': [{{'text': {text}}}]}}"


def _named(role: str, text: str) -> str:
    return f"{{'from': '{role}', 'value': {text}}}"


def _dialogue(turn: Any, user: str, assistant: str) -> str:
    """The turns of an Alpaca row, its history first."""
    pairs = f"[{turn(user, 't[1]')}, {turn(assistant, 't[2]')}]"
    last = f"[{turn(user, _QUESTION)}, {turn(assistant, 'output')}]"
    return f"list_concat(flatten(list_transform(coalesce(history, []), lambda t: {pairs})), {last})"


SQL = {
    "alpaca-nova": f"""select 'bedrock-conversation-2024' as "schemaVersion", {_SYSTEM},
        {_dialogue(_turn, "user", "assistant")} as messages from rows""",
    "alpaca-sharegpt": f"""select {_dialogue(_named, "human", "gpt")} as conversations,
        coalesce(system, '') as system, '' as tools from rows""",
    "preference-hf": f"select {_QUESTION} as prompt, chosen, rejected from rows",
    "sharegpt-nova": f"""select 'bedrock-conversation-2024' as "schemaVersion", {_SYSTEM},
        list_transform(conversations, lambda t: {{'role': case when t."from" = 'human' then 'user' else 'assistant' end,
        'content': [{{'text': t.value}}]}}) as messages from rows""",
}


def duckdb(job: str, source: str, target: str, threads: int) -> None:
    """A query of DuckDB that keeps the order of the rows."""
    import duckdb as engine

    columns = ", ".join(f"{name}: '{type}'" for name, type in COLUMNS[job.partition("-")[0]].items())
    engine.sql(f"set threads = {threads}; set preserve_insertion_order = true")
    engine.sql(
        f"create view rows as select * from "
        f"read_json('{source}', format = 'newline_delimited', columns = {{{columns}}})"
    )
    engine.sql(f"copy ({SQL[job]}) to '{target}' (format json)")


def polars(job: str, source: str, target: str) -> None:
    """A query of Polars, as a stream; POLARS_MAX_THREADS says how many threads it has."""
    import polars as pl

    types = {
        "varchar": pl.String,
        "varchar[][]": pl.List(pl.List(pl.String)),
        'struct("from" varchar, value varchar)[]': pl.List(pl.Struct({"from": pl.String, "value": pl.String})),
    }
    schema = {name: types[type] for name, type in COLUMNS[job.partition("-")[0]].items()}
    rows: Any = pl.scan_ndjson(source, schema=schema)
    given = pl.col("input").fill_null("") if "input" in schema else pl.lit("")
    question = pl.when(given == "").then("instruction").otherwise(pl.concat_str("instruction", pl.lit("\n"), "input"))
    said = pl.col("system").fill_null("") if "system" in schema else pl.lit("")
    system = pl.when(said != "").then(pl.concat_list(pl.struct(text="system")))

    def turn(role: Any, text: Any) -> Any:
        if job.endswith("sharegpt"):
            return pl.struct(role.alias("from"), text.alias("value"))
        return pl.struct(role.alias("role"), pl.concat_list(pl.struct(text.alias("text"))).alias("content"))

    names = ("human", "gpt") if job.endswith("sharegpt") else ("user", "assistant")
    user, assistant = map(pl.lit, names)
    speaker = pl.when(pl.int_range(pl.len()) % 2 == 0).then(user).otherwise(assistant)
    earlier = pl.col("history").list.eval(pl.element().explode()).list.eval(turn(speaker, pl.element()))
    last = pl.concat_list(turn(user, question), turn(assistant, pl.col("output")))
    several = pl.col("history").list.len().fill_null(0) > 0
    dialogue = pl.when(several).then(pl.concat_list(earlier, last)).otherwise(last)
    role = pl.when(pl.element().struct.field("from") == "human").then(user).otherwise(assistant)
    turns = pl.col("conversations").list.eval(turn(role, pl.element().struct.field("value")))
    nova = {"schemaVersion": pl.lit("bedrock-conversation-2024"), "system": system}
    made = {
        "alpaca-nova": {**nova, "messages": dialogue},
        "alpaca-sharegpt": {"conversations": dialogue, "system": said, "tools": pl.lit("")},
        "preference-hf": {"prompt": question, "chosen": pl.col("chosen"), "rejected": pl.col("rejected")},
        "sharegpt-nova": {**nova, "messages": turns},
    }
    rows.select(**made[job]).sink_ndjson(target)
