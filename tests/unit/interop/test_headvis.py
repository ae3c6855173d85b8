"""Folders of HeadVis become records and scores."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.interop.headvis import read_head, read_scores
from tests.support import PATIENCE_SECONDS
from tests.unit.records import labels, record_with_every_program

LAYER, HEAD = 3, 1
CONFIG = {"pipeline_config": {"model_name": "tiny", "n_sequences": 2000, "dataset_name": "pile"}}
ROWS = [
    {"layer": 0, "head": 0, "prev_token_score": 0.25, "pattern_entropy": 1.5},
    {"layer": 0, "head": 1, "prev_token_score": 0.75, "pattern_entropy": None},
    {"layer": 2, "head": 0, "prev_token_score": 0.5, "pattern_entropy": 0.5},
]


def text_of(weights: np.ndarray, interval: int) -> dict[str, Any]:
    """A text as HeadVis' pipeline keeps it: the largest eight weights of a row, as flat indices."""
    length = len(weights)
    kept = [
        (query * length + int(key), round(float(weights[query, key]), 4))
        for query in range(length)
        for key in sorted(np.argsort(-weights[query])[:8])
        if weights[query, key] >= 0.005
    ]
    return {
        "tokens": labels(length),
        "attention_indices": [index for index, _ in kept],
        "attention_values": [value for _, value in kept],
        "interval": interval,
        "max_activation": float(weights[1:, 1:].max()),
    }


@pytest.fixture
def weights() -> np.ndarray:
    return record_with_every_program().weights(LAYER, HEAD)


@pytest.fixture
def folder(tmp_path: Path, weights: np.ndarray) -> Path:
    heads = tmp_path / "heads"
    heads.mkdir()
    texts = [text_of(weights / 2, 1), text_of(weights, 5)]
    (heads / f"L{LAYER}H{HEAD}.json").write_text(json.dumps({"sequences": texts}))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "scatter_data.json").write_text(json.dumps(ROWS))
    return tmp_path


def test_the_texts_of_a_head(folder: Path, weights: np.ndarray) -> None:
    first, second = read_head(folder / "heads" / f"L{LAYER}H{HEAD}.json")
    assert first.tokens() == (labels(), labels())
    assert first.stack().numbers == (LAYER,)
    # What was left out is below the threshold, as no row here has more than eight weights.
    np.testing.assert_allclose(first.weights(LAYER, 0), weights, atol=0.005)
    np.testing.assert_allclose(second.weights(LAYER, 0), weights / 2, atol=0.005)
    assert first.model == f"tiny, head {LAYER}-{HEAD}"
    assert "largest weights" in first.missing[0]
    page = aw.show(first).to_html()
    assert page.startswith("<!doctype html>")


def test_without_a_config_the_model_is_not_known(folder: Path) -> None:
    (folder / "config.json").unlink()
    record, _ = read_head(folder / "heads" / f"L{LAYER}H{HEAD}.json")
    assert record.model == f"head {LAYER}-{HEAD}"


def test_the_numbers_of_all_heads(folder: Path) -> None:
    scores = read_scores(folder)
    assert list(scores) == ["prev_token_score", "pattern_entropy"]
    assert scores["prev_token_score"].layers() == (0, 2)
    np.testing.assert_equal(scores["prev_token_score"].values(), [[0.25, 0.75], [0.5, np.nan]])
    np.testing.assert_equal(scores["pattern_entropy"].values(), [[1.5, np.nan], [0.5, np.nan]])
    assert scores["pattern_entropy"].unit == "nats"
    assert scores["prev_token_score"].measured_on == "2,000 texts of pile"


DAMAGED = {
    "no JSON": b"{",
    "another file": b'{"a": 1}',
    "a list": b"[1]",
    "tokens": {"tokens": [1, 2]},
    "no tokens": {"tokens": []},
    "too many tokens": {"tokens": ["a"] * 20_000},
    "lengths": {"attention_values": [1.0]},
    "beyond": {"attention_indices": [4], "attention_values": [1.0]},
    "below": {"attention_indices": [-1], "attention_values": [1.0]},
    "fractions": {"attention_indices": [0.5], "attention_values": [1.0]},
    "texts": {"attention_indices": ["0"], "attention_values": [1.0]},
    "no number": {"attention_indices": [0], "attention_values": [float("nan")]},
    "no weight": {"attention_indices": [0], "attention_values": [7.0]},
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_what_is_damaged_is_said(tmp_path: Path, kind: str) -> None:
    sound = {
        "tokens": ["a", "b"],
        "attention_indices": [],
        "attention_values": [],
        "interval": 1,
        "max_activation": 0.5,
    }
    file = tmp_path / "heads" / "L0H0.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"sequences": [sound]}))
    assert len(read_head(file)) == 1
    content = DAMAGED[kind]
    if isinstance(content, dict):
        content = json.dumps({"sequences": [sound | content]}).encode()
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"L0H0\.json is no file of HeadVis, or a damaged one"):
        read_head(file)


@pytest.mark.parametrize("rows", [[], [{"layer": 0}], [{"layer": -1, "head": 0}], {"a": 1}])
def test_scores_of_no_head_are_refused(folder: Path, rows: Any) -> None:
    (folder / "scatter_data.json").write_text(json.dumps(rows))
    with pytest.raises(ValueError, match="is no file of HeadVis"):
        read_scores(folder)


def test_a_name_that_says_no_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"heads/L5H3\.json"):
        read_head(tmp_path / "head.json")


def test_it_needs_no_torch() -> None:
    code = "import sys, attnwidget.interop.headvis; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert run.stdout.strip() == "False", run.stderr
