"""LlamaFactory's own demo data: every row's status and aligned form as its loader gave them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from dsreg.llamafactory.predict import predict

STAGES = {"dpo_en_demo": "dpo", "kto_en_demo": "kto", "c4_demo": "pt", "wiki_demo": "pt"}


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, list[dict[str, Any]]]:
    folder = shared / "data" / "llamafactory"
    if not (folder / "aligned.jsonl").is_file():
        pytest.skip("the demo data of LlamaFactory is absent")
    rows = defaultdict(list)
    for line in (folder / "aligned.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        rows[row.pop("dataset")].append(row)
    return rows


def test_every_row_of_the_demo_data(shared: Path, recorded: dict[str, list[dict[str, Any]]]) -> None:
    folder = shared / "data" / "llamafactory"
    assert sum(map(len, recorded.values())) == 2329
    for dataset, rows in recorded.items():
        prediction = predict(folder, dataset, STAGES.get(dataset, "sft"))
        predicted = [
            {"i": verdict.row, "status": verdict.status, **_present(verdict.aligned or {})} for verdict in prediction
        ]
        assert prediction.fatal is None
        assert _without_media_folder(predicted) == _without_media_folder(rows), dataset


def _present(aligned: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in aligned.items() if value is not None}


def _without_media_folder(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with media paths from the media folder's own content on: the files themselves may be absent."""
    return [
        {
            key: [path[path.index("mllm_demo_data") :] for path in value]
            if key in ("_images", "_videos", "_audios")
            else value
            for key, value in row.items()
            if key != "why"
        }
        for row in rows
    ]
