"""What columns, keys and roles are usually called."""

from __future__ import annotations

# Names that people give to the same thing, the surest first. A format's own default always goes before them.
GROUPS: dict[str, tuple[str, ...]] = {
    "prompt": ("instruction", "question", "prompt", "query", "problem", "user_prompt", "input"),
    "query": ("input", "query", "question", "context"),
    "response": ("output", "response", "answer", "completion", "target", "reply"),
    "system": ("system", "system_prompt", "system_message"),
    "history": ("history",),
    "tools": ("tools", "functions"),
    "images": ("images", "image"),
    "videos": ("videos", "video"),
    "audios": ("audios", "audio"),
    "chosen": ("chosen", "chosen_response", "chosen_answer", "response_j", "preferred", "preferred_completion"),
    "rejected": (
        "rejected",
        "rejected_response",
        "rejected_answer",
        "response_k",
        "dispreferred",
        "non_preferred_completion",
    ),
    "label": ("kto_tag", "label", "tag", "desirable"),
    "messages": ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "turns"),
    "text": ("text", "content", "document"),
    "answer": ("reference_answer", "ground_truth", "answer", "solution", "reference", "expected", "response"),
}
# The group of a format's default column; what is missing here is found by its default name only.
GROUP_OF: dict[str, str] = {
    "instruction": "prompt",
    "prompt": "prompt",
    "input": "query",
    "query": "prompt",
    "output": "response",
    "response": "response",
    "completion": "response",
    "system": "system",
    "history": "history",
    "tools": "tools",
    "images": "images",
    "videos": "videos",
    "audios": "audios",
    "chosen": "chosen",
    "rejected": "rejected",
    "preferred_output": "chosen",
    "non_preferred_output": "rejected",
    "kto_tag": "label",
    "label": "label",
    "messages": "messages",
    "conversations": "messages",
    "text": "text",
    "reference_answer": "answer",
    "ground_truth": "answer",
}
# The kinds of values (look.py) for which a column is taken by a name that is not the format's own.
GROUP_KINDS: dict[str, frozenset[str]] = {
    "prompt": frozenset({"text", "turns"}),
    "query": frozenset({"text"}),
    "response": frozenset({"text", "turns"}),
    "system": frozenset({"text"}),
    "history": frozenset({"list of pairs"}),
    "tools": frozenset({"text", "list of objects"}),
    "images": frozenset({"text", "list of texts", "list of objects", "object"}),
    "videos": frozenset({"text", "list of texts", "list of objects", "list", "object"}),
    "audios": frozenset({"text", "list of texts", "list of objects", "object"}),
    "chosen": frozenset({"text", "turns", "turn"}),
    "rejected": frozenset({"text", "turns", "turn"}),
    "label": frozenset({"true or false"}),
    "messages": frozenset({"turns"}),
    "text": frozenset({"text"}),
    "answer": frozenset({"text", "number", "object", "list of texts", "true or false"}),
}
# Where two columns of one group are left and neither has the format's own name, only the user can tell.
DECISIVE_GROUPS = ("prompt", "response", "messages", "text")
# Defaults that are so common for other things that their values must be of the group's kind as well.
COMMON_WORDS = frozenset({"label", "text", "query", "messages", "prompt"})

# Keys of a turn, for its role and for its text.
ROLE_KEYS = ("from", "role", "speaker", "author")
CONTENT_KEYS = ("value", "content", "text", "message")
KEY_PAIRS = frozenset({("from", "value"), ("role", "content")})
# What the names of roles mean, in lower case; the tag of LlamaFactory that stands for each meaning.
ROLES = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "ai": "assistant",
    "observation": "observation",
    "tool": "observation",
    "tool_response": "observation",
    "function_response": "observation",
    "function": "observation",
    "function_call": "function",
    "tool_call": "function",
    "system": "system",
    "developer": "system",
}
ROLE_TAGS = {
    "user_tag": "user",
    "assistant_tag": "assistant",
    "observation_tag": "observation",
    "function_tag": "function",
    "system_tag": "system",
}
# Keys of Amazon's Converse content blocks, which unlike OpenAI's parts have no `type`.
CONVERSE_BLOCKS = frozenset(
    {"text", "image", "video", "document", "toolUse", "toolResult", "reasoningContent", "cachePoint"}
)
