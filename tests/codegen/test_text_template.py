"""Pretraining text by a chat template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsreg.codegen.converter import render_converter
from dsreg.errors import UsageError
from dsreg.rowcode.errors import RowError
from dsreg.text_template import template_step
from tests.codegen.cases import conversion, run_here

CHATML = """\
{%- for message in messages %}
    {%- if message.role == "critic" %}{{ raise_exception("no critics") }}{% endif %}
<|{{ message.role }}|>{{ message.content }}
{% endfor -%}
"""
USER = {"role": "user", "content": "Hi <b> & 好"}
BOT = {"role": "assistant", "content": "Hello"}
CALL = {"id": "call_1", "name": "sum", "arguments": {"a": [1, "é"]}}
CALLING = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "3", "tool_call_id": "call_1"}
PARTS = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
SFT = {"task": "sft", "messages": [USER, BOT]}


def step(template: str, folder: Path) -> Any:
    path = folder / "chat.jinja"
    path.write_text(template, "utf-8")
    return template_step(path)


RENDERED: list[tuple[str, dict[str, Any], str]] = [
    (CHATML, SFT, "<|user|>Hi <b> & 好\n<|assistant|>Hello\n"),
    ("{{ messages | length }}", {"task": "kto", "messages": [USER], "completion": [BOT], "label": True}, "2"),
    ("{{ messages[-1].content }}", {"task": "preference", "messages": [USER], "chosen": [BOT]}, "Hello"),
    ("{{ messages[-1].content }}", {"task": "prompt", "messages": [USER], "answer": "42"}, "42"),
    ("{{ messages[0].content }}", {"task": "sft", "messages": [PARTS, BOT]}, "ab"),
    ("{{ messages[1] | tojson }}", SFT, '{"role": "assistant", "content": "Hello"}'),
    ("{{ messages[0].content | tojson }}", SFT, '"Hi <b> & 好"'),
    ("{{ messages[0] | tojson(indent=1) }}", {"task": "sft", "messages": [BOT]},
     '{\n "role": "assistant",\n "content": "Hello"\n}'),
    ("{{ messages[0].tool_calls[0].function | tojson }}", {"task": "sft", "messages": [CALLING]},
     '{"name": "sum", "arguments": {"a": [1, "é"]}}'),
    ("{{ messages[1].tool_call_id }}", {"task": "sft", "messages": [CALLING, RESULT]}, "call_1"),
    ("{{ tools[0].function.name }}", {**SFT, "tools": [{"name": "sum"}]}, "sum"),
    ("{{ tools is none }} {{ add_generation_prompt }} [{{ bos_token }}]", SFT, "True False []"),
    ("{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% endfor %}", SFT, "assistant"),
    ("a{% generation %}{{ messages[1].content }}{% endgeneration %}b", SFT, "aHellob"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "sample", "text"), RENDERED)
def test_rendered(template: str, sample: dict[str, Any], text: str, tmp_path: Path) -> None:
    assert step(template, tmp_path)(sample) == [{"task": "pretrain", "text": text, "extra": {}}]


def test_extras_stay_and_undesirable_answers_are_set_aside(tmp_path: Path) -> None:
    render = step("x", tmp_path)
    assert render({**SFT, "extra": {"id": 1}}) == [{"task": "pretrain", "text": "x", "extra": {"id": 1}}]
    assert render({"task": "kto", "messages": [USER], "completion": [BOT], "label": False}) == []


FAILING: list[tuple[str, str]] = [
    (CHATML.replace('"critic"', '"user"'), "no critics"),
    ("{{ messages[7].content.more }}", "no element 7|undefined"),
    ("{{ 1 // 0 }}", "division"),
    ("{{ messages.append(1) }}", "not safe|unsafe"),
    ("{{ ().__class__.__mro__ }}{{ ''.__class__.__base__.__subclasses__() }}", "unsafe|undefined"),
    ("{% for i in range(10000000) %}{% endfor %}", "Range too big"),
    ("{{ messages[0].content + 1 }}", "str"),
]


@pytest.mark.parametrize(("template", "words"), FAILING)
def test_failing(template: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RowError, match=words) as caught:
        step(template, tmp_path)(SFT)
    assert caught.value.code == "DS312"


def test_media_have_no_text(tmp_path: Path) -> None:
    image = {"role": "user", "content": [{"type": "image", "source": "a.png"}]}
    with pytest.raises(RowError, match="media") as caught:
        step("x", tmp_path)({"task": "sft", "messages": [BOT, image]})
    assert (caught.value.code, caught.value.path) == ("DS312", "messages[1].content")


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        (b"a\n\n{% if %}", ":3", "not a template"),
        (b"a\n{{ x | nofilter }}", ":2", "nofilter"),
        (b"{% for m in messages %}", ":1", "not a template"),
        (b"\xff\xfe", "", "UTF-8"),
        (None, "", "there is no such template"),
    ],
)
def test_what_is_no_template(data: bytes | None, where: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.jinja"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError, match=words) as caught:
        template_step(path)
    assert caught.value.where == f"{path}{where}"


def test_the_runner_uses_it_and_a_script_cannot(tmp_path: Path) -> None:
    path = tmp_path / "chat.jinja"
    path.write_text("{{ messages[-1].content }}", "utf-8")
    made = conversion("alpaca_sft", "pretrain", text_template=path)
    rows = run_here(made).rows
    assert rows
    assert rows[0]["text"].startswith("Imagine a coat check.")
    with pytest.raises(UsageError, match="Jinja") as caught:
        render_converter(made)
    assert "--text-template" in caught.value.hint
