"""The score program against its definition, written out as loops in double precision."""

import math

import numpy as np
import pytest

from attnwidget.record import Layer, ScoreProgram
from tests.unit.records import (
    HEADS,
    KEY_HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    layer_of,
    program,
    record_of,
)


def _sees(program: ScoreProgram, head: int, i: int, j: int) -> bool:
    if program.blocks is not None and i // program.blocks[0] != j // program.blocks[1]:
        return False
    if program.mask == "causal":
        return j <= i
    if program.mask == "window":
        assert program.window is not None
        left, right = program.window
        return i - left <= j <= i + right
    if program.mask == "explicit":
        assert program.visible is not None
        return bool(_cell(program.visible, head, i, j))
    return True


def _cell(array: np.ndarray, head: int, i: int, j: int) -> float:
    """An entry of an array over heads, rows and columns, any of which may repeat."""
    heads, rows, columns = array.shape
    value: float = array[head % heads, i % rows, j % columns]
    return value


def _score(layer: Layer, head: int, i: int, j: int) -> float:
    program = layer.program
    assert program is not None
    assert layer.queries is not None
    assert layer.keys is not None
    if not _sees(program, head, i, j):
        return -math.inf
    q, k = layer.queries[head, i], layer.keys[head // (HEADS // KEY_HEADS), j]
    score = sum(float(a) * float(b) for a, b in zip(q, k, strict=True)) * program.head_scale(head)
    if program.softcap is not None:
        score = program.softcap * math.tanh(score / program.softcap)
    if program.bias is not None:
        score += float(_cell(program.bias, head, i, j))
    if program.relative is not None:
        score += float(program.relative[head % len(program.relative), j - i + LENGTH - 1])
    return score


def _weights(layer: Layer, head: int, i: int, scores: list[float]) -> list[float]:
    assert layer.program is not None
    exponentials = [math.exp(score) for score in scores]
    total = sum(exponentials)
    if layer.program.sinks is not None:
        total += math.exp(layer.program.sinks[head])
    return [e / total if total else 0.0 for e in exponentials]


@pytest.mark.parametrize("name", PROGRAMS)
def test_scores_and_weights_are_as_defined(name: str) -> None:
    layer = layer_of(PROGRAMS[name])
    record = record_of(layer)
    for head in range(HEADS):
        scores, weights = record.scores(0, head), record.weights(0, head)
        assert scores.dtype == weights.dtype == np.float32
        for i in range(LENGTH):
            expected = [_score(layer, head, i, j) for j in range(LENGTH)]
            np.testing.assert_allclose(scores[i], expected, rtol=1e-5, atol=1e-5)
            shares = _weights(layer, head, i, expected)
            np.testing.assert_allclose(weights[i], shares, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_some_rows_are_the_same_rows(name: str) -> None:
    layer = layer_of(PROGRAMS[name])
    rows = np.array([0, 2, 5])
    for head in range(HEADS):
        scores, weights = layer.head_scores(head), layer.head_weights(head)
        np.testing.assert_allclose(layer.head_scores(head, rows), scores[rows], atol=1e-5)
        np.testing.assert_allclose(layer.head_weights(head, rows), weights[rows], atol=1e-6)


@pytest.mark.parametrize("name", ["one explicit mask", "an explicit mask per head", "everything"])
def test_a_row_that_sees_no_key_is_all_zero(name: str) -> None:
    record = record_of(layer_of(PROGRAMS[name]))
    for head in range(HEADS):
        assert np.isneginf(record.scores(0, head)[2]).all()
        assert (record.weights(0, head)[2] == 0).all()
        assert record.weights(0, head)[4].min() > 0


def test_large_scores_do_not_overflow() -> None:
    record = record_of(layer_of(program(scale=1e4)))
    weights = record.weights(0, 0)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)


def test_a_large_sink_takes_everything() -> None:
    record = record_of(layer_of(program(sinks=np.full(HEADS, 1e4, np.float32))))
    assert (record.weights(0, 1) == 0).all()


def test_more_keys_than_queries() -> None:
    """Query i sees the keys up to i, wherever the keys end."""
    queries, keys = floats(HEADS, 3, 8), floats(KEY_HEADS, 5, 8)
    layer = Layer(queries, keys, program(mask="causal"), None, layer_of(program()).fidelity)
    weights = record_of(layer).weights(0, 0)
    assert weights.shape == (3, 5)
    assert np.array_equal(weights > 0, np.tril(np.ones((3, 5), dtype=bool)))


@pytest.mark.parametrize(
    "options",
    [
        {"mask": "window"},
        {"mask": "causal", "window": (1, 0)},
        {"mask": "explicit"},
        {"visible": np.ones((1, 2, 2), dtype=bool)},
    ],
)
def test_a_mask_and_its_parameters_come_together(options: dict) -> None:
    with pytest.raises(ValueError, match=r"if and only if its mask is"):
        program(**options)


WRONG: dict[str, tuple[dict, str]] = {
    "a scale that is no number": ({"scale": "1"}, "finite numbers"),
    "a scale without end": ({"scale": math.inf}, "finite numbers"),
    "one of the scales": ({"scale": (1.0, math.nan)}, "finite numbers"),
    "scales in a list": ({"scale": [1.0, 2.0]}, "finite numbers"),
    "a softcap without end": ({"softcap": math.inf}, "finite numbers"),
    "a softcap of zero": ({"softcap": 0.0}, "softcap of 0"),
    "a mask that is none": ({"mask": "diagonal"}, "mask is 'diagonal'"),
    "a window of one number": ({"mask": "window", "window": (1,)}, "window is"),
    "a window to behind": ({"mask": "window", "window": (-1, 0)}, "window is"),
    "half a window": ({"mask": "window", "window": (1.5, 0)}, "window is"),
    "blocks of nothing": ({"blocks": (0, 4)}, "blocks is"),
    "blocks of one number": ({"blocks": (4,)}, "blocks is"),
    "blocks and a half": ({"blocks": (2.0, 2)}, "blocks is"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_program_makes_sense(name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        program(**options)


UNFIT: dict[str, tuple[dict, str]] = {
    "too few scales": ({"scale": (1.0, 2.0)}, "2 scales for 4 heads"),
    "no scales": ({"scale": ()}, "0 scales for 4 heads"),
    "bias of other rows": ({"bias": floats(1, 3, LENGTH)}, "bias is"),
    "bias of other columns": ({"bias": floats(1, LENGTH, 3)}, "bias is"),
    "bias of two axes": ({"bias": floats(LENGTH, LENGTH)}, "bias is"),
    "bias in double precision": ({"bias": np.zeros((1, 1, LENGTH))}, "bias is float64"),
    "bias for all keys with blocks": ({"blocks": (3, 3), "bias": floats(1, 3, LENGTH)}, "bias is"),
    "bias of another block": ({"blocks": (3, 3), "bias": floats(1, 2, 3)}, "bias is"),
    "bias of nothing": ({"bias": np.full((1, 1, LENGTH), np.nan, np.float32)}, "NaN"),
    "bias without end": ({"bias": np.full((1, 1, LENGTH), np.inf, np.float32)}, "infinity"),
    "relative bias too short": ({"relative": floats(1, LENGTH)}, "relative is"),
    "relative bias for other heads": ({"relative": floats(2, 2 * LENGTH - 1)}, "relative is"),
    "relative bias of one axis": ({"relative": floats(2 * LENGTH - 1)}, "relative is"),
    "relative bias of nothing": (
        {"relative": np.full((1, 2 * LENGTH - 1), np.nan, np.float32)},
        "relative hold NaN",
    ),
    "sinks of nothing": ({"sinks": np.full(HEADS, np.nan, np.float32)}, "sinks hold NaN"),
    "a mask in numbers": ({"mask": "explicit", "visible": floats(1, 1, LENGTH)}, "visible is"),
    "a mask for another block": (
        {"mask": "explicit", "blocks": (2, 2), "visible": np.ones((1, 2, 3), dtype=bool)},
        "visible is",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_program_must_fit_its_layer(name: str) -> None:
    options, message = UNFIT[name]
    with pytest.raises(ValueError, match=message):
        layer_of(program(**options))
