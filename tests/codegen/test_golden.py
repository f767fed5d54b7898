"""Converters as they are rendered: to be read. `DSREG_UPDATE_GOLDEN=1 pytest tests/codegen` writes them anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsreg.codegen.converter import render_converter
from dsreg.formats import built_in, ways
from dsreg.runner import Choices, Conversion, make_conversion
from tests.codegen.cases import ROOT, conversion, cookbook_source

GOLDEN = Path(__file__).parent / "golden"
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pretrain_to_pretrain": ("pretrain_jsonl", "pretrain", {}),
    "alpaca_preference_to_kto": ("alpaca_preference", "kto", {}),
    "sharegpt_tools_to_nova_sft": ("sharegpt_tools", "nova-sft", {"strip": frozenset(["system"])}),
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str) -> None:
    name, target, choices = CASES[case]
    script = render_converter(conversion(name, target, **choices))
    path = GOLDEN / f"{case}.py"
    if os.environ.get("DSREG_UPDATE_GOLDEN"):
        path.write_text(script, "utf-8")
    assert script == path.read_text("utf-8"), "its source has changed: DSREG_UPDATE_GOLDEN=1 renders it anew"


def possible() -> dict[str, Conversion]:
    """Every conversion of a cookbook dataset, each with the first choice that does."""
    found: dict[str, Conversion] = {}
    for path in sorted((ROOT / "registry").glob("*.toml")):
        source = cookbook_source(path.stem)
        for target in built_in().values():
            steps = [step for way in ways(source.task, target) for step in way.steps if target.writes]
            if target.writes and (steps or source.task in target.manifest.tasks):
                choices = Choices(take=steps[0].take if steps else None)
                found[f"{path.stem}_{target.id}"] = make_conversion(source, target, choices)
    return found


def test_every_converter_is_clean(tmp_path: Path) -> None:
    conversions = possible()
    assert len(conversions) > 50
    for name, made in conversions.items():
        script = render_converter(made)
        assert "dsreg." not in "".join(line for line in script.splitlines() if "import" in line), name
        assert str(ROOT) not in script
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(script, "utf-8")
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    done = subprocess.run(
        [ruff, "check", "--isolated", "--quiet", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[:3000]


def test_a_simple_converter_carries_no_step_and_no_features() -> None:
    script = render_converter(conversion("pretrain_jsonl", "pretrain"))
    for name in ("Steps", "SetAside", "find_features", "adapt", "Notes", "survey"):
        assert name not in script.split("# What is particular")[1], name


def test_options_and_tags_stand_only_where_they_are_read() -> None:
    head = render_converter(conversion("alpaca_sft", "pretrain")).partition("SOURCE =")[2].partition("CONTAINER")[0]
    assert "tags=" not in head
    assert "options=" not in head
    assert '"prompt": "instruction"' in head
