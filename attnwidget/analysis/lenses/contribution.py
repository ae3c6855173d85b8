"""The parts of each head and key in a layer's whole output.

An output is a sum over heads and keys: y_t = Σ_h Σ_s c_h[t, s], with c_h[t, s] = a_h[t, s]
W_h diag(gate_h[t]) v_h[s]: a weight or a coefficient times a value, through the gate or the norm
behind the heads and through the output projection. Two numbers say how much one part is: its
length |c|, and its share along the output, c . y / |y|^2, of either sign: the shares of all heads
and keys sum to 1. (Kobayashi et al. 2021, "Incorporating Residual and Normalization Layers into
Analysis of Masked Language Models", have lengths; shares along the sum are those of Ferrando et
al. 2022, "Measuring the Mixing of Contextual Information in the Transformer", with a projection in
place of a distance.)

All functions need layers of `capture(..., values=True)`, or without a softmax layers whose
coefficients are such shares already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnwidget.record import AttentionRecord, Floats, Layer

from .lens import MatrixLens, WhyNot
from .values import values_and_projection, why_no_parts

# An output that is shorter has no direction.
_SHORTEST = 1e-30


def contributions(layer: Layer) -> Floats:
    """The share of each head and key along the layer's output: float32 [heads, Tq, Tk].

    c_h[t, s] . y_t / |y_t|^2: below zero where the part points against the output. The shares of a
    query, over all heads and keys, sum to 1 (to 0 where the output is zero).

    Raises:
        ValueError: the layer has no values or no output projection.
    """
    if layer.of_channels:
        assert layer.coefficients is not None
        return layer.coefficients
    values, projection = values_and_projection(layer, why_no_parts(layer))
    mixed: Floats = np.stack([layer.head_numbers(head) for head in range(layer.num_heads)])
    outputs = mixed @ values
    if layer.gates is not None:
        outputs *= layer.gates
    whole = np.einsum("htv,hvd->td", outputs, projection, optimize=True)
    squares = np.square(whole).sum(axis=1)
    along = whole / np.where(squares > _SHORTEST, squares, np.inf)[:, None]
    directions = along @ projection.swapaxes(1, 2)
    if layer.gates is not None:
        directions *= layer.gates
    mixed *= directions @ values.swapaxes(1, 2)
    return mixed


def contribution_norms(layer: Layer, head: int) -> Floats:
    """The length |c_h[t, s]| of the parts of one head: float32 [Tq, Tk].

    In the units of the residual stream. Without a gate it is `value_weighted`.

    Raises:
        ValueError: the layer has no values or no output projection.
    """
    values, projection = values_and_projection(layer, why_no_parts(layer))
    gram, value = projection[head] @ projection[head].T, values[head]
    mixed = np.abs(layer.head_numbers(head))
    if layer.gates is None:
        squares = np.broadcast_to(((value @ gram) * value).sum(axis=1), mixed.shape)
    else:
        # |W diag(g) v|^2 = Σ_ab (g_a g_b W_ab) (v_a v_b), a query at a time.
        squares = np.empty(mixed.shape)
        for query, gate in enumerate(layer.gates[head].astype(np.float64)):
            gated = value * gate
            squares[query] = ((gated @ gram) * gated).sum(axis=1)
    norms: Floats = (mixed * np.sqrt(np.maximum(squares, 0))).astype(np.float32)
    return norms


def _why_not(record: AttentionRecord, stack: str, layer: int) -> WhyNot | None:
    own = record.layer(layer, stack)
    return None if own.of_channels else why_no_parts(own)


class _ByLayer(Sequence[Floats]):
    """The shares of every layer, each computed as it is read: those of all take gigabytes.

    Zeros of layers that lack what they need.
    """

    def __init__(self, record: AttentionRecord, stack: str) -> None:
        self._record, self._stack = record, stack

    def __len__(self) -> int:
        return self._record.num_layers(self._stack)

    def __getitem__(self, place: Any) -> Any:
        layer = self._record.stack(self._stack).layers[place]
        if _why_not(self._record, self._stack, layer.number) is not None:
            return np.zeros((layer.num_heads, *layer.shape), np.float32)
        return contributions(layer)


CONTRIBUTION = MatrixLens(
    name="contribution",
    label="Contribution",
    description="The share along the layer's output, of either sign: c · y / ‖y‖²",
    one="contribution",
    many="contributions",
    signed=True,
    shares=False,
    digits=4,
    needs_values=True,
    why_not=_why_not,
    matrices=_ByLayer,
)
