"""Descriptors parsed by their own languages, and the keys that their consumers know."""

from __future__ import annotations

import ast
import json
import shlex
from typing import Any

import yaml

Value = Any


def parse(file: str, text: str) -> Value:
    """A descriptor as its consumer reads it: JSON, YAML, the words of a shell command, a syntax tree's dump."""
    if file.endswith(".json"):
        return json.loads(text)
    if file.endswith(".yaml"):
        return yaml.safe_load(text)
    if file.endswith(".sh"):
        return shlex.split(text, comments=True)
    return ast.dump(ast.parse(text))


def keys(value: Value, path: str = "") -> set[str]:
    """The paths of all keys; the items of a list share one."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item, path)}
    if not isinstance(value, dict):
        return set()
    inner = {f"{path}.{key}".lstrip(".") for key in value}
    return inner | {key for name, item in value.items() for key in keys(item, f"{path}.{name}".lstrip("."))}


def words(prefix: str, names: str) -> set[str]:
    return {f"{prefix}{name}" for name in names.split()}


_COLUMNS = "prompt query response history messages system tools images videos audios chosen rejected kto_tag"
_TAGS = "role_tag content_tag user_tag assistant_tag observation_tag function_tag system_tag"
ENTRY_KEYS = {
    *words("", "file_name formatting ranking columns tags"),
    *words("columns.", _COLUMNS),
    *words("tags.", _TAGS),
}
"""LlamaFactory 0.9.5, data/parser.py."""
SWIFT_TARGETS = words("", "messages query response history system rejected_response rejected_messages label tools "
                          "images videos audios solution objects channel")  # fmt: skip
"""ms-swift 4.6: the columns that it does not drop."""
ALLOWED = {
    "trl.yaml": {"datasets", *words("datasets.", "path name data_dir data_files split columns fraction")},
    "axolotl.yaml": {
        "datasets",
        "rl",
        *words("datasets.", "path ds_type data_files split type field field_messages field_tools field_system"),
        *words("datasets.", "field_chosen field_rejected message_property_mappings roles roles_to_train"),
        *words("datasets.message_property_mappings.", "role content"),
        *words("datasets.roles.", "user assistant system tool"),
    },
    "verl.yaml": {
        *words("", "data reward reward.custom_reward_function"),
        *words("data.", "train_files val_files prompt_key image_key video_key audio_key"),
        *words("reward.custom_reward_function.", "path name"),
    },
    "verl-sft.yaml": {"data", *words("data.", "train_files val_files messages_key tools_key max_length")},
    "ms-swift.json": {
        *words("", "dataset_name dataset_path columns subsets split messages"),
        *words("columns.", "kto_tag chosen rejected"),
    },
}
"""TRL 1.16, axolotl 0.19, verl 0.9.1, ms-swift 4.6."""
