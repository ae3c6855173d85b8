"""Thumbnails and metrics of matrices made by hand, and what combines heads."""

import math

import numpy as np
import pytest

from attnwidget import AttentionRecord
from attnwidget.analysis import METRICS, PATTERNS, combined_heads, pattern_of, summarize_heads
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, split_cells
from attnwidget.record import Layer, Stack, Tokens
from tests.unit.looks import metrics, thumbnail
from tests.unit.records import (
    DIM,
    FIDELITY,
    PROGRAMS,
    floats,
    hybrid,
    labels,
    layer_of,
    program,
    record_of,
    some_weights,
)

NO_PAIR = (None, None)


@pytest.mark.parametrize(
    ("rows", "columns", "shape"),
    [(1, 1, (1, 1)), (7, 5, (7, 5)), (32, 33, (32, 32)), (100, 20, (32, 20)), (64, 500, (32, 32))],
)
def test_a_thumbnail_is_never_larger_than_its_matrix(
    rows: int, columns: int, shape: tuple[int, int]
) -> None:
    small = thumbnail(some_weights(3, rows, columns), NO_PAIR)
    assert THUMBNAIL_SIZE == 32
    assert small.shape == (3, *shape)
    assert small.dtype == np.uint8


def test_levels_are_square_roots() -> None:
    weights = np.array([[[0.0, 1.0, 0.25, 0.01, 0.0001, 1 / 900 - 1e-5, 1 / 900 + 1e-5]]])
    assert thumbnail(weights.astype(np.float32), NO_PAIR).tolist() == [[[0, 15, 8, 2, 0, 0, 1]]]


@pytest.mark.parametrize("length", [33, 64, 77, 100, 1000])
def test_the_largest_weight_of_a_cell_is_kept_wherever_it_lies(length: int) -> None:
    """Every position belongs to exactly one cell, and cells are in order and of like size."""
    weights = np.zeros((length, 1, length), np.float32)
    weights[np.arange(length), 0, np.arange(length)] = 1
    cells = thumbnail(weights, NO_PAIR)[:, 0]
    assert (cells.sum(axis=1) == 15).all()
    owner = cells.argmax(axis=1)
    assert (np.diff(owner) >= 0).all()
    sizes = np.bincount(owner, minlength=32)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(("split", "length"), [(1, 33), (40, 41), (20, 64), (333, 1000), (3, 8)])
def test_no_cell_holds_tokens_of_both_texts(split: int, length: int) -> None:
    weights = np.zeros((length, 1, length), np.float32)
    weights[np.arange(length), 0, np.arange(length)] = 1
    cells = thumbnail(weights, (None, split))[:, 0]
    assert (cells.sum(axis=1) == 15).all()
    owner = cells.argmax(axis=1)
    assert (np.diff(owner) >= 0).all()
    assert set(owner) == set(range(min(length, THUMBNAIL_SIZE)))
    assert owner[split] == owner[split - 1] + 1 == split_cells(len(set(owner)), split, length)


def test_a_sharp_head_stays_sharp_in_a_long_text() -> None:
    weights = np.eye(320, dtype=np.float32)[None]
    assert np.array_equal(thumbnail(weights, NO_PAIR)[0], 15 * np.eye(32))


def _of(*matrices: np.ndarray, special: tuple[int, ...] = ()) -> dict[str, list[float]]:
    return metrics(np.stack(matrices).astype(np.float32), special)


def test_a_metric_of_every_name_for_every_head() -> None:
    found = metrics(some_weights(3), [0])
    assert found.keys() == METRICS.keys()
    assert all(len(values) == 3 for values in found.values())
    assert all(isinstance(value, float) for values in found.values() for value in values)


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("same", 0), ("next", 1)])
def test_a_head_that_attends_to_a_neighbour(name: str, offset: int) -> None:
    """Rows without such a neighbour attend to the far end, which must not count."""
    length = 6
    target = [
        i + offset if 0 <= i + offset < length else (length - 1 if offset < 0 else 0)
        for i in range(length)
    ]
    found = _of(np.eye(length)[target])
    assert found[name] == [1]
    assert found["entropy"] == [0]
    for other in {"previous", "same", "next"} - {name}:
        assert found[other] == [0]


def test_a_uniform_head() -> None:
    length = 8
    found = _of(np.full((length, length), 1 / length), special=(0, 7))
    assert found["entropy"] == pytest.approx([math.log(length)], abs=1e-4)
    assert found["distance"] == [0]
    for name in ("previous", "same", "next", "first"):
        assert found[name] == pytest.approx([1 / length], abs=1e-4)
    assert found["special"] == pytest.approx([2 / length], abs=1e-4)


def test_the_entropy_of_the_first_token_is_of_its_row_alone() -> None:
    rows = np.eye(4)
    rows[0] = 1 / 4
    found = _of(rows, np.eye(4))
    assert found["entropy_first"] == pytest.approx([math.log(4), 0], abs=1e-4)


def test_distance_is_negative_to_the_left() -> None:
    back, ahead = np.eye(6)[[0, 0, 0, 1, 2, 3]], np.eye(6)[[1, 2, 3, 4, 5, 5]]
    found = _of(back, ahead)
    assert found["distance"] == pytest.approx([-9 / 6, 5 / 6], abs=1e-4)


def test_a_head_that_attends_to_the_first_and_to_special_tokens() -> None:
    rows = np.zeros((4, 4))
    rows[:, 0], rows[:, 2] = 0.75, 0.25
    assert _of(rows)["first"] == [0.75]
    assert _of(rows)["special"] == [0]
    assert _of(rows, special=(2, 3))["special"] == [0.25]


def test_rows_that_see_no_key_do_not_count() -> None:
    rows = np.eye(4)
    rows[[1, 3]] = 0
    found = _of(rows, np.zeros((4, 4)))
    for name, value in {"same": 1, "first": 0.5, "entropy": 0}.items():
        assert found[name] == pytest.approx([value, math.nan], nan_ok=True)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 4), (4, 1), (1, 1)])
def test_queries_and_keys_of_different_length(shape: tuple[int, int]) -> None:
    found = _of(np.full(shape, 1 / shape[1]))
    assert found["entropy"] == pytest.approx([math.log(shape[1])], abs=1e-4)
    assert found["same"] == pytest.approx([1 / shape[1]], abs=1e-4)


WIDE = Layer(floats(4, 3, DIM), floats(2, 5, DIM), program(), None, FIDELITY)

COMBINED = {
    "unequal heads": AttentionRecord({"self": hybrid()}),
    "rows that see no key": record_of(layer_of(PROGRAMS["one explicit mask"])),
    "sinks": record_of(layer_of(PROGRAMS["sinks"]), layer_of(PROGRAMS["everything"], seed=1)),
    "another length": record_of(WIDE),
    "weights alone": AttentionRecord.from_arrays([some_weights(2), some_weights(5)], labels()),
    "one head": AttentionRecord.from_arrays([some_weights(1)], labels()),
}


@pytest.mark.parametrize("name", COMBINED)
def test_mean_and_maximum_of_every_head_of_every_layer(name: str) -> None:
    record = COMBINED[name]
    every = np.stack(
        [
            record.weights(layer.number, head).astype(float)
            for layer in record.stack().layers
            for head in range(layer.num_heads)
        ]
    )
    mean, largest, head = combined_heads(record.stack())
    assert mean.dtype == largest.dtype == np.float32
    np.testing.assert_allclose(mean, every.mean(axis=0), rtol=1e-6, atol=0)
    assert np.array_equal(largest, every.max(axis=0).astype(np.float32))
    assert np.array_equal(head, every.argmax(axis=0))


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"previous": 0.9, "same": 0.05}, "looks at the previous token"),
        ({"previous": 0.1, "same": 0.6, "next": 0.2, "first": 0.1}, "looks at the token itself"),
        ({"previous": 0.2, "same": 0.1, "next": 0.5, "first": 0.1}, "looks at the next token"),
        ({"first": 0.7}, "rests on the first token"),
        ({"first": 0.2, "special": 0.8}, "rests on special tokens"),
        # [CLS] is both, and over many texts, too, it is first.
        ({"first": 0.8, "special": 0.8}, "rests on the first token"),
        ({"previous": 0.3, "same": 0.3, "next": 0.3}, "mixed"),
        ({"previous": 0.49}, "mixed"),
    ],
)
def test_the_kind_of_token_that_gets_half_of_the_attention(
    shares: dict[str, float], words: str
) -> None:
    names = ("previous", "same", "next", "first", "special")
    assert PATTERNS[pattern_of({name: shares.get(name, 0) for name in names})] == words


def test_keys_of_another_text_have_no_neighbours() -> None:
    tokens, others = Tokens(("a", "b", "c")), Tokens(("x", "y", "z"))
    layer = Layer(None, None, None, np.eye(3, dtype=np.float32)[None], FIDELITY)
    [own] = summarize_heads(Stack(tokens, tokens, (layer,)), layer)
    [cross] = summarize_heads(Stack(tokens, others, (layer,)), layer)
    assert PATTERNS[pattern_of(own.metrics)] == "looks at the token itself"
    assert PATTERNS[pattern_of(cross.metrics)] == "mixed"
    assert own.metrics.keys() == METRICS.keys()
    assert not {"distance", "previous", "same", "next"} & cross.metrics.keys()
