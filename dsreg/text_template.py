"""Render a dialogue as pretraining text with a chat template, as tokenizers bring them.

What a template finds is what `apply_chat_template` of transformers gives it (utils/chat_template_utils.py): trimmed
blocks, `break` and `continue`, `raise_exception`, a `tojson` that escapes nothing for HTML, `{% generation %}`. The
sandbox is immutable, and there is no clock: the same rows give the same text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dsreg.errors import UsageError
from dsreg.files import read_regular
from dsreg.rowcode.adapt import dialogue
from dsreg.rowcode.chat import write_chat_message
from dsreg.rowcode.errors import RowError

Row = dict[str, Any]
TEMPLATE_LIMIT = 1 << 20
"""The longest chat template, in bytes; real ones have some ten thousand."""
TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")
"""Names that templates join to text; they stand for none, as the tokenizer of the training run adds its own."""


class Generation(Extension):
    """`{% generation %}` marks what an assistant wrote; the text is the same without it."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The nodes between the two tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def template_step(path: Path) -> Callable[[Row], list[Row]]:
    """The step from a dialogue to pretraining text that renders this chat template.

    The step sets undesirable answers aside, and raises RowError DS312 for a row that the template cannot render.
    Raises UsageError for a file that is no template.
    """
    template = load_template(path)

    def step(sample: Row) -> list[Row]:
        if sample["task"] == "kto" and not sample["label"]:
            return []
        return [{"task": "pretrain", "text": render_dialogue(template, sample), "extra": sample.get("extra", {})}]

    return step


def load_template(path: Path) -> jinja2.Template:
    """Compile a chat template; raises UsageError with the line of what is wrong in it, RegistryError for no file."""
    data = read_regular(path, limit=TEMPLATE_LIMIT)
    if data is None:
        raise UsageError("there is no such template", where=str(path))
    try:
        return chat_environment().from_string(data.decode("utf-8"))
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"not a template: {error.message}", where=f"{path}:{error.lineno}") from None
    except UnicodeDecodeError:
        raise UsageError("not a template: it is not UTF-8 text", where=str(path)) from None
    except ValueError as error:
        raise UsageError(f"not a template: {error}", where=str(path)) from None
    except RecursionError:
        raise UsageError("not a template: nested too deeply", where=str(path)) from None


def chat_environment() -> ImmutableSandboxedEnvironment:
    """The environment that chat templates are written for."""
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = raise_exception
    made.globals.update(dict.fromkeys(TOKENS, ""))
    return made


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """The JSON text of a value, with the arguments that templates know from transformers."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message: str) -> NoReturn:
    """Let a template refuse a dialogue."""
    raise jinja2.TemplateError(message)


def render_dialogue(template: jinja2.Template, sample: Row) -> str:
    """The text of a sample's dialogue with its answer; raises RowError DS312."""
    messages = [chat_message(message, f"messages[{i}]") for i, message in enumerate(dialogue(sample))]
    tools = [tool if "function" in tool else {"type": "function", "function": tool} for tool in sample.get("tools", [])]
    try:
        return template.render(messages=messages, tools=tools or None, documents=None, add_generation_prompt=False)
    except Exception as error:  # a template computes: whatever it does wrong is the row's or its own
        raise RowError("DS312", "messages", f"the text template fails: {error or type(error).__name__}") from None


def chat_message(message: Row, path: str) -> Row:
    """A message as chat templates take it: content as text, arguments of calls as objects where they are."""
    content = message["content"]
    if isinstance(content, list):
        if any(part["type"] != "text" for part in content):
            raise RowError("DS312", f"{path}.content", "media cannot be written as text")
        content = "".join(part["text"] for part in content)
    calls = message.get("tool_calls", [])
    plain = {key: value for key, value in message.items() if key != "tool_calls"}
    row = write_chat_message({**plain, "content": content}, "object")
    if calls:
        row["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls
        ]
    return row
