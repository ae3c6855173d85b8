"""Layers in few bytes: what they decode to, and that they keep what they promise."""

import zlib
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from attnwidget.record import Layer, ScoreProgram
from attnwidget.wire import encode_block
from attnwidget.wire.compression import COMPACT, FINE, Limits, Packed, pack_layer
from attnwidget.wire.compression.limits import DRAFT
from attnwidget.wire.rounding import Comparison, from_int16
from tests.decoding import decode_arrays, part_buffers
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


def _arrays(packed: Packed) -> dict[str, np.ndarray]:
    content, data = packed
    buffers = part_buffers(content["parts"], zlib.decompress(data))
    return decode_arrays(content["parts"], buffers)


def _received(layer: Layer, packed: Packed) -> Layer:
    """By what the formats say: written without what encodes."""
    arrays = _arrays(packed)
    for name in ("visible", "decimals"):
        arrays.pop(name, None)
    for name, steps in (("queries", "query_steps"), ("keys", "key_steps")):
        if steps in arrays:
            arrays[name] = from_int16(arrays[name], arrays.pop(steps))
    if (step := arrays.pop("step", None)) is not None and layer.program is None:
        arrays["weights"] = (arrays["weights"].transpose(0, 2, 1) * step).astype(np.float32) ** 2
    elif step is not None:
        inner = arrays.pop("inner").astype(float)
        outer = arrays.pop("outer", np.zeros_like(inner)).astype(float)
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


def _moved(layer: Layer, packed: Packed) -> np.ndarray:
    """The differences of weights, [heads, queries, keys]."""
    received = _received(layer, packed)
    heads = range(layer.num_heads)
    return np.stack([np.abs(received.head_weights(h) - layer.head_weights(h)) for h in heads])


@pytest.mark.parametrize("limits", [DRAFT, COMPACT, FINE], ids=["draft", "compact", "fine"])
@pytest.mark.parametrize("name", LAYERS)
def test_the_error_is_what_it_says_and_within_the_limits(name: str, limits: Limits) -> None:
    layer = LAYERS[name]
    packed = pack_layer(layer, limits)
    moved = _moved(layer, packed)
    error = packed[0]["error"]
    # Single precision rounds the scores of both in another order.
    assert error["largest"] == pytest.approx(moved.max(), rel=1e-3, abs=2e-6)
    exact = pack_layer(layer, None)
    if (name, limits) == ("weights alone", FINE):
        # Most of them are tiny, which float16 holds in few different numbers.
        assert packed == exact
        return
    assert len(packed[1]) < len(exact[1])
    assert error["variation"] == pytest.approx(moved.sum(axis=2).mean() / 2, rel=1e-3, abs=1e-7)
    used = max(error["variation"] / limits.variation, error["largest"] / limits.largest)
    assert 0.5 < used <= 1
    if layer.program is not None:
        received = _received(layer, packed)
        off = np.abs(received.queries - layer.queries).max()
        off = max(off, np.abs(received.keys - layer.keys).max())
        assert error["vectors"] == pytest.approx(off, rel=1e-3)
        scores = np.stack([layer.head_scores(h) for h in range(HEADS)])
        sent = np.stack([received.head_scores(h) for h in range(HEADS)])
        seen = np.isfinite(scores)
        assert error["scores"] == pytest.approx(np.abs(sent[seen] - scores[seen]).max(), abs=2e-4)


@pytest.mark.parametrize("name", LAYERS)
def test_decimals_of_rows_are_right(name: str) -> None:
    layer = LAYERS[name]
    packed = pack_layer(layer, DRAFT)
    decimals = _arrays(packed)["decimals"]
    moved = _moved(layer, packed).max(axis=2)
    assert decimals.shape == moved.shape
    assert (moved <= 10.0**-decimals / 2 + 1e-6).all()
    assert (moved > 10.0 ** -(decimals + 1) / 2 - 1e-6)[decimals < 3].all(), "and not fewer"
    assert "decimals" not in _arrays(pack_layer(layer, FINE))


def test_a_coarser_limit_is_smaller() -> None:
    layer = LAYERS["plain"]
    sizes = [len(pack_layer(layer, limits)[1]) for limits in (DRAFT, COMPACT, FINE, None)]
    assert sizes == sorted(sizes)


def test_few_steps_are_tried() -> None:
    """Each costs the attention of all rows."""
    for name, layer in LAYERS.items():
        for limits in (COMPACT, FINE):
            with patch.object(
                Comparison, "difference", autospec=True, side_effect=Comparison.difference
            ) as compared:
                pack_layer(layer, limits)
            assert compared.call_count <= 8, (name, limits)


def test_without_limits_it_is_the_block_of_a_kernel() -> None:
    layer = LAYERS["bias"]
    content, data = pack_layer(layer, None)
    block = encode_block(layer)
    assert content["parts"] == block.parts
    assert zlib.decompress(data) == b"".join(block.buffers)
    assert "rows" not in content["error"], "compared in all rows"


def test_a_short_text_has_the_basis_that_costs_less() -> None:
    def names(layer: Layer) -> set[str]:
        return {part["name"] for part in pack_layer(layer, COMPACT)[0]["parts"]}

    assert "inner" in names(_layer(length=40))
    assert "turns" not in names(_layer(length=40))
    assert {"inner", "outer", "turns"} <= names(LAYERS["long enough for a full basis"])


def test_masks_and_biases_are_those_of_the_block() -> None:
    for name in ("explicit mask", "bias", "relative"):
        exact, rounded = (_arrays(pack_layer(LAYERS[name], limits)) for limits in (None, COMPACT))
        [part] = {"visible", "bias", "relative"} & set(exact)
        # The exact block has a bias in float32 where float16 would change weights too much.
        assert np.array_equal(exact[part].astype(rounded[part].dtype), rounded[part])


def test_queries_and_keys_beside_weights_are_those_of_the_block() -> None:
    layer = replace(_weights_alone(), queries=VECTORS["plain"].queries, keys=VECTORS["plain"].keys)
    exact, rounded = (_arrays(pack_layer(layer, limits)) for limits in (None, COMPACT))
    for name in ("queries", "query_steps", "keys", "key_steps"):
        assert np.array_equal(exact[name], rounded[name])
    assert rounded["weights"].dtype == np.int64


def test_vectors_that_attention_does_not_need_are_kept_all_the_same() -> None:
    """One key receives everything, whatever it is; the neuron view shows q and k."""
    queries, keys = floats(HEADS, 300, DIM), floats(KEY_HEADS, 1, DIM)
    layer = Layer(queries, keys, ScoreProgram(DIM**-0.5), None, FIDELITY)
    received = _received(layer, pack_layer(layer, COMPACT))
    assert np.corrcoef(received.queries.ravel(), queries.ravel())[0, 1] > 0.99
    assert np.corrcoef(received.keys.ravel(), keys.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_equal_vectors(constant: float) -> None:
    same = np.full((HEADS, LENGTH, DIM), constant, np.float32)
    layer = Layer(same, same[:KEY_HEADS].copy(), ScoreProgram(1.0), None, FIDELITY)
    received = _received(layer, pack_layer(layer, COMPACT))
    assert received.queries == pytest.approx(same, abs=0.5 * constant)
    assert received.head_weights(0) == pytest.approx(layer.head_weights(0), abs=1e-5)


def test_numbers_too_far_apart_are_sent_as_they_are() -> None:
    queries, keys = _queries_and_keys()
    queries[0, 0, 0] = 3e9
    layer = Layer(queries, keys, ScoreProgram(DIM**-0.5), None, FIDELITY)
    assert pack_layer(layer, COMPACT) == pack_layer(layer, None)


def test_a_tiny_layer_has_the_smaller_of_both() -> None:
    layer = Layer(floats(1, 2, 2), floats(1, 2, 2), ScoreProgram(1.0), None, FIDELITY)
    assert pack_layer(layer, COMPACT) == pack_layer(layer, None)


@pytest.mark.parametrize("length", [2, LENGTH])
@pytest.mark.parametrize("limits", [COMPACT, FINE, None], ids=["compact", "fine", "exact"])
def test_keys_with_a_large_offset(length: int, limits: Limits | None) -> None:
    """The keys share an offset, beside which float16 would have few digits left for the rest."""
    queries, keys = _queries_and_keys(length=length)
    layer = Layer(queries, keys + np.float32(5000), ScoreProgram(DIM**-0.5), None, FIDELITY)
    moved = _moved(layer, pack_layer(layer, limits))
    within = limits or FINE
    assert moved.sum(axis=2).mean() / 2 <= within.variation
    assert moved.max() <= within.largest * 1.01
