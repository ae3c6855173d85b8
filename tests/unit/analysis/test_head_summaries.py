"""Summaries of heads equal plain definitions, in less memory than their weights would take."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from attnwidget.analysis import (
    METRICS,
    HeadSummary,
    combined_heads,
    row_batches,
    sampled_rows,
    summarize_heads,
)
from attnwidget.record import Layer, ScoreProgram, Stack, Tokens, spread_rows
from tests.unit import plain
from tests.unit.records import (
    DIM,
    FIDELITY,
    HEADS,
    KEY_HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    labels,
    layer_of,
    numbered,
    program,
    some_weights,
)


def layer_of_length(program: ScoreProgram, rows: int, columns: int, heads: int = HEADS) -> Layer:
    queries = floats(heads, rows, DIM, scale=3)
    return Layer(queries, floats(heads // 2, columns, DIM, scale=3), program, None, FIDELITY)


def _visible(rows: int, columns: int) -> np.ndarray:
    """Random; a few queries see nothing."""
    visible = np.random.default_rng(1).random((HEADS, rows, columns)) < 0.3
    visible[:, 5:9] = False
    return visible


LONG = {
    "no mask": program(),
    "causal": program(mask="causal"),
    "a short window": program(mask="window", window=(3, 2)),
    "a wide window": program(mask="window", window=(70, 40)),
    "blocks": program(blocks=(30, 30)),
    "causal blocks": program(mask="causal", blocks=(30, 20)),
    "an explicit mask": program(mask="explicit", visible=_visible(190, 150)),
    "a bias, in part of -inf": program(
        bias=np.where(_visible(190, 150), floats(HEADS, 190, 150), -np.inf).astype(np.float32)
    ),
    "a relative bias": program(mask="causal", relative=floats(HEADS, 190 + 150 - 1)),
    "softcap": program(mask="causal", softcap=1.5),
    "sinks": program(sinks=np.array([-np.inf, 0, 5, 50], np.float32)),
    "a sink that takes all": program(sinks=np.full(HEADS, 200, np.float32)),
    "scores that overflow": program(scale=100.0),
}

LAYERS = {
    **{name: layer_of(program) for name, program in PROGRAMS.items()},
    **{f"{name}, long": layer_of_length(program, 190, 150) for name, program in LONG.items()},
    "more keys than queries": layer_of_length(program(mask="causal"), 40, 150),
    "queries after all keys": layer_of_length(program(mask="window", window=(2, 0)), 90, 10),
    "weights alone": Layer(None, None, None, some_weights(3, 77, 50), FIDELITY),
    "weights, queries and keys": Layer(
        floats(HEADS, LENGTH, 8), floats(KEY_HEADS, LENGTH, 8), None, some_weights(), FIDELITY
    ),
}


@pytest.fixture(params=["one batch", "three heads at a time", "many batches"])
def batched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if request.param == "three heads at a time":
        rows, columns = LAYERS[name].shape
        monkeypatch.setattr(row_batches, "_CELLS", 3 * rows * columns)
        monkeypatch.setattr(row_batches, "_ROWS_OF_MASK", rows)
    elif request.param == "many batches":
        monkeypatch.setattr(row_batches, "_CELLS", 0)
        monkeypatch.setattr(row_batches, "_MIN_ROWS", 3)


def stack_of(layer: Layer, pair: bool = False) -> Stack:
    def tokens(count: int) -> Tokens:
        segments = tuple(int(n >= count // 3) for n in range(count)) if pair else None
        return Tokens(tuple(labels(count)), segments, tuple({0, count // 2, count - 1}))

    rows, columns = layer.shape
    return Stack(tokens(rows), tokens(columns), numbered(layer))


def _assert_same(found: list[HeadSummary], stack: Stack, weights: np.ndarray) -> None:
    """Rounding may fall on either side: of a level, and of the fourth decimal."""
    splits = stack.queries.split, stack.keys.split
    levels = np.stack([head.levels for head in found])
    assert levels.dtype == np.uint8
    assert np.abs(levels - plain.thumbnail(weights, splits)).max() <= 0.5 + 1e-4
    for name, values in plain.metrics(weights, stack.keys.special).items():
        if name not in found[0].metrics:
            assert METRICS[name].self_only
            assert stack.queries != stack.keys
            continue
        assert [head.metrics[name] for head in found] == pytest.approx(values, abs=1.01e-4), name


@pytest.mark.usefixtures("batched")
@pytest.mark.parametrize("pair", [False, True], ids=["one text", "two texts"])
@pytest.mark.parametrize("name", LAYERS)
def test_the_same_as_by_definition(name: str, pair: bool) -> None:
    layer = LAYERS[name]
    stack = stack_of(layer, pair)
    weights = np.stack([layer.head_weights(head) for head in range(layer.num_heads)])
    _assert_same(summarize_heads(stack, layer), stack, weights)


def test_sampled_rows() -> None:
    assert [sampled_rows(count) for count in (1, 4096)] == [None, None]
    assert [sampled_rows(count) for count in (4097, 32_768, 100_000)] == [2048, 512, 256]
    rows = spread_rows(32_768, 2048)
    assert rows[0] == 0
    assert rows[-1] == 32_767
    assert np.bincount(rows // 1024).tolist() == [64] * 32, "as many of every line"


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_very_long_text_is_sampled(mask: Any) -> None:
    layer = layer_of_length(program(mask=mask), 5000, 20)
    stack = stack_of(layer)
    weights = np.stack([layer.head_weights(head) for head in range(layer.num_heads)])
    rows = spread_rows(5000, 2048)
    unseen = np.setdiff1d(np.arange(5000), rows)
    weights[:, unseen] = 0
    _assert_same(summarize_heads(stack, layer), stack, weights)


def test_a_sample_leaves_no_line_of_a_thumbnail_empty() -> None:
    """Nor that of a text of three tokens."""
    weights = np.ones((1, 6000, 1), np.float32)
    layer = Layer(None, None, None, weights, FIDELITY)
    for split in (3, 5997):
        segments = tuple(int(n >= split) for n in range(6000))
        stack = Stack(Tokens(tuple(labels(6000)), segments), Tokens(("key",)), numbered(layer))
        assert summarize_heads(stack, layer)[0].levels.tolist() == [[15]] * 32


def _peak(run: Any) -> int:
    tracemalloc.start()
    try:
        result = run()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_memory_grows_no_faster_than_the_text(mask: Any) -> None:
    def peak(length: int) -> int:
        layer = layer_of_length(program(mask=mask), length, length, heads=2)
        stack = stack_of(layer)
        return _peak(lambda: summarize_heads(stack, layer))

    short, long = peak(1024), peak(4096)
    assert long < 4.5 * short
    assert long < 4 * 4096**2 / 4, "a quarter of one head's weights"


def test_what_combines_heads_needs_little_besides_itself() -> None:
    length = 2048
    layer = layer_of_length(program(), length, length)
    stack = stack_of(layer)
    # Twelve megabytes of rows that are looked at together, and no fourth matrix.
    assert _peak(lambda: combined_heads(stack)) < 3 * 4 * length**2 + 14e6
