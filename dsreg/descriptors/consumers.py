"""What each consumer is told about a dataset: the values of the templates in `templates/descriptors/`.

A function takes the facts and returns the values for its template, or None where its consumer would not read these
rows as they are meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from dsreg.descriptors.facts import Facts
from dsreg.rowcode.turns import TURN_TAGS
from dsreg.source import CHAT_TAGS

Values = dict[str, Any]

_ALPACA = {"prompt": "instruction", "query": "input", "system": "system", "history": "history"}
_SHAREGPT = {"messages": "conversations", "system": "system", "tools": "tools"}
_PAIR = {"chosen": "chosen", "rejected": "rejected"}
LLAMAFACTORY: dict[tuple[str, str], dict[str, str]] = {
    ("alpaca", "sft"): {**_ALPACA, "response": "output"},
    ("alpaca", "prompt"): {**_ALPACA, "response": "output"},
    ("alpaca", "kto"): {**_ALPACA, "response": "output", "kto_tag": "kto_tag"},
    ("alpaca", "preference"): {**_ALPACA, **_PAIR},
    ("sharegpt", "sft"): _SHAREGPT,
    ("sharegpt", "kto"): {**_SHAREGPT, "kto_tag": "kto_tag"},
    ("sharegpt", "preference"): {**_SHAREGPT, **_PAIR},
    ("kto", "kto"): {"messages": "conversations", "system": "system", "kto_tag": "kto_tag"},
    ("openai", "sft"): {"messages": "messages"},
    ("openai", "kto"): {"messages": "messages", "kto_tag": "label"},
    ("openai", "preference"): {"messages": "messages", **_PAIR},
    ("pretrain", "pretrain"): {"prompt": "text"},
}
"""LlamaFactory's columns of each layout, besides the optional ones."""
_ROLE_TAGS = {"sharegpt": TURN_TAGS, "kto": TURN_TAGS, "openai": CHAT_TAGS}

SWIFT: dict[tuple[str, str], dict[str, str]] = {
    ("alpaca", "sft"): {},
    ("alpaca", "kto"): {"kto_tag": "label"},
    ("alpaca", "preference"): {"chosen": "response", "rejected": "rejected_response"},
    ("sharegpt", "sft"): {},
    ("sharegpt", "kto"): {"kto_tag": "label"},
    ("kto", "kto"): {"kto_tag": "label"},
    ("openai", "sft"): {},
    ("openai", "kto"): {},
    ("pretrain", "pretrain"): {},
}
"""What ms-swift must rename in the layouts that it reads, from the data's name to its own."""
_SWIFT_COMMANDS = {
    "sft": ["sft"],
    "pretrain": ["pt"],
    "kto": ["rlhf", "--rlhf_type", "kto"],
    "preference": ["rlhf", "--rlhf_type", "dpo"],
}

TRL: dict[tuple[str, str], tuple[str, list[str]]] = {
    ("openai", "sft"): ("sft", ["messages"]),
    ("hf-prompt-completion", "sft"): ("sft", ["prompt", "completion"]),
    ("hf-preference", "preference"): ("dpo", ["prompt", "chosen", "rejected"]),
    ("hf-kto", "kto"): ("kto", ["prompt", "completion", "label"]),
    ("pretrain", "pretrain"): ("sft", ["text"]),
    ("verl", "prompt"): ("grpo", []),
}
"""TRL's command and the columns it keeps; GRPO passes all of them to the reward functions."""

_CHATML_TAGS = {"user": ["human"], "assistant": ["gpt"], "system": ["system"], "tool": ["observation"]}
AXOLOTL: dict[tuple[str, str, str], Values] = {
    ("openai", "sft", ""): {"type": "chat_template", "field_messages": "messages"},
    ("sharegpt", "sft", ""): {
        "type": "chat_template",
        "field_messages": "conversations",
        "field_system": "system",
        "message_property_mappings": {"role": "from", "content": "value"},
        "roles": _CHATML_TAGS,
    },
    ("alpaca", "sft", ""): {"type": "alpaca"},
    ("pretrain", "pretrain", ""): {"type": "completion", "field": "text"},
    ("hf-preference", "preference", "conversational"): {
        "split": "train",
        "type": "chat_template.default",
        "field_messages": "prompt",
        "field_chosen": "chosen",
        "field_rejected": "rejected",
    },
    ("hf-preference", "preference", "standard"): {"split": "train", "type": "chatml.prompt_pairs"},
    ("hf-kto", "kto", "standard"): {"split": "train", "type": "chatml.ultra"},
}
"""axolotl's settings by target, task and style; it takes no messages for KTO."""
_AXOLOTL_RL = {"preference": "dpo", "kto": "kto"}
_AXOLOTL_NOTES = {
    "alpaca": "This type reads neither system nor history: export to openai where the rows have them.",
    "sharegpt": "function_call is a role that axolotl does not know: export to openai where the rows call tools.",
    "hf-preference": "Calls of tools are dropped by this type.",
}

_SHOWN_SOURCES = 5


def dataset_info(facts: Facts) -> Values | None:
    """LlamaFactory's entry: all columns that the rows have, for a table resets what it does not name.

    OpenAI rows with tools are not described: LlamaFactory trains their arguments encoded twice.
    """
    columns = LLAMAFACTORY.get((facts.target, facts.task))
    if columns is None or (facts.target == "openai" and facts.columns):
        return None
    tags = _ROLE_TAGS.get(facts.target)
    return {
        "name": facts.name,
        "data": facts.data,
        "formatting": "sharegpt" if tags else None,
        "ranking": facts.task == "preference",
        "columns": columns | {name: name for name in sorted(facts.columns)},
        "tags": tags,
    }


def swift_registry(facts: Facts) -> Values | None:
    """The entry of ms-swift's list of datasets."""
    columns = SWIFT.get((facts.target, facts.task))
    return None if columns is None else {"name": facts.name, "data": facts.data, "columns": columns}


def swift_arguments(facts: Facts) -> Values | None:
    """ms-swift's arguments; it takes what follows a `#` for a number of rows, so a name with one is no argument."""
    columns = SWIFT.get((facts.target, facts.task))
    if columns is None or "#" in facts.data:
        return None
    return {
        "command": _SWIFT_COMMANDS[facts.task],
        "data": facts.data if not facts.data.startswith("-") else f"./{facts.data}",
        "columns": json.dumps(columns) if columns else None,
    }


def axolotl(facts: Facts) -> Values | None:
    """axolotl's `datasets`. Where the style is not settled yet, there must be settings for both."""
    from dsreg.codegen.literals import Code

    style = facts.options.get("style", "")
    styles = ["conversational", "standard"] if style == "auto" else [style]
    keys = [(facts.target, facts.task, each) for each in styles]
    if any(key not in AXOLOTL for key in keys):
        return None
    settings = {"ds_type": facts.loader, **AXOLOTL[keys[0]]}
    if facts.target == "openai" and "tools" in facts.columns:
        settings["field_tools"] = "tools"
    note = _AXOLOTL_NOTES.get(facts.target)
    return {
        "data": facts.data,
        "settings": {Code(key): value for key, value in settings.items()},
        "rl": _AXOLOTL_RL.get(facts.task),
        "note": Code(note) if note else None,
    }


def trl(facts: Facts) -> Values | None:
    """TRL's `datasets`, for its scripts."""
    from dsreg.codegen.literals import Code

    found = TRL.get((facts.target, facts.task))
    if found is None:
        return None
    command, columns = found
    note = "reward_funcs too: every column but the prompt reaches them by its name." if command == "grpo" else ""
    return {
        "command": Code(command),
        "note": Code(note),
        "loader": facts.loader,
        "data": facts.data,
        "columns": [*columns, *sorted(facts.columns)] if columns else None,
    }


def verl(facts: Facts) -> Values | None:
    """verl's `data`, and a reward function of one's own where the rows name scorers that it does not have."""
    from dsreg.codegen.literals import Code

    if (facts.target, facts.task) != ("verl", "prompt"):
        return None
    return {
        "data": omegaconf_text(facts.data),
        "media": {Code(f"{name[:-1]}_key"): name for name in sorted(facts.columns)},
        "unscored": list(facts.unscored[:_SHOWN_SOURCES]),
    }


def verl_sft(facts: Facts) -> Values | None:
    """verl's `data` for supervised fine-tuning, which reads Parquet only."""
    if facts.target != "verl-sft" or facts.loader != "parquet":
        return None
    return {"data": omegaconf_text(facts.data), "tools": "tools" in facts.columns}


def omegaconf_text(text: str) -> str:
    """Text that OmegaConf, which reads verl's YAML, takes as it is: `${` would be looked up."""
    return re.sub(r"(\\*)\$\{", lambda match: match[1] * 2 + r"\${", text)


def benchmax_env(facts: Facts) -> Values | None:
    """The environment class that reads the rows in the shape in which they were written."""
    if facts.target != "benchmax" or not facts.data.endswith(".jsonl"):
        return None
    return {
        "about": f"The benchmax environment of {facts.name}.",
        "files": {"train": PurePosixPath(facts.data).name, "eval": "eval.jsonl"},
        "shape": facts.options["shape"],
        "own_id": facts.options["id"] == "canonical",
    }


CONSUMERS: dict[str, Callable[[Facts], Values | None]] = {
    "dataset_info.json": dataset_info,
    "ms-swift.json": swift_registry,
    "ms-swift.sh": swift_arguments,
    "axolotl.yaml": axolotl,
    "trl.yaml": trl,
    "verl.yaml": verl,
    "verl-sft.yaml": verl_sft,
    "benchmax_env.py": benchmax_env,
}
"""The descriptors by file name, which manifests list and which is the name of the template."""
