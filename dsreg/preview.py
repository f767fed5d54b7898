"""Rows as a person reads them: the turns of a sample, and what they become."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dsreg.rowcode.errors import RowError
from dsreg.rowcode.pipeline import SetAside, convert_row
from dsreg.rows import BadRow
from dsreg.runner import Conversion, stream_rows
from dsreg.source import Source

ANSWERS = {"chosen": "chosen", "rejected": "rejected", "completion": "answer"}


class Turn(NamedTuple):
    """One thing that somebody says: a label such as "user" or "chosen", and text."""

    label: str
    text: str


@dataclass(frozen=True)
class Shown:
    """One row: where it stands, as it is, as it is read, and what it becomes; or why it is not read or converted."""

    place: str
    row: Any
    sample: dict[str, Any] | None
    converted: list[dict[str, Any]] | None = None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """The row as JSON-shaped data."""
        return self.__dict__


def look(
    source: Source, count: int, conversion: Conversion | None = None, *, shown: Callable[[Path], str] = str
) -> Iterator[Shown]:
    """The first rows of a source, and what each becomes where a conversion is given; raises DataFileError.

    `shown` says how a path is called.
    """
    for stream, value in stream_rows(source, count):
        path = shown(stream.path)
        place = f"{path}:{stream.line}" if stream.line else f"{path}: row {stream.row}"
        raw = value.raw if type(value) is BadRow else value
        sample, converted = None, None
        try:
            sample = source.sample(value)
            if conversion is not None:
                converted = convert_row(value, conversion.steps)
        except RowError as error:
            yield Shown(
                place, raw, sample, problem=f"{error.code} {error.path + ': ' if error.path else ''}{error.message}"
            )
        except SetAside as aside:
            yield Shown(place, raw, sample, [], f"set aside: {aside}")
        else:
            yield Shown(place, raw, sample, converted)


def aligned_rows(dataset_dir: Path, name: str, stage: str, count: int | None) -> Iterator[dict[str, Any]]:
    """The first rows of an entry as LlamaFactory's converter makes them: `i` from 0, `status`, `_prompt` and so on.

    Media columns that the entry does not map are left out. Raises RegistryError or DataFileError where LlamaFactory
    would stop before the rows, UsageError for a stage that does not exist.
    """
    from dsreg.errors import DataFileError, RegistryError, UsageError
    from dsreg.llamafactory.predict import predict
    from dsreg.llamafactory.resolve import REGISTRY_NAME
    from dsreg.llamafactory.stage import STAGES

    if stage not in STAGES:
        raise UsageError(f"--stage {stage}: there is no such stage", hint=f"stages: {', '.join(STAGES)}")
    prediction = predict(dataset_dir, name, stage)
    fatal = prediction.fatal
    if fatal is not None:
        kind = DataFileError if fatal.where == "load" else RegistryError
        raise kind(fatal.message, where=str(dataset_dir / REGISTRY_NAME), hint=f"dsreg check {name}")
    for verdict in prediction:
        if count is not None and verdict.row >= count:
            return
        aligned = {key: value for key, value in (verdict.aligned or {}).items() if key in _ALWAYS or value is not None}
        why = {"why": verdict.why} if verdict.why else {}
        yield {"dataset": name, "i": verdict.row, "status": verdict.status, **aligned, **why}


_ALWAYS = ("_prompt", "_response", "_system", "_tools")


def turns(sample: dict[str, Any]) -> Iterator[Turn]:
    """A sample as a conversation, from the tools that may be called to the answer that is the truth."""
    if "text" in sample:
        yield Turn("text", sample["text"])
    if sample.get("tools"):
        yield Turn("tools", ", ".join(_tool(tool) for tool in sample["tools"]))
    for message in sample.get("messages", ()):
        yield from _said(message["role"], message)
    for key, label in ANSWERS.items():
        for message in sample.get(key, ()):
            name = label if message["role"] == "assistant" else f"{label}: {message['role']}"
            yield from _said(name, message)
    if "label" in sample:
        yield Turn("label", "desirable" if sample["label"] else "undesirable")
    if "answer" in sample:
        answer = sample["answer"]
        yield Turn("truth", answer if isinstance(answer, str) else _json(answer))
    for key, value in sample.get("extra", {}).items():
        yield Turn(f"+ {key}", value if isinstance(value, str) else _json(value))


def _said(label: str, message: dict[str, Any]) -> Iterator[Turn]:
    if message.get("thinking"):
        yield Turn("thinking", message["thinking"])
    text = _text(message["content"])
    if text or not message.get("tool_calls"):
        yield Turn(label, text)
    for call in message.get("tool_calls") or ():
        arguments = call.get("arguments")
        shown = arguments if isinstance(arguments, str) else _json(arguments)
        yield Turn("calls", f"{call.get('name')} {shown}")


def _text(content: Any) -> str:
    """Content as text, media by what they are and where they lie."""
    if isinstance(content, str):
        return content
    return "".join(
        part["text"] if part["type"] == "text" else f"[{part['type']} {part.get('source')}]" for part in content
    )


def _tool(tool: Any) -> str:
    inner = tool.get("function", tool) if isinstance(tool, dict) else tool
    return str(inner.get("name")) if isinstance(inner, dict) else _json(inner)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"
