"""Messages of content blocks, as Amazon Bedrock's Converse layout has them: written under Nova's rules, and read.

Where AWS's validators differ, what is written passes all of them. Sources: the Nova user guides on preparing data,
nova_ft_dataset_validator.py of amazon-nova-samples, amzn-nova-forge 1.4.10, and sagemaker-train 1.27.0.
"""

from __future__ import annotations

import json
import re
from typing import Any

from dsreg.rowcode.columns import as_list, as_object, as_text
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

CONVERSE_VERSION = "bedrock-conversation-2024"
# In the letter case in which one of the validators knows each word. "Chatbot:" passes, "Bot:" does not.
RESERVED_WORDS = (
    *("System:", "SYSTEM:", "User:", "USER:", "Bot:", "BOT:", "Assistant:", "ASSISTANT:", "Thought:"),
    *("[EOS]", "<image>", "<video>", "<unk>"),
)
S3_URI = re.compile(r"s3://[A-Za-z0-9_\-/.]+")
# The format names all validators know; `jpg` is refused by two of them, `webp` and `webm` by one for lite-2.
MEDIA_FORMATS = {
    "image": {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "webp": "webp"},
    "video": {"mov": "mov", "mkv": "mkv", "mp4": "mp4", "webm": "webm"},
    "document": {"pdf": "pdf"},
}
MEDIA_LIMITS = {"image": 10, "video": 1, "document": 1}


def write_converse(sample: dict[str, Any], messages: list[dict[str, Any]], c: Constants) -> dict[str, Any]:
    """The row of a dialogue, from its schema version to its messages; raises RowError DS302 to DS306."""
    row: dict[str, Any] = {"schemaVersion": CONVERSE_VERSION}
    start = 0
    if messages and messages[0]["role"] == "system":
        start = 1
        text = messages[0]["content"]
        if text:
            row["system"] = [{"text": checked_text(text, "messages[0].content", c)}]
    if sample.get("tools"):
        row["toolConfig"] = {"tools": [write_tool_spec(tool, i) for i, tool in enumerate(sample["tools"])]}
        check_tool_names(row["toolConfig"]["tools"])
    row["messages"] = write_converse_turns(messages, start, c)
    if "toolConfig" in row or any("tool_calls" in message for message in messages):
        check_tool_links(row)
    return row


def write_converse_turns(messages: list[dict[str, Any]], start: int, c: Constants) -> list[dict[str, Any]]:
    """User and assistant turns in strict alternation; tool results make up a user turn."""
    turns: list[dict[str, Any]] = []
    media = dict.fromkeys(MEDIA_LIMITS, 0)
    previous = "assistant"
    for i in range(start, len(messages)):
        message = messages[i]
        role = message["role"]
        content = message["content"]
        path = f"messages[{i}]"
        if role == "tool":
            block: dict[str, Any] = {"toolResult": write_tool_result(message, turns, path, c)}
            if i > start and messages[i - 1]["role"] == "tool":
                turns[-1]["content"].append(block)
                continue
            role, blocks = "user", [block]
        elif len(message) == 2 and type(content) is str:
            blocks = [{"text": checked_text(content, path, c)}]
        else:
            blocks = write_blocks(message, path, media, c)
        if role == previous or role == "system":
            where = "the start" if not turns else f"`{previous}`"
            raise RowError("DS302", path, f"`{message['role']}` follows {where}; Nova wants user and assistant in turn")
        turns.append({"role": role, "content": blocks})
        previous = role
    check_media_counts(media)
    if len(turns) < 2 or previous != "assistant":
        raise RowError("DS302", "messages", "Nova wants a dialogue that ends in an assistant's turn")
    return turns


def checked_text(text: str, path: str, c: Constants) -> str:
    """The text if Nova takes it: not empty, and without a word that its validators reserve."""
    if not text:
        raise RowError("DS303", path, "the text is empty")
    if c.options["reserved"] == "reject":
        for word in RESERVED_WORDS:
            if word in text:
                raise RowError("DS304", path, f"the text holds {word!r} at {text.index(word)}, a word Nova reserves")
    return text


def write_blocks(message: dict[str, Any], path: str, media: dict[str, int], c: Constants) -> list[dict[str, Any]]:
    """The content blocks of a message: reasoning, text and media, then tool calls."""
    blocks: list[dict[str, Any]] = []
    content = message["content"]
    calls = message.get("tool_calls", [])
    if "thinking" in message:
        text = checked_text(message["thinking"], f"{path}.thinking", c)
        blocks.append({"reasoningContent": {"reasoningText": {"text": text}}})
    if isinstance(content, list):
        if message["role"] != "user" and any(part["type"] != "text" for part in content):
            raise RowError("DS305", path, "only a user's turn can hold media")
        blocks.extend(write_block(part, f"{path}.content[{n}]", media, c) for n, part in enumerate(content))
    elif content or not calls:
        blocks.append({"text": checked_text(content, path, c)})
    for call in calls:
        if not isinstance(call["arguments"], dict):
            raise RowError("DS210", path, f"the arguments of {call['name']} are no JSON object")
        blocks.append({"toolUse": {"toolUseId": call["id"], "name": call["name"], "input": call["arguments"]}})
    return blocks


def write_block(part: dict[str, Any], path: str, media: dict[str, int], c: Constants) -> dict[str, Any]:
    """One text or media block; media are S3 objects with the account that owns the bucket."""
    kind = part["type"]
    if kind == "text":
        return {"text": checked_text(part["text"], path, c)}
    source = part["source"]
    source = source if isinstance(source, dict) else {"uri": source}
    uri, owner = source.get("uri", source.get("url")), source.get("bucketOwner") or c.options["bucket_owner"]
    if isinstance(uri, str) and "://" not in uri and c.options["media_prefix"]:
        uri = f"{c.options['media_prefix'].rstrip('/')}/{uri}"
    if not isinstance(uri, str) or not S3_URI.fullmatch(uri):
        raise RowError("DS305", path, f"Nova wants {kind}s as s3://bucket/key of letters, digits and _-/.: {uri!r:.80}")
    if not owner:
        raise RowError("DS305", path, "Nova wants the account that owns the bucket: --option bucket_owner=123456789012")
    suffix = uri.rpartition(".")[2].lower()
    form = MEDIA_FORMATS[kind].get(suffix)
    if form is None or (c.options["model"] == "lite-2" and form in ("webp", "webm")):
        raise RowError("DS305", path, f"Nova takes no {kind} of type {suffix!r:.20}")
    media[kind] += 1
    return {kind: {"format": form, "source": {"s3Location": {"uri": uri, "bucketOwner": owner}}}}


def check_media_counts(media: dict[str, int]) -> None:
    """At most ten images, one video, one document, and one kind in a row."""
    used = [kind for kind, count in media.items() if count]
    if len(used) > 1:
        raise RowError("DS305", "messages", f"Nova takes {used[0]}s or {used[1]}s in one row, not both")
    for kind in used:
        if media[kind] > MEDIA_LIMITS[kind]:
            raise RowError("DS305", "messages", f"{media[kind]} {kind}s; Nova takes {MEDIA_LIMITS[kind]} in a row")


def write_tool_spec(tool: dict[str, Any], index: int) -> dict[str, Any]:
    """A function definition as toolSpec; Nova needs a description and parameters with a type."""
    path = f"tools[{index}]"
    function = tool.get("function", tool)
    function = as_object(function, path)
    name, description = function.get("name"), function.get("description")
    schema = function.get("parameters")
    if not isinstance(name, str) or not name:
        raise RowError("DS306", f"{path}.name", "Nova wants a name for each tool")
    if not isinstance(description, str) or not description:
        raise RowError("DS306", f"{path}.description", f"Nova wants a description of the tool {name!r:.60}")
    if not isinstance(schema, dict) or "type" not in schema:
        raise RowError("DS306", f"{path}.parameters", f"Nova wants parameters with a `type` for the tool {name!r:.60}")
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


def check_tool_names(specs: list[dict[str, Any]]) -> None:
    """No two tools of one name."""
    names = [spec["toolSpec"]["name"] for spec in specs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise RowError("DS306", f"tools[{i}].name", f"the tool {name!r:.60} is defined twice")


def write_tool_result(message: dict[str, Any], turns: list[dict[str, Any]], path: str, c: Constants) -> dict[str, Any]:
    """A tool's answer as text. A message without an id answers the first call of the turn before that has none yet."""
    content = message["content"]
    if not isinstance(content, str):
        if any(part["type"] != "text" for part in content):
            raise RowError("DS305", path, "a tool's answer can only be text for Nova")
        blocks = [{"text": checked_text(part["text"], path, c)} for part in content]
    else:
        blocks = [{"text": checked_text(content, path, c)}]
    call_id = message.get("tool_call_id")
    if not call_id:
        blocks_before = [block for turn in turns for block in turn["content"]]
        asked = [block["toolUse"]["toolUseId"] for block in blocks_before if "toolUse" in block]
        answered = {block["toolResult"]["toolUseId"] for block in blocks_before if "toolResult" in block}
        call_id = next((asked_id for asked_id in asked if asked_id not in answered), "")
    return {"toolUseId": call_id, "content": blocks}


def check_tool_links(row: dict[str, Any]) -> None:
    """Each call is of a declared tool under an id of its own; each answer is to a call that waits for one."""
    names = {spec["toolSpec"]["name"] for spec in row.get("toolConfig", {}).get("tools", [])}
    seen: set[str] = set()
    waiting: set[str] = set()
    for i, turn in enumerate(row["messages"]):
        for block in turn["content"]:
            path = f"messages[{i}]"
            if "toolUse" in block:
                call = block["toolUse"]
                if names and call["name"] not in names:
                    raise RowError("DS306", path, f"the tool {call['name']!r:.60} is called but not defined")
                if call["toolUseId"] in seen:
                    raise RowError("DS306", path, f"the call id {call['toolUseId']!r:.60} is used twice")
                seen.add(call["toolUseId"])
                waiting.add(call["toolUseId"])
            elif "toolResult" in block:
                call_id = block["toolResult"]["toolUseId"]
                if call_id not in waiting:
                    raise RowError("DS306", path, f"a tool's answer names {call_id!r:.60}, which no open call has")
                waiting.discard(call_id)


def read_converse_system(row: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The system blocks of a row as system messages."""
    return [
        {"role": "system", "content": as_text(as_object(block, f"{column}[{i}]").get("text"), f"{column}[{i}].text")}
        for i, block in enumerate(as_list(row.get(column) or [], column))
    ]


def read_tool_specs(row: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The tools of a toolConfig as function definitions."""
    config = row.get(column)
    if config is None:
        return []
    tools = []
    for i, tool in enumerate(as_list(as_object(config, column).get("tools"), f"{column}.tools")):
        path = f"{column}.tools[{i}]"
        spec = as_object(as_object(tool, path).get("toolSpec"), f"{path}.toolSpec")
        function: dict[str, Any] = {key: spec[key] for key in ("name", "description") if key in spec}
        if "inputSchema" in spec:
            function["parameters"] = as_object(spec["inputSchema"], f"{path}.toolSpec.inputSchema").get("json")
        tools.append({"type": "function", "function": function})
    if not tools:
        raise RowError("DS209", f"{column}.tools", "the list of tools is empty")
    return tools


def read_converse_turn(raw: Any, path: str) -> list[dict[str, Any]]:
    """The messages of one turn: one, or a tool message for each result that a user's turn holds."""
    raw = as_object(raw, path)
    role = raw.get("role")
    if role not in ("user", "assistant"):
        raise RowError("DS206", f"{path}.role", f"the role is {role!r:.40}; Nova knows user and assistant")
    unknown = sorted(raw.keys() - {"role", "content"})
    if unknown:
        raise RowError("DS217", f"{path}.{unknown[0]}", "Nova knows only role and content in a message")
    return read_blocks(as_list(raw.get("content"), f"{path}.content"), role, f"{path}.content")


def read_blocks(blocks: list[Any], role: str, path: str) -> list[dict[str, Any]]:
    """The messages that the content blocks of one turn stand for."""
    message: dict[str, Any] = {"role": role, "content": ""}
    parts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    if not blocks:
        raise RowError("DS303", path, "the content is empty")
    for i, block in enumerate(blocks):
        at = f"{path}[{i}]"
        block = as_object(block, at)
        if len(block) != 1:
            raise RowError("DS216", at, "a block has one key: text, image, video, document, toolUse, toolResult, …")
        kind, value = next(iter(block.items()))
        if kind == "text":
            parts.append({"type": "text", "text": as_text(value, f"{at}.text")})
        elif kind in MEDIA_LIMITS:
            parts.append({"type": kind, "source": read_s3(value, f"{at}.{kind}")})
        elif kind == "reasoningContent" and role == "assistant":
            reasoning = as_object(as_object(value, at).get("reasoningText"), f"{at}.reasoningContent")
            message["thinking"] = as_text(reasoning.get("text"), f"{at}.reasoningContent.reasoningText.text")
        elif kind == "toolUse" and role == "assistant":
            message.setdefault("tool_calls", []).append(read_tool_use(as_object(value, at), f"{at}.toolUse"))
        elif kind == "toolResult" and role == "user":
            results.append(read_tool_result(as_object(value, at), f"{at}.toolResult"))
        else:
            raise RowError("DS216", at, f"a block `{kind:.40}` cannot stand in a turn of the {role}")
    if results:
        if parts:
            raise RowError("DS216", path, "text beside tool results in one turn has no place in other layouts")
        return results
    if len(parts) == 1 and parts[0]["type"] == "text":
        message["content"] = parts[0]["text"]
    elif parts:
        message["content"] = parts
    return [message]


def read_s3(value: Any, path: str) -> dict[str, Any]:
    """The S3 object of a media block: {uri, bucketOwner}."""
    source = as_object(as_object(value, path).get("source"), f"{path}.source")
    location = source.get("s3Location")
    if not isinstance(location, dict) or "uri" not in location:
        raise RowError("DS305", f"{path}.source", "Nova takes media by s3Location.uri only")
    return location


def read_tool_use(value: dict[str, Any], path: str) -> dict[str, Any]:
    """One toolUse block as a call."""
    return {
        "id": as_text(value.get("toolUseId"), f"{path}.toolUseId"),
        "name": as_text(value.get("name"), f"{path}.name"),
        "arguments": as_object(value.get("input"), f"{path}.input"),
    }


def read_tool_result(value: dict[str, Any], path: str) -> dict[str, Any]:
    """One toolResult block as a tool message; json content becomes its text."""
    texts = []
    for i, block in enumerate(as_list(value.get("content"), f"{path}.content")):
        block = as_object(block, f"{path}.content[{i}]")
        if "json" in block:
            texts.append(json.dumps(block["json"], ensure_ascii=False))
        else:
            texts.append(as_text(block.get("text"), f"{path}.content[{i}].text"))
    content: Any = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
    return {"role": "tool", "content": content, "tool_call_id": as_text(value.get("toolUseId"), f"{path}.toolUseId")}
