"""Blocks say what their bytes are, and how far the bytes can lie from the record."""

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget.record import Layer, ScoreProgram, sample_rows
from attnwidget.wire import encode_block
from attnwidget.wire.block import Block
from attnwidget.wire.compression import LIMITS, Quality, pack_layer
from attnwidget.wire.rounding import Comparison, from_int16, to_int16
from tests.decoding import decode_arrays
from tests.unit.records import (
    FIDELITY,
    HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    layer_of,
    program,
    some_weights,
)


def _decode(block: Block) -> dict[str, np.ndarray]:
    """The arrays by what the parts say, with integers times their steps."""
    arrays = decode_arrays(block.parts, block.buffers)
    for name, steps in (("queries", "query_steps"), ("keys", "key_steps")):
        if steps in arrays:
            arrays[name] = from_int16(arrays[name], arrays.pop(steps))
    return arrays


def _weights_alone(queries: bool) -> Layer:
    vectors = (floats(HEADS, LENGTH, 8), floats(2, LENGTH, 8)) if queries else (None, None)
    return Layer(*vectors, None, some_weights(), FIDELITY)


LAYERS = {
    **{name: layer_of(program) for name, program in PROGRAMS.items()},
    "weights alone": _weights_alone(queries=False),
    "weights, queries and keys": _weights_alone(queries=True),
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_parts_are_those_of_the_layer(name: str) -> None:
    layer = LAYERS[name]
    sent = _decode(encode_block(layer))
    own: dict[str, Any] = {"queries": layer.queries, "keys": layer.keys, "weights": layer.weights}
    if layer.program is not None:
        own |= {name: getattr(layer.program, name) for name in ("visible", "bias", "relative")}
    assert set(sent) == {part for part, array in own.items() if array is not None}
    for part, array in sent.items():
        assert array.shape == own[part].shape
        if part == "visible":
            assert np.array_equal(array, own[part])
        else:
            assert array.astype(float) == pytest.approx(own[part], abs=2e-3)


def _types(block: Block) -> dict[str, str]:
    return {part["name"]: part["dtype"] for part in block.parts}


def test_weights_are_right_to_three_decimals() -> None:
    """With integers where that is enough, else with all digits."""
    layer = layer_of(PROGRAMS["one bias"])
    assert layer.queries is not None
    block = encode_block(layer)
    assert block.error is not None
    assert 0 < block.error["largest"] <= 0.0005
    assert _types(block)["queries"] == "i16"
    # All but the largest number round to zero.
    queries = layer.queries.copy()
    queries[:, 2] = 1e7
    layer = replace(layer, queries=queries)
    block = encode_block(layer)
    assert block.error == {"largest": 0}
    assert _types(block) == {"queries": "f32", "keys": "f32", "bias": "f32"}
    assert np.array_equal(_decode(block)["queries"], queries)


def test_a_sample_of_rows_has_half_the_limit() -> None:
    """Other rows may be worse."""
    queries, keys = floats(2, 200, 8), floats(2, 200, 8)
    layer = Layer(queries, keys, program(), None, FIDELITY)
    errors = []
    for scale in np.geomspace(1, 300, 40):
        sharp = replace(layer, queries=(scale * queries).astype(np.float32))
        block = encode_block(sharp)
        assert block.error is not None
        errors.append(block.error["largest"])
        assert block.error.get("rows", 16) == 16
        assert (_types(block)["queries"] == "f32") == (errors[-1] == 0)
    assert 0.0001 < max(errors) <= 0.00025
    assert 0 in errors


@pytest.mark.parametrize("value", [65519.0, 1e30, 1e-42])
def test_no_finite_number_becomes_infinite(value: float) -> None:
    layer = layer_of(PROGRAMS["no mask"])
    keys = np.full_like(layer.keys, value)
    sent = _decode(encode_block(replace(layer, keys=keys)))
    assert sent["keys"] == pytest.approx(keys, rel=1e-4, abs=1e-40)


@pytest.mark.parametrize("quality", ["exact", "draft"])
def test_factors_of_lenses_are_sent_as_they_are(quality: Quality) -> None:
    layer = layer_of(PROGRAMS["causal"])
    factors = {name: np.abs(floats(HEADS, LENGTH)) for name in ("values", "mine")}
    plain, _ = pack_layer(layer, LIMITS[quality])
    sent, data = pack_layer(layer, LIMITS[quality], factors)
    added = [
        {"name": f"factors of {name}", "dtype": "f32", "shape": [HEADS, LENGTH]} for name in factors
    ]
    assert [part for part in sent["parts"] if part not in added] == plain["parts"]
    assert [part for part in sent["parts"] if part in added] == added
    assert all(array.tobytes() in zlib.decompress(data) for array in factors.values())
    assert 0 < sent["error"]["shares"] < 1
    assert "shares" not in plain["error"]


def test_a_bias_that_masks_stays_one() -> None:
    bias = floats(1, LENGTH, LENGTH)
    bias[0, :, 3] = -np.inf
    layer = layer_of(program(bias=bias))
    weights = _all_weights(_received(layer))
    assert (weights[:, :, 3] == 0).all()
    assert np.isfinite(weights).all()
    error = encode_block(layer).error
    assert error is not None
    assert error["largest"] < 1e-2


def test_arrays_in_another_memory_order() -> None:
    queries = np.asfortranarray(floats(HEADS, LENGTH, 8))
    block = encode_block(replace(layer_of(PROGRAMS["causal"]), queries=queries))
    assert _decode(block)["queries"] == pytest.approx(queries, abs=2e-4)


def _received(layer: Layer) -> Layer:
    sent = _decode(encode_block(layer))
    as_floats = {k: v.astype(np.float32) for k, v in sent.items() if v.dtype != bool}
    program: ScoreProgram | None = layer.program
    if program is not None:
        added = {name: as_floats.pop(name, None) for name in ("bias", "relative")}
        program = replace(program, visible=sent.get("visible"), **added)
    return replace(layer, **as_floats, program=program)


def _all_weights(layer: Layer) -> np.ndarray:
    return np.stack([layer.head_weights(head) for head in range(layer.num_heads)])


@pytest.mark.parametrize("name", LAYERS)
def test_the_error_is_the_largest_that_there_is(name: str) -> None:
    layer = LAYERS[name]
    sent = _received(layer)
    error = encode_block(layer).error
    assert error is not None
    actual = float(np.abs(_all_weights(sent) - _all_weights(layer)).max())
    assert error["largest"] == pytest.approx(actual, rel=0.01, abs=1e-7)
    assert "rows" not in error, "of all rows, where they are few"
    if layer.queries is not None and error["largest"]:
        vectors = (layer.queries, sent.queries), (layer.keys, sent.keys)
        assert error["vectors"] == max(float(np.abs(a - b).max()) for a, b in vectors)


@pytest.mark.parametrize(("rows", "found"), [([3, 137, 250], True), ([3, 250], False)])
def test_the_difference_of_some_rows(rows: list[int], found: bool) -> None:
    """One row of hundreds has it all: every other one is zero, which is sent exactly."""
    queries, keys = np.zeros((1, 300, 8), np.float32), floats(1, 300, 8)
    queries[0, 137] = floats(8)
    layer = Layer(queries, keys, program(), None, FIDELITY)
    sent = _received(layer)
    differences = np.abs(_all_weights(sent) - _all_weights(layer))[0].max(axis=1)
    assert np.flatnonzero(differences).tolist() == [137]
    measured = Comparison(layer, np.array(rows)).difference(sent)
    assert measured.largest == (pytest.approx(differences[137], abs=1e-7) if found else 0)
    stated = encode_block(layer)
    assert stated.error is not None
    assert stated.error["rows"] == len(sample_rows(300))
    assert "rows" not in (encode_block(layer, all_rows=True).error or {})


def test_integers_are_the_nearest() -> None:
    vectors = floats(2, 40, 8) * np.geomspace(1e-3, 1e3, 8, dtype=np.float32)
    vectors[:, :, 5] = 0
    integers, steps = to_int16(vectors)
    assert np.abs(integers).max(axis=1)[:, :5].min() == 2**15 - 1
    off = np.abs(from_int16(integers, steps) - vectors)
    assert (off <= 0.501 * steps[:, None]).all()
