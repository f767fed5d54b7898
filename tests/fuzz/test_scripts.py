"""Names, columns and tags through render and run: a script with hostile ones converts what one with plain ones does."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsreg.codegen.converter import render_converter
from dsreg.formats import find_format
from dsreg.runner import make_conversion
from dsreg.source import make_source
from tests.codegen.test_shape import NAMES

TARGETS = ["openai", "nova-sft", "alpaca", "pretrain", "verl-sft"]
WORDS = NAMES.filter(lambda name: not any("\ud800" <= char <= "\udfff" for char in name))


def converted(folder: Path, names: list[str], target: str, texts: list[str]) -> Any:
    """The rows that a script makes of one dialogue whose columns and tags have these names."""
    dataset, messages, role, content, user, assistant = names
    source = make_source(
        dataset,
        find_format("sharegpt"),
        [folder / "data.jsonl"],
        {"messages": messages},
        tags={"role_tag": role, "content_tag": content, "user_tag": user, "assistant_tag": assistant},
    )
    script = render_converter(make_conversion(source, find_format(target)))
    turns = [{role: user, content: texts[0]}, {role: assistant, content: texts[1]}]
    (folder / "data.jsonl").write_text(json.dumps({messages: turns}) + "\n")
    module = types.ModuleType("script")
    sys.modules["script"] = module  # where dataclasses look themselves up
    exec(compile(script, "script.py", "exec"), module.__dict__)  # as `python script.py` would, in this process
    arguments, sys.argv = sys.argv, ["script.py", str(folder / "data.jsonl"), "-o", str(folder / "out.jsonl")]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            assert module.main() == 0, said.getvalue()
    finally:
        sys.argv = arguments
    rows = (folder / "out.jsonl").read_text("utf-8")
    return json.loads(rows) if rows.startswith("[") else [json.loads(row) for row in rows.split("\n") if row]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(WORDS, min_size=6, max_size=6, unique=True),
    st.sampled_from(TARGETS),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9), min_size=2, max_size=2),
)
def test_a_script_with_hostile_names_does_the_same(names: list[str], target: str, texts: list[str]) -> None:
    plain = ["d", "messages", "role", "content", "me", "you"]
    with tempfile.TemporaryDirectory() as folder:
        assert converted(Path(folder), names, target, texts) == converted(Path(folder), plain, target, texts)
