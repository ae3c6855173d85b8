"""Layers in few bytes: what they decode to, and that they keep what they promise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget.record import Layer, ScoreProgram
from attnwidget.wire import Block, encode_block
from attnwidget.wire.compression import encode_layer, fitting
from attnwidget.wire.compression.quality import LIMITS
from tests.decoding import decode_integers
from tests.unit.records import FIDELITY, floats

HEADS, KEY_HEADS, LENGTH, DIM = 4, 2, 90, 16


def _queries_and_keys(seed: int = 0, length: int = LENGTH) -> tuple[np.ndarray, np.ndarray]:
    """Correlated components of unequal sizes, far from zero, as those of real models are."""
    mixed = floats(DIM, DIM, seed=seed) * np.geomspace(0.2, 3, DIM, dtype=np.float32)
    queries = floats(HEADS, length, DIM, seed=seed + 1) @ mixed + 2 * floats(HEADS, 1, DIM)
    keys = floats(KEY_HEADS, length, DIM, seed=seed + 2) @ mixed[::-1] + floats(KEY_HEADS, 1, DIM)
    return queries, keys


def _layer(length: int = LENGTH, **options: Any) -> Layer:
    program = ScoreProgram(**{"scale": DIM**-0.5, **options})
    return Layer(*_queries_and_keys(length=length), program, None, FIDELITY)


VISIBLE = np.random.default_rng(0).random((1, LENGTH, LENGTH)) < 0.6
VECTORS = {
    "plain": _layer(),
    "causal": _layer(mask="causal"),
    "explicit mask": _layer(mask="explicit", visible=VISIBLE),
    "bias": _layer(bias=floats(HEADS, LENGTH, LENGTH)),
    "relative": _layer(relative=floats(HEADS, 2 * LENGTH - 1)),
    "softcap and sinks": _layer(softcap=2.0, sinks=floats(HEADS)),
    "a scale per head": _layer(scale=(0.01, 0.1, 0.05, -0.03)),
    "long enough for a full basis": _layer(length=700),
}


def _weights_alone(length: int = LENGTH) -> Layer:
    attention = np.stack(
        [_layer(length, mask="causal", softcap=2.0).head_weights(h) for h in range(HEADS)]
    )
    return Layer(None, None, None, attention, FIDELITY)


LAYERS = {**VECTORS, "weights alone": _weights_alone()}


def _received(layer: Layer, block: Block) -> Layer:
    """By what the formats say: written without what encodes."""
    arrays: dict[str, np.ndarray] = {}
    for part, data in zip(block.parts, block.buffers, strict=True):
        shape = part["shape"]
        if part["dtype"] == "coded":
            assert part["bytes"] == len(data)
            arrays[part["name"]] = decode_integers(data, int(np.prod(shape))).reshape(shape)
        elif part["dtype"] != "bits":
            kind = {"f16": "<f2", "f32": "<f4", "i8": "i1"}[part["dtype"]]
            arrays[part["name"]] = np.frombuffer(data, kind).reshape(shape).astype(np.float32)
    if (step := arrays.pop("step", None)) is not None and layer.program is None:
        arrays["weights"] = (arrays["weights"] * step).astype(np.float32) ** 2
    elif step is not None:
        inner = arrays.pop("inner")
        outer = arrays.pop("outer", np.zeros_like(inner))
        turns = arrays.pop("turns", np.eye(DIM)[None])
        matrix = 2.0 ** (outer / 4)[:, :, None] * turns * 2.0 ** (inner / 4)[:, None, :]
        back = np.linalg.inv(matrix).repeat(HEADS // KEY_HEADS, axis=0)
        arrays["queries"] = np.einsum("hnt,hni->hti", arrays["queries"] * step, back)
        arrays["keys"] = np.einsum("hnt,hin->hti", arrays["keys"] * step, matrix)
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    if layer.program is None:
        return replace(layer, **arrays)
    added = {name: arrays.pop(name) for name in ("bias", "relative") if name in arrays}
    return replace(layer, **arrays, program=replace(layer.program, **added))


@pytest.mark.parametrize("quality", ["draft", "default"])
@pytest.mark.parametrize("name", LAYERS)
def test_the_error_is_what_it_says_and_within_the_quality(name: str, quality: Any) -> None:
    layer = LAYERS[name]
    block = encode_layer(layer, quality)
    received = _received(layer, block)
    moved = np.stack(
        [np.abs(received.head_weights(h) - layer.head_weights(h)) for h in range(HEADS)]
    )
    error = block.error
    assert error is not None
    assert error["largest"] == pytest.approx(moved.max(), rel=1e-3)
    assert error["variation"] == pytest.approx(moved.sum(axis=2).mean() / 2, rel=1e-3)
    assert 0.7 * LIMITS[quality] < error["variation"] <= LIMITS[quality]
    assert block.size < encode_block(layer).size
    if layer.queries is not None:
        off = np.abs(received.queries - layer.queries).max()
        off = max(off, np.abs(received.keys - layer.keys).max())
        assert error["vectors"] == pytest.approx(off, rel=1e-3)


def test_a_coarser_quality_is_smaller() -> None:
    layer = LAYERS["plain"]
    sizes = [encode_layer(layer, quality).size for quality in ("draft", "default", "exact")]
    assert sizes == sorted(sizes)


def test_exact_is_float16() -> None:
    layer = LAYERS["bias"]
    assert encode_layer(layer, "exact") == encode_block(layer)


def test_a_short_text_has_the_basis_that_costs_less() -> None:
    def names(layer: Layer) -> list[str]:
        return [part["name"] for part in encode_layer(layer).parts]

    assert names(_layer(length=40)) == ["queries", "keys", "step", "inner"]
    long = names(LAYERS["long enough for a full basis"])
    assert long == ["queries", "keys", "step", "inner", "outer", "turns"]


def test_masks_and_biases_travel_as_ever() -> None:
    for name in ("explicit mask", "bias", "relative"):
        layer = LAYERS[name]
        exact, rounded = encode_block(layer), encode_layer(layer)
        assert rounded.parts[-1] == exact.parts[-1]
        assert rounded.buffers[-1] == exact.buffers[-1]


def test_queries_and_keys_beside_weights_stay_float16() -> None:
    layer = replace(_weights_alone(), queries=VECTORS["plain"].queries, keys=VECTORS["plain"].keys)
    exact, rounded = encode_block(layer), encode_layer(layer)
    assert rounded.parts[:2] == exact.parts[:2]
    assert rounded.buffers[:2] == exact.buffers[:2]
    assert rounded.parts[2]["dtype"] == "coded"


def test_vectors_that_attention_does_not_need_are_kept_all_the_same() -> None:
    """One key receives everything, whatever it is; the neuron view shows q and k."""
    queries, keys = floats(HEADS, 300, DIM), floats(KEY_HEADS, 1, DIM)
    layer = Layer(queries, keys, ScoreProgram(DIM**-0.5), None, FIDELITY)
    block = encode_layer(layer)
    received = _received(layer, block)
    assert np.corrcoef(received.queries.ravel(), queries.ravel())[0, 1] > 0.99
    assert np.corrcoef(received.keys.ravel(), keys.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_equal_vectors(constant: float) -> None:
    same = np.full((HEADS, LENGTH, DIM), constant, np.float32)
    layer = Layer(same, same[:KEY_HEADS].copy(), ScoreProgram(1.0), None, FIDELITY)
    received = _received(layer, encode_layer(layer))
    assert received.queries == pytest.approx(same, abs=0.5 * constant)
    assert received.head_weights(0) == pytest.approx(layer.head_weights(0), abs=1e-5)


def test_numbers_too_far_apart_stay_as_they_are() -> None:
    queries, keys = _queries_and_keys()
    queries[0, 0, 0] = 3e9
    layer = Layer(queries, keys, ScoreProgram(DIM**-0.5), None, FIDELITY)
    assert encode_layer(layer) == encode_block(layer)


def test_a_tiny_layer_stays_as_it_is() -> None:
    layer = Layer(floats(1, 2, 2), floats(1, 2, 2), ScoreProgram(1.0), None, FIDELITY)
    assert encode_layer(layer) == encode_block(layer)


def _far_from_zero(length: int) -> Layer:
    """The keys of which share an offset, beside which float16 has few digits left for the rest."""
    queries, keys = _queries_and_keys(length=length)
    return Layer(queries, keys + np.float32(5000), ScoreProgram(DIM**-0.5), None, FIDELITY)


@pytest.mark.parametrize("length", [2, LENGTH])
def test_float16_is_no_way_around_the_quality(length: int) -> None:
    layer = _far_from_zero(length)
    exact, block = encode_block(layer), encode_layer(layer)
    assert (block.size > exact.size) == (length == 2)
    received = _received(layer, block)
    for layer_, within in ((received, True), (_received(layer, exact), False)):
        moved = [np.abs(layer_.head_weights(h) - layer.head_weights(h)) for h in range(HEADS)]
        assert (np.stack(moved).sum(axis=2).mean() / 2 <= LIMITS["default"]) == within


def test_small_layers_are_exact_where_float16_is_within_the_quality() -> None:
    layers = [VECTORS["plain"], VECTORS["causal"]]
    assert fitting("default", layers) == "exact"
    assert fitting("draft", layers) == "draft"
    assert fitting("default", [*layers, _far_from_zero(LENGTH)]) == "default"
    assert fitting("default", [_layer(length=700)] * 5) == "default"


@pytest.mark.parametrize("quality", ["best", "", None, "EXACT"])
def test_an_unknown_quality(quality: Any) -> None:
    with pytest.raises(ValueError, match="expected one of 'draft', 'default', 'exact'"):
        encode_layer(LAYERS["plain"], quality)
