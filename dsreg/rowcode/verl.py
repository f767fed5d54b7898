"""verl's rows for reinforcement learning, which SageMaker shares: a prompt, reward_model and extra_info.

Training reads the ground truth from `reward_model.ground_truth`, SageMaker's evaluation from `extra_info.answer` first
(verl 0.9.1, trainer/ppo/reward.py and utils/dataset/rl_dataset.py; sagemaker-train 1.27.0, normalize_rlvr_row). So both
are written, equal, and a row in which they differ is refused.
"""

from __future__ import annotations

from typing import Any

from dsreg.rowcode.columns import as_object, read_extra
from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError
from dsreg.rowcode.jsontext import text_or_json, without_nulls
from dsreg.rowcode.media import read_media

VERL_TYPES = {"index": int, "need_tools_kwargs": bool}
VERL_MEDIA = ("images", "videos", "audios")


def read_verl(row: dict[str, Any], messages: list[dict[str, Any]], c: Constants) -> dict[str, Any]:
    """The sample of a row whose prompt is read already; raises RowError DS207, and DS307 for two ground truths."""
    reward, info = read_verl_object(row, c, "reward_model"), read_verl_object(row, c, "extra_info")
    truths = {
        f"{c.columns.get('reward_model')}.ground_truth": reward.pop("ground_truth", None),
        f"{c.columns.get('extra_info')}.answer": info.pop("answer", None),
    }
    answer = one_truth(truths)
    extra = {key: value for key, value in read_extra(row, c).items() if value is not None}
    column = c.columns.get("answer")
    if column is not None and row.get(column) is not None:
        if answer is None:
            answer = row[column]
        else:
            extra.setdefault(column, row[column])
    if reward.get("style") == "rule":
        del reward["style"]
    if reward:
        extra["reward_model"] = reward
    if info:
        extra["extra_info"] = info
    sample: dict[str, Any] = {"task": c.task, "messages": messages}
    if answer is not None:
        sample["answer"] = answer
    if extra:
        sample["extra"] = extra
    return sample


def read_verl_object(row: dict[str, Any], c: Constants, name: str) -> dict[str, Any]:
    """A copy of an object column without nulls; unmapped, absent and null give an empty one."""
    column = c.columns.get(name)
    value = row.get(column) if column is not None else None
    if column is None or value is None:
        return {}
    found: dict[str, Any] = without_nulls(as_object(value, column), column)
    return found


def one_truth(truths: dict[str, Any]) -> Any:
    """The one ground truth among those that are there, by where they stand; text is preferred to what reads the same.

    Raises RowError DS307 naming both places when two differ.
    """
    found, place, text = None, "", ""
    for path, value in truths.items():
        if value is None:
            continue
        said = text_or_json(value, path)
        if found is None:
            found, place, text = value, path, said
        elif said != text:
            raise RowError("DS307", path, f"the ground truth is {said!r:.60} here and {text!r:.60} in {place}")
        elif isinstance(value, str):
            found = value
    return found


def write_verl(sample: dict[str, Any], prompt: Any, c: Constants, *, flat: bool) -> dict[str, Any]:
    """The row of a sample whose prompt is laid out already; raises RowError DS307, DS308, DS310.

    `flat` is for consumers that load through Arrow: values that are not typed in verl become text, other objects than
    those two become JSON text. Without a ground truth it is the empty text.
    """
    extra = {key: value for key, value in sample.get("extra", {}).items() if value is not None}
    reward, info = (dict(as_object(extra.pop(key, {}), key)) for key in ("reward_model", "extra_info"))
    truth = one_truth(
        {
            "answer": sample.get("answer"),
            "reward_model.ground_truth": reward.pop("ground_truth", None),
            "extra_info.answer": info.pop("answer", None),
        }
    )
    text = "" if truth is None else text_or_json(truth, "answer")
    source, ability = extra.pop("data_source", ""), extra.pop("ability", None)
    source = c.options["data_source"] if source == "" else source
    row: dict[str, Any] = {}
    if source:
        row["data_source"] = text_or_json(source, "data_source")
    row["prompt"] = prompt
    if ability is not None:
        row["ability"] = text_or_json(ability, "ability")
    style = text_or_json(reward.pop("style", "rule"), "reward_model.style")
    row["reward_model"] = {"style": style, "ground_truth": text, **write_verl_values(reward, "reward_model", flat)}
    row["extra_info"] = {**write_verl_values(info, "extra_info", flat), "answer": text}
    for key, value in extra.items():
        if key in ("prompt", *VERL_MEDIA):
            if value in ("", []):
                continue  # nothing is lost
            hint = f"carry it under another name: --column attributes={key}"
            raise RowError("DS310", key, f"a further column is called `{key}`, which is verl's own; {hint}")
        row[key] = text_or_json(value, key) if flat or key in ("id", "difficulty", "agent_name") else value
    return row


def write_verl_values(values: dict[str, Any], path: str, flat: bool) -> dict[str, Any]:
    """The further members of reward_model and extra_info: typed where verl has a type, text for Arrow otherwise."""
    if not flat:
        return values
    row = {}
    for key, value in values.items():
        kind = VERL_TYPES.get(key)
        if value is None:
            continue
        if kind is not None and type(value) is not kind:
            wanted = "a whole number" if kind is int else "true or false"
            raise RowError("DS308", f"{path}.{key}", f"verl wants {wanted} here, found {value!r:.40}")
        row[key] = value if kind is not None else text_or_json(value, f"{path}.{key}")
    return row


def read_verl_media(row: dict[str, Any], c: Constants) -> dict[str, list[str]]:
    """The media of a row by kind, as paths or URLs; raises RowError DS208 or DS305."""
    return {
        kind: [media_text(source, f"{c.columns[f'{kind}s']}[{i}]") for i, source in enumerate(sources)]
        for kind, sources in read_media(row, c).items()
    }


def media_texts(media: dict[str, list[Any]]) -> dict[str, list[str]]:
    """Media sources by column, as paths or URLs; raises RowError DS305."""
    return {
        column: [media_text(source, f"{column}[{i}]") for i, source in enumerate(sources)]
        for column, sources in media.items()
    }


def media_text(source: Any, path: str) -> str:
    """One media source as a path or URL, out of the objects of one member that verl and processors take too."""
    if isinstance(source, dict):
        found = {key: value for key, value in source.items() if value is not None}
        if len(found) == 1 and found.keys() <= {"path", "image", "video", "audio", "url", "uri"}:
            source = next(iter(found.values()))
    if not isinstance(source, str):
        raise RowError("DS305", path, "media are written as paths or URLs; this one is bytes, frames or an object")
    return source
