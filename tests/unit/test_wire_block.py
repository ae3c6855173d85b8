"""Blocks say what their bytes are, and how far the bytes can lie from the record."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget.record import Layer, ScoreProgram, sample_rows
from attnwidget.wire import encode_block
from attnwidget.wire.block import Block
from attnwidget.wire.rounding import rounding_error, to_float16
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
    """By what the parts say, with nothing of attnwidget."""
    arrays = {}
    for part, data in zip(block.parts, block.buffers, strict=True):
        count = int(np.prod(part["shape"]))
        if part["dtype"] == "bits":
            bits = [byte >> (7 - n) & 1 for byte in data for n in range(8)]
            assert len(data) == -(-count // 8)
            assert not any(bits[count:]), "padded with zeros"
            values = np.array(bits[:count], dtype=bool)
        else:
            values = np.frombuffer(data, {"f16": "<f2", "f32": "<f4"}[part["dtype"]])
        arrays[part["name"]] = values.reshape(part["shape"])
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
            assert array.dtype == np.float16
            assert np.array_equal(array, own[part].astype(np.float16))


def test_types_are_named_part_by_part() -> None:
    """Only what float16 cannot hold is sent as float32, and then exactly."""
    layer = layer_of(PROGRAMS["one bias"])
    assert layer.queries is not None
    queries = layer.queries.copy()
    queries[1, 2, 3] = -70000.123
    block = encode_block(replace(layer, queries=queries))
    assert [(part["name"], part["dtype"]) for part in block.parts] == [
        ("queries", "f32"),
        ("keys", "f16"),
        ("bias", "f16"),
    ]
    assert np.array_equal(_decode(block)["queries"], queries)


@pytest.mark.parametrize(("value", "dtype"), [(65000.0, "f16"), (65519.0, "f32"), (1e30, "f32")])
def test_no_finite_number_becomes_infinite(value: float, dtype: str) -> None:
    layer = layer_of(PROGRAMS["no mask"])
    keys = np.full_like(layer.keys, value)
    block = encode_block(replace(layer, keys=keys))
    assert block.parts[1]["dtype"] == dtype
    assert np.isfinite(_decode(block)["keys"]).all()


def test_what_only_python_uses_is_not_sent() -> None:
    layer = layer_of(PROGRAMS["causal"])
    more = replace(layer, values=floats(2, LENGTH, 5), projection=floats(HEADS, 5, 6))
    assert encode_block(more) == encode_block(layer)


def test_a_bias_that_masks_stays_one() -> None:
    bias = floats(1, LENGTH, LENGTH)
    bias[0, :, 3] = -np.inf
    layer = layer_of(program(bias=bias))
    weights = _all_weights(_received(layer))
    assert (weights[:, :, 3] == 0).all()
    assert np.isfinite(weights).all()
    assert rounding_error(layer, np.arange(LENGTH)) < 1e-2


def test_arrays_in_another_memory_order() -> None:
    queries = np.asfortranarray(floats(HEADS, LENGTH, 8))
    block = encode_block(replace(layer_of(PROGRAMS["causal"]), queries=queries))
    assert np.array_equal(_decode(block)["queries"], queries.astype(np.float16))


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
def test_the_rounding_error_is_the_largest_that_there_is(name: str) -> None:
    layer = LAYERS[name]
    weights = _all_weights(layer)
    actual = float(np.abs(_all_weights(_received(layer)) - weights).max())
    assert 0 < actual < 1e-2
    error = rounding_error(layer, np.arange(LENGTH))
    assert error == pytest.approx(actual, rel=0.01, abs=1e-7)
    assert encode_block(layer).error == {"largest": error}, "of all rows, where they are few"


@pytest.mark.parametrize(("rows", "found"), [([3, 137, 250], True), ([3, 250], False)])
def test_the_rounding_error_of_some_rows(rows: list[int], found: bool) -> None:
    """One row of hundreds has it all: every other one is zero, which is sent exactly."""
    queries, keys = np.zeros((1, 300, 8), np.float32), floats(1, 300, 8)
    queries[0, 137] = floats(8)
    layer = Layer(queries, keys, program(), None, FIDELITY)
    differences = np.abs(_all_weights(_received(layer)) - _all_weights(layer))[0].max(axis=1)
    assert np.flatnonzero(differences).tolist() == [137]
    error = rounding_error(layer, np.array(rows))
    assert error == (pytest.approx(differences[137], rel=0.01) if found else 0)
    stated = encode_block(layer).error
    assert stated is not None
    assert stated["rows"] == len(sample_rows(300))


def test_the_rounding_error_of_what_is_sent_exactly() -> None:
    """Among its numbers is one that float16 cannot hold."""
    queries, keys = floats(HEADS, LENGTH, 8), floats(2, LENGTH, 8)
    queries[0, 0, 0] = keys[0, 0, 0] = 70000
    layer = Layer(queries, keys, program(), None, FIDELITY)
    assert rounding_error(layer, np.arange(LENGTH)) == 0


def test_float16s_nearest_numbers() -> None:
    """All of them, what lies halfway between two, and what lies just beside that."""
    own = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    halfway = (own[1:] + own[:-1]) / 2
    beside = np.nextafter(halfway, np.float32(0)), np.nextafter(halfway, np.float32(np.inf))
    numbers = np.concatenate([own, halfway, *beside])
    numbers = np.concatenate([numbers, -numbers])
    assert np.array_equal(to_float16(numbers), numbers.astype(np.float16).astype(np.float32))
