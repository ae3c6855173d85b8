"""Norms of the vectors that attention adds up, after Kobayashi et al. 2020.

"Attention is Not Only a Weight: Analyzing Transformers with Vector Norms". A head's output for
query i is Σj w[i, j] f(x_j), with f(x_j) = (x_j W_V + b_V) W_O: the value of key j through the
head's part of the output projection, without the projection's bias, which is the same for all keys.
A key may have a large weight and contribute little because its f(x_j) is short.

All functions need layers of `capture(..., values=True)`.
"""

from __future__ import annotations

import numpy as np

from attnwidget.analysis.metrics import Numbers
from attnwidget.record import Floats, Layer

from .attention import why_no_softmax
from .lens import FactorLens, WhyNot

# The size of the arrays of a batch: eight megabytes.
_NUMBERS = 1 << 20


def value_norms(layer: Layer) -> Floats:
    """‖f(x_j)‖ of every head and key: float32 [heads, Tk].

    Raises:
        ValueError: the layer has no values or no output projection, or they are beyond single
            precision.
    """
    values, projection = values_and_projection(layer, why_no_norms(layer))
    # ‖v W‖² = v W Wᵀ vᵀ, in double precision, because squares lose half of the digits.
    grams = projection @ projection.swapaxes(1, 2)
    squares = np.einsum("hkv,hvw,hkw->hk", values, grams, values, optimize=True)
    # Overflows become infinity, which is refused.
    with np.errstate(over="ignore"):
        norms: Floats = np.sqrt(np.maximum(squares, 0)).astype(np.float32)
    if not np.isfinite(norms).all():
        raise ValueError(
            f"the values of layer {layer.number} are beyond single precision, so that their norms "
            "cannot be shown"
        )
    return norms


def value_weighted(layer: Layer, head: int) -> Floats:
    """‖w[i, j] f(x_j)‖ of one head: float32 [Tq, Tk], in the units of the residual stream.

    Raises:
        ValueError: the layer has no values or no output projection.
    """
    weighted: Floats = layer.head_weights(head) * value_norms(layer)[head]
    return weighted


def value_weighted_layer(layer: Layer) -> Floats:
    """‖Σh w_h[i, j] f_h(x_j)‖ of all heads together: float32 [Tq, Tk].

    Heads may cancel each other out, so that this is at most the sum of `value_weighted` over heads.

    Raises:
        ValueError: the layer has no values or no output projection.
    """
    values, projection = values_and_projection(layer, why_no_norms(layer))
    heads, num_keys, _ = values.shape
    num_queries, width = layer.shape[0], projection.shape[2]
    # ‖Σh w_h f_h‖² = Σhg w_h w_g (f_h · f_g).
    products = np.empty((num_keys, heads, heads))
    for keys in _batches(num_keys, heads * width):
        parts = (values[:, keys] @ projection).swapaxes(0, 1)
        products[keys] = parts @ parts.swapaxes(1, 2)
    norms = np.empty((num_queries, num_keys), np.float32)
    for rows in _batches(num_queries, heads * num_keys):
        weights = layer.all_weights(np.arange(num_queries)[rows]).transpose(2, 1, 0)
        squares = ((weights @ products) * weights).sum(axis=2)
        norms[rows] = np.sqrt(np.maximum(squares, 0)).T
    return norms


def head_outputs(layer: Layer) -> Floats:
    """Σj w[i, j] f(x_j) of every head: float32 [heads, Tq, d_model].

    Their sum over heads is what the layer's attention adds to the residual stream, without the bias
    of the output projection, and before a norm behind it, as Gemma 2 has one.

    Raises:
        ValueError: the layer has no values or no output projection.
    """
    values, projection = values_and_projection(layer, why_no_norms(layer))
    outputs = np.empty((layer.num_heads, layer.shape[0], projection.shape[2]), np.float32)
    for head in range(layer.num_heads):
        outputs[head] = layer.head_weights(head) @ values[head] @ projection[head]
    return outputs


def why_no_parts(layer: Layer) -> WhyNot | None:
    """The reason why it is not known what a layer's values add to its output; None if it is."""
    if layer.of_channels:
        return WhyNot(
            "mixes each channel",
            "mixes each channel by itself, so that no value has one coefficient: its map is of "
            "contributions already, see `contributions`",
        )
    if layer.values is None:
        return WhyNot(
            "needs capture(values=True)",
            "has no values: record them with capture(…, values=True). With that, only layers lack "
            "them whose values are not multiplied in a way that capture follows",
        )
    if layer.projection is None:
        return WhyNot(
            "no output projection found",
            "has no output projection that was found, so what a value adds to the output is not "
            "known: no linear layer that returns the module's output receives the heads' outputs, "
            "as they are or behind a gate or a norm. They may be projected by torch's "
            "MultiheadAttention",
        )
    return None


def why_no_norms(layer: Layer) -> WhyNot | None:
    """The reason why the norms of a layer's values are not known; None if they are."""
    if layer.signed:
        return why_no_softmax(layer, "a norm of a weighted value has no sign, and rows no shares")
    if layer.gates is not None:
        return WhyNot(
            "gated heads",
            "has a gate or a norm behind its heads, which depends on the query, so that a value "
            "has no one norm: see the lens contribution",
        )
    return why_no_parts(layer)


def value_refusal(layer: Layer) -> str | None:
    """The reason why the norms of a layer's values are not known, in one sentence; else None."""
    why = why_no_norms(layer)
    return None if why is None else f"layer {layer.number} {why.sentence}"


def values_and_projection(layer: Layer, why_not: WhyNot | None) -> tuple[Numbers, Numbers]:
    """The values [heads, Tk, d_v] of every query head, and the projection [heads, d_v, d_model].

    Args:
        why_not: the reason for a ValueError, as `why_no_parts` or `why_no_norms` finds it.
    """
    if why_not is not None:
        raise ValueError(f"layer {layer.number} {why_not.sentence}")
    assert layer.values is not None
    assert layer.projection is not None
    shared = layer.num_heads // len(layer.values)
    values = np.repeat(layer.values.astype(np.float64), shared, axis=0)
    return values, layer.projection.astype(np.float64)


def _batches(count: int, numbers: int) -> list[slice]:
    """Parts of a range, each of so many items of so many numbers that memory stays small."""
    size = max(1, _NUMBERS // numbers)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


VALUES = FactorLens(
    name="values",
    label="Value-weighted",
    description="‖w f(x)‖ as a share of its row",
    one="share",
    many="shares",
    why_not=lambda record, stack, layer: why_no_norms(record.layer(layer, stack)),
    factors=lambda record, stack, layer: value_norms(record.layer(layer, stack)),
    factor="‖f(x)‖",
    product="‖w f(x)‖",
    needs_values=True,
)
