"""Small datasets, and the descriptors that an export of each has."""

from __future__ import annotations

from typing import Any, NamedTuple

Rows = list[dict[str, Any]]
TOOLS = '[{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}]'

ALPACA: Rows = [{"instruction": "Name a prime.", "input": "", "output": "Seven."}]
ALPACA_TOOLS: Rows = [{"instruction": f"Row {n}.", "output": "Done.", "tools": "[]" if n < 3 else TOOLS}
                      for n in range(5)]  # fmt: skip
PAIRS: Rows = [{"instruction": "Say hello.", "input": "", "chosen": "Hello!", "rejected": "No."}]
LABELLED: Rows = [{"instruction": "Say hello.", "input": "", "output": "Hello!", "kto_tag": True}]
PICTURES: Rows = [
    {"instruction": f"Row {n}.", "output": "Yes.", "images": []} for n in range(3)
] + [{"instruction": "<image>What is it?", "output": "A cat.", "images": ["cat.png"]}]  # fmt: skip
TURNS: Rows = [{"conversations": [{"from": "human", "value": "你好"}, {"from": "gpt", "value": "你好！"}]}]
CALLS: Rows = [
    {
        "conversations": [
            {"from": "human", "value": "What time is it in Lima?"},
            {"from": "function_call", "value": '{"name": "get_time", "arguments": {"city": "Lima"}}'},
            {"from": "observation", "value": "09:41"},
            {"from": "gpt", "value": "It is 9:41 in Lima."},
        ],
        "tools": '[{"name": "get_time", "description": "d", "parameters": {"type": "object", "properties": {}}}]',
    }
]
DIALOGUE_PAIRS: Rows = [
    {
        "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "chosen": [{"role": "assistant", "content": "Hello."}],
        "rejected": [{"role": "assistant", "content": "Go away."}],
    }
]
QUESTIONS: Rows = [
    {"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "2+2?"}], "ability": "math",
     "reward_model": {"style": "rule", "ground_truth": "4"}, "extra_info": {"answer": "4"}}
]  # fmt: skip
OWN_QUESTIONS: Rows = [*QUESTIONS, {**QUESTIONS[0], "data_source": "my/puzzles"}]

ALPACA_MEDIA = '[columns]\nprompt = "instruction"\nresponse = "output"\nimages = "images"\n'
ALPACA_WITH_TOOLS = '[columns]\nprompt = "instruction"\nresponse = "output"\ntools = "tools"\n'
ALPACA_PAIRS = (
    'ranking = true\n[columns]\nprompt = "instruction"\nquery = "input"\nchosen = "chosen"\nrejected = "rejected"\n'
)
ALPACA_LABELS = '[columns]\nprompt = "instruction"\nquery = "input"\nresponse = "output"\nkto_tag = "kto_tag"\n'
SHAREGPT_TOOLS = '[columns]\nmessages = "conversations"\ntools = "tools"\n'

INFO, LIST, ARGS, AXOLOTL, TRL = "dataset_info.json", "ms-swift.json", "ms-swift.sh", "axolotl.yaml", "trl.yaml"
SWIFT = (LIST, ARGS)


class Case(NamedTuple):
    """A dataset in a format, what it becomes, and the descriptors beside that."""

    source: str
    rows: Rows
    target: str
    files: tuple[str, ...]
    toml: str = ""
    options: dict[str, Any] = {}  # noqa: RUF012
    stage: str = ""


CASES = {
    "alpaca sft": Case("alpaca", ALPACA, "alpaca", (INFO, *SWIFT, AXOLOTL), stage="sft"),
    "alpaca tools": Case("alpaca", ALPACA_TOOLS, "alpaca", (INFO, *SWIFT, AXOLOTL), ALPACA_WITH_TOOLS, stage="sft"),
    "alpaca images": Case("alpaca", PICTURES, "alpaca", (INFO, *SWIFT, AXOLOTL), ALPACA_MEDIA, stage="sft"),
    "alpaca preference": Case("alpaca", PAIRS, "alpaca", (INFO, *SWIFT), ALPACA_PAIRS, stage="rm"),
    "alpaca kto": Case("alpaca", LABELLED, "alpaca", (INFO, *SWIFT), ALPACA_LABELS, stage="kto"),
    "sharegpt sft": Case("sharegpt", TURNS, "sharegpt", (INFO, *SWIFT, AXOLOTL), stage="sft"),
    "sharegpt tools": Case("sharegpt", CALLS, "sharegpt", (INFO, *SWIFT, AXOLOTL), SHAREGPT_TOOLS, stage="sft"),
    "sharegpt images": Case("alpaca", PICTURES, "sharegpt", (INFO, *SWIFT, AXOLOTL), ALPACA_MEDIA, stage="sft"),
    "sharegpt preference": Case("alpaca", PAIRS, "sharegpt", (INFO,), ALPACA_PAIRS, stage="rm"),
    "kto": Case("alpaca", LABELLED, "kto", (INFO, *SWIFT), ALPACA_LABELS, stage="kto"),
    "openai sft": Case("sharegpt", TURNS, "openai", (INFO, *SWIFT, AXOLOTL, TRL), stage="sft"),
    "openai tools": Case("sharegpt", CALLS, "openai", (*SWIFT, AXOLOTL, TRL), SHAREGPT_TOOLS),
    "openai preference": Case("alpaca", PAIRS, "openai", (INFO,), ALPACA_PAIRS, stage="rm"),
    "openai kto": Case("alpaca", LABELLED, "openai", (INFO, *SWIFT), ALPACA_LABELS, stage="kto"),
    "openai prompt": Case("verl", QUESTIONS, "openai", ()),
    "pretrain": Case("pretrain", [{"text": "A tide."}], "pretrain", (INFO, *SWIFT, AXOLOTL, TRL), stage="pt"),
    "hf sft": Case("sharegpt", CALLS, "hf-prompt-completion", (TRL,), SHAREGPT_TOOLS),
    "hf preference texts": Case("alpaca", PAIRS, "hf-preference", (TRL, AXOLOTL), ALPACA_PAIRS),
    "hf preference lists": Case("hf-preference", DIALOGUE_PAIRS, "hf-preference", (TRL, AXOLOTL)),
    "hf kto texts": Case("alpaca", LABELLED, "hf-kto", (TRL, AXOLOTL), ALPACA_LABELS),
    "hf kto lists": Case("alpaca", LABELLED, "hf-kto", (TRL,), ALPACA_LABELS, {"style": "conversational"}),
    "verl": Case("verl", QUESTIONS, "verl", ("verl.yaml", TRL)),
    "verl as json lines": Case("verl", OWN_QUESTIONS, "verl", ("verl.yaml", TRL), "", {"container": "jsonl"}),
    "verl sft": Case("sharegpt", CALLS, "verl-sft", ("verl-sft.yaml",), SHAREGPT_TOOLS),
    "benchmax": Case("verl", QUESTIONS, "benchmax", ("benchmax_env.py",)),
    "benchmax messages": Case("verl", QUESTIONS, "benchmax", ("benchmax_env.py",), "", {"shape": "messages"}),
    "benchmax prompt": Case("verl", QUESTIONS, "benchmax", ("benchmax_env.py",), "",
                            {"shape": "prompt", "id": "canonical"}),
    "nova": Case("sharegpt", TURNS, "nova-sft", ()),
}  # fmt: skip
