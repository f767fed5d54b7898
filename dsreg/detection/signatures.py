"""How rows of each format look: the columns they need, of which kind, in the order in which formats are considered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dsreg.detection.look import Look
from dsreg.detection.names import GROUPS
from dsreg.detection.turns import Turns

ANY = "any"
# Columns that say: this is an Alpaca row with columns of its own names.
ALPACA_MARKS = ("instruction", "input", "history")
MEDIA = ("images", "videos", "audios", "image", "video", "audio")
ANSWERS = ("completion", "chosen", "rejected")
PROMPTS = (*GROUPS["prompt"], *GROUPS["messages"])


class Signature(NamedTuple):
    """One look of a format.

    `needs` maps the format's default column names to the kinds of values (any of several, parted by `|`); `never` are
    columns which, when they hold something and were not given, speak against it; `by_name` lets
    columns of other usual names stand for the needed ones; `test` is a further condition on the look and the column
    that stands for the first need; `reason` completes "the rows are …"; `otherwise` says why something before it wins.
    """

    format: str
    needs: Mapping[str, str]
    reason: str
    otherwise: str = ""
    never: tuple[str, ...] = ()
    by_name: bool = False
    test: Callable[[Look, str, Mapping[str, str]], bool] | None = None


def shape_of(look: Look, column: str) -> Turns:
    """The turns of a column; of one without turns, a shape that counted none."""
    return look.turns(column) or Turns("", "")


def has_candidates(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether most dialogues offer candidates in a turn."""
    return shape_of(look, column).candidates * 2 > look.complete([column])


def has_blocks(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether most turns hold content blocks of Amazon's Converse API."""
    shape = shape_of(look, column)
    return shape.blocks * 2 > shape.count


def is_chat(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether keys and roles are those of OpenAI's API."""
    return shape_of(look, column).is_chat(tags)


def is_no_chat(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether keys or roles are other than those of OpenAI's API, and the content is no blocks."""
    return not is_chat(look, column, tags) and not has_blocks(look, column, tags)


def asks_only(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether these are chats that end with the user, beside a column with the answer."""
    shape = shape_of(look, column)
    asks = shape.last["user"] * 2 > shape.last.total()
    return asks and shape.is_chat(tags) and any(look.filled(name) for name in GROUPS["answer"])


def has_system_column(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether plain chats have a system text in a column of its own."""
    shape = shape_of(look, column)
    beside = any(look.filled(name) and look.kind(name) == "text" for name in GROUPS["system"])
    return beside and shape.is_chat(tags) and not shape.calls and not shape.parts


def one_turn(look: Look, column: str, tags: Mapping[str, str]) -> bool:
    """Whether prompts are chats of OpenAI's API."""
    return shape_of(look, column).role_key == "role"


PREFERENCE = {"prompt": "text|turns", "chosen": "text|turns", "rejected": "text|turns"}
COMPLETION = {"prompt": "text|turns", "completion": "text|turns"}

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "openai-dpo",
        {"input": "object", "preferred_output": "turns", "non_preferred_output": "turns"},
        "OpenAI preference rows: an input, a preferred and a non-preferred output",
    ),
    Signature(
        "openai-dpo",
        {"input": "object", "preferred_completion": "turns", "non_preferred_completion": "turns"},
        "OpenAI preference rows under the older names: an input, a preferred and a non-preferred completion",
    ),
    Signature("nova-dpo", {"messages": "turns"}, "Nova rows whose turns offer candidates", test=has_candidates),
    Signature(
        "nova-rlvr",
        {"messages": "turns", "reference_answer": ANY},
        "messages with a `reference_answer`, as Nova's reinforcement fine-tuning has them",
        never=ANSWERS,
    ),
    Signature("nova-sft", {"messages": "turns"}, "Nova rows: messages of content blocks", test=has_blocks),
    Signature(
        "verl",
        {"prompt": "turns", "reward_model": "object"},
        "verl rows: a prompt of messages with a `reward_model`",
        never=ANSWERS,
    ),
    Signature(
        "verl",
        {"prompt": "turns", "extra_info": "object"},
        "verl rows: a prompt of messages with `extra_info`",
        never=ANSWERS,
    ),
    Signature(
        "verl",
        {"prompt": "turns", "data_source": "text"},
        "verl rows: a prompt of messages with a `data_source`",
        never=(*ANSWERS, "ground_truth"),
    ),
    Signature(
        "sagemaker-rlvr",
        {"prompt": "turns", "reward_model": "object"},
        "SageMaker reinforcement rows: a prompt of messages with a `reward_model`",
        "the same columns as verl; only by its name",
        never=ANSWERS,
    ),
    Signature(
        "verl-legacy",
        {"prompt": "text", "reward_model": "object"},
        "verl rows of the older kind: a prompt of text with a `reward_model`",
        never=ANSWERS,
    ),
    Signature(
        "verl-legacy",
        {"prompt": "text", "extra_info": "object"},
        "verl rows of the older kind: a prompt of text with `extra_info`",
        never=ANSWERS,
    ),
    Signature(
        "hf-preference",
        {"prompt": "turns", "chosen": "turns", "rejected": "turns"},
        "preference rows of TRL: prompt, chosen and rejected are messages",
        never=(*ALPACA_MARKS, *MEDIA, "query"),
    ),
    Signature(
        "hf-preference",
        PREFERENCE,
        "preference rows of TRL: prompt, chosen, rejected",
        never=(*ALPACA_MARKS, *MEDIA, "query", "system"),
    ),
    Signature(
        "sagemaker-dpo",
        PREFERENCE,
        "SageMaker preference rows: prompt, chosen, rejected",
        "the same columns as hf-preference; only by its name, or where a `system` column stands beside",
        never=(*ALPACA_MARKS, *MEDIA, "query"),
    ),
    Signature(
        "hf-preference",
        {"chosen": "turns", "rejected": "turns"},
        "preference rows of TRL without a prompt of their own: chosen and rejected are whole dialogues",
        never=PROMPTS,
    ),
    Signature(
        "sagemaker-dpo",
        {"chosen": "turns", "rejected": "turns"},
        "SageMaker preference rows: chosen and rejected are whole dialogues",
        "the same columns as hf-preference; only by its name",
        never=PROMPTS,
    ),
    Signature(
        "hf-preference",
        {"chosen": "text", "rejected": "text"},
        "preference rows of TRL without a prompt of their own: chosen and rejected are whole texts",
        never=PROMPTS,
    ),
    Signature(
        "hf-kto",
        {**COMPLETION, "label": "true or false"},
        "KTO rows of TRL: prompt, completion, label",
        never=(*ALPACA_MARKS, *MEDIA, "system", *ANSWERS[1:]),
    ),
    Signature(
        "hf-prompt-completion",
        {"prompt": "turns", "completion": "turns"},
        "prompt and completion of messages, as TRL has them",
        "`label` makes them KTO rows",
        never=(*ALPACA_MARKS, *MEDIA, "query", "kto_tag", *ANSWERS[1:]),
    ),
    Signature(
        "hf-prompt-completion",
        COMPLETION,
        "prompt and completion, as TRL has them",
        "`label` makes them KTO rows",
        never=(*ALPACA_MARKS, *MEDIA, "query", "system", "kto_tag", *ANSWERS[1:]),
    ),
    Signature(
        "sagemaker-sft",
        {"prompt": "text", "completion": "text"},
        "prompt and completion with a system text, as SageMaker has them",
        "the same columns as hf-prompt-completion; only by its name, or where a `system` column stands beside",
        never=(*ALPACA_MARKS, *MEDIA, "query", "kto_tag", *ANSWERS[1:]),
    ),
    Signature(
        "benchmax",
        {"prompt_messages": "turns"},
        "benchmax rows: `prompt_messages`",
        never=(*ANSWERS, "reward_model"),
    ),
    Signature(
        "benchmax",
        {"prompt": "text|turns", "ground_truth": ANY},
        "benchmax rows: a prompt with a `ground_truth`",
        never=(*ANSWERS, "reward_model"),
    ),
    Signature(
        "benchmax",
        {"messages": "turns", "ground_truth": ANY},
        "benchmax rows: messages with a `ground_truth`",
        never=(*ANSWERS, "reward_model"),
    ),
    Signature(
        "openai-rft",
        {"messages": "turns"},
        "chats that end with the user, with the answer in a column of its own, as OpenAI's reinforcement files have it",
        "only by its name where the answer has a name of another format",
        never=(*ANSWERS, "kto_tag", "label", "answer"),
        test=asks_only,
    ),
    Signature(
        "sharegpt",
        {"conversations": "turns"},
        "chats with a system text in a column of its own, for which OpenAI's rows have no place",
        by_name=True,
        test=has_system_column,
    ),
    Signature(
        "openai",
        {"messages": "turns"},
        "chats with the keys and roles of OpenAI's API",
        "the column beside the messages would not be read",
        by_name=True,
        test=is_chat,
    ),
    Signature(
        "sharegpt",
        {"conversations": "turns"},
        "ShareGPT conversations",
        by_name=True,
        test=is_no_chat,
    ),
    Signature(
        "sagemaker-sft",
        {"messages": "turns"},
        "messages, as SageMaker has them",
        "the same messages as openai; only by its name",
        never=(*ANSWERS, *MEDIA, *GROUPS["answer"], "kto_tag", "label"),
        test=is_chat,
    ),
    Signature(
        "verl-sft",
        {"messages": "turns"},
        "messages, as verl has them",
        "the same messages as openai; only by its name",
        never=(*ANSWERS, *MEDIA, *GROUPS["answer"], "kto_tag", "label"),
        test=is_chat,
    ),
    Signature(
        "benchmax-sft",
        {"messages": "turns"},
        "messages under benchmax's strict contract",
        "the same messages as openai; only by its name",
        never=(*ANSWERS, *MEDIA, *GROUPS["answer"], "kto_tag", "label"),
        test=is_chat,
    ),
    Signature(
        "sagemaker-eval",
        {"query": "text", "response": "text"},
        "evaluation rows of SageMaker: query and response",
        never=(*ALPACA_MARKS, *MEDIA, *ANSWERS, *GROUPS["label"], "prompt", "question", "answer", "tools"),
    ),
    Signature(
        "nova-eval",
        {"query": "text", "response": "text"},
        "evaluation rows of Nova: query and response",
        "the same columns as sagemaker-eval; only by its name",
        never=(*ALPACA_MARKS, *MEDIA, *ANSWERS, *GROUPS["label"], "prompt", "question", "answer", "tools"),
    ),
    Signature(
        "alpaca",
        {"instruction": "text", "output": "text", "kto_tag": "true or false"},
        "Alpaca rows with a KTO tag",
        by_name=True,
    ),
    Signature(
        "alpaca",
        {"instruction": "text", "chosen": "text", "rejected": "text"},
        "Alpaca preference rows",
        "TRL's names go before; LlamaFactory reads them as they are with --format alpaca",
        by_name=True,
    ),
    Signature(
        "alpaca",
        {"instruction": "text", "output": "text"},
        "Alpaca rows",
        "LlamaFactory reads them as they are with --format alpaca",
        by_name=True,
    ),
    Signature(
        "sagemaker-eval",
        {"query": "text"},
        "evaluation rows of SageMaker without a response",
        never=tuple({*PROMPTS, *GROUPS["response"], *ANSWERS, *MEDIA} - {"query"}),
    ),
    Signature("alpaca", {"instruction": ANY, "output": ANY}, "Alpaca rows by the names of their columns"),
    Signature("alpaca", {"instruction": "text"}, "Alpaca rows without an answer", never=ANSWERS),
    Signature(
        "verl",
        {"prompt": "turns"},
        "prompts of messages alone, or with an `answer`, which only verl's rows have",
        never=tuple({*PROMPTS, *GROUPS["response"], *GROUPS["answer"], *ANSWERS} - {"prompt", "answer"}),
        test=one_turn,
    ),
    Signature(
        "pretrain",
        {"text": "text"},
        "texts for pretraining",
        by_name=True,
        never=tuple({*PROMPTS, *GROUPS["response"], *ANSWERS} - {"text"}),
    ),
    Signature(
        "nova-cpt",
        {"text": "text"},
        "texts for pretraining, as Nova has them",
        "the same column as pretrain; only by its name",
        never=tuple({*PROMPTS, *GROUPS["response"], *ANSWERS} - {"text"}),
    ),
)
