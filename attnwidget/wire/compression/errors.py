"""Errors of the attention weights that follow from a compressed layer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Layer
from attnwidget.wire.rounding import BlockError, received

# The weights of one head that are computed at a time.
_WEIGHTS_AT_ONCE = 1 << 20


def weights_error(layer: Layer, sent: Layer, rows: NDArray[np.intp] | None = None) -> BlockError:
    """Measure the error of a layer as it is sent, over these query rows; over all if None."""
    num_queries, num_keys = layer.shape
    rows = np.arange(num_queries) if rows is None else rows
    pieces = np.array_split(rows, math.ceil(len(rows) * num_keys / _WEIGHTS_AT_ONCE))
    largest, moved = 0.0, 0.0
    for head in range(layer.num_heads):
        for piece in pieces:
            change = sent.head_weights(head, piece)
            change = np.abs(change - layer.head_weights(head, piece))
            largest = max(largest, float(change.max()))
            moved += float(change.sum(dtype=np.float64)) / 2
    return {"largest": largest, "variation": moved / (layer.num_heads * len(rows))}


def float16_is_within(layer: Layer, limit: float) -> bool:
    """True if the layer's float16 block keeps the mean total variation within a limit."""
    sent = received(layer, np.arange(layer.shape[0]))
    return weights_error(layer, sent)["variation"] <= limit
