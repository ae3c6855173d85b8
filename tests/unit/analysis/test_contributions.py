"""Parts of a layer's output, of layers with and without a softmax, with and without gates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import attnwidget as aw
from attnwidget.analysis import (
    CONTRIBUTION,
    contribution_norms,
    contributions,
    value_norms,
    value_weighted,
)
from attnwidget.record import Layer
from benchmarks import zoo

# Attention as it is; behind a gate; behind a norm of all heads; and none, behind a gated norm.
MODELS = {"bert": "self", "qwen3_next": "self", "kosmos-2": "text", "falcon_h1": "linear"}


def _layer(name: str, stack: str) -> Layer:
    built = zoo.build(name)
    return aw.capture(built.model, None, built.inputs, values=True).stack(stack).layers[0]


def parts(layer: Layer, head: int) -> NDArray[Any]:
    """c[t, s], [Tq, Tk, d_model], by the definition."""
    assert layer.values is not None
    assert layer.projection is not None
    mixing = layer.head_coefficients(head) if layer.signed else layer.head_weights(head)
    values = layer.values[head * len(layer.values) // layer.num_heads].astype(np.float64)
    gates = np.ones((layer.shape[0], values.shape[1]))
    if layer.gates is not None:
        gates = layer.gates[head].astype(np.float64)
    found: NDArray[Any] = mixing[..., None] * ((gates[:, None] * values) @ layer.projection[head])
    return found


@pytest.mark.parametrize(("name", "stack"), MODELS.items())
def test_they_are_those_of_the_definition(name: str, stack: str) -> None:
    layer = _layer(name, stack)
    assert (layer.gates is None) == (name == "bert")
    own = np.stack([parts(layer, head) for head in range(layer.num_heads)])
    whole = own.sum(axis=(0, 2))
    shares = contributions(layer)
    expected = np.einsum("htsd,td->hts", own, whole) / (whole**2).sum(1)[None, :, None]
    np.testing.assert_allclose(shares, expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(shares.sum(axis=(0, 2)), 1, atol=1e-4)
    for head in (0, layer.num_heads - 1):
        lengths = np.linalg.norm(own[head], axis=-1)
        limit = 1e-5 * lengths.max()
        np.testing.assert_allclose(contribution_norms(layer, head), lengths, atol=limit)


def test_without_gates_lengths_are_those_of_weighted_values() -> None:
    layer = _layer("bert", "self")
    weighted = value_weighted(layer, 1)
    np.testing.assert_allclose(contribution_norms(layer, 1), weighted, rtol=1e-4, atol=1e-7)


def test_what_is_missing_is_said() -> None:
    gated = _layer("qwen3_next", "self")
    with pytest.raises(ValueError, match=r"a gate or a norm behind its heads.*lens contribution"):
        value_norms(gated)
    bare = replace(gated, values=None, projection=None, gates=None)
    with pytest.raises(ValueError, match=r"layer 1 has no values: record them with capture"):
        contributions(bare)


def test_channels_have_theirs_as_coefficients() -> None:
    built = zoo.build("jamba")
    record = aw.capture(built.model, None, built.inputs)
    layer = record.stack("linear").layers[0]
    assert CONTRIBUTION.why_not(record, "linear", layer.number) is None
    np.testing.assert_array_equal(contributions(layer), layer.coefficients)
    assert CONTRIBUTION.why_not(record, "self", 1) is not None


def test_values_beyond_single_precision_are_refused() -> None:
    layer = _layer("bert", "self")
    assert layer.values is not None
    assert layer.projection is not None
    huge = replace(
        layer,
        values=layer.values / np.abs(layer.values).max() * np.float32(1e38),
        projection=layer.projection / np.abs(layer.projection).max() * np.float32(1e38),
    )
    with pytest.raises(ValueError, match="the values of layer 0 are beyond single precision"):
        value_norms(huge)
