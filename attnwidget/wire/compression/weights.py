"""Weights of a layer that was recorded as weights alone, rounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnwidget.record import Layer
from attnwidget.wire.block import Block

from .integers import MOST, encode_integers
from .search import coarsest

# Steps of a square root.
_FIRST, _LARGEST = 1 / 512, 1 / 16
# Of what should not exceed 1 at all: beyond it, steps would be too many to be counted.
_LARGEST_WEIGHT = 1e4
# A channel is a piece of a row, so that what causality masks has channels of its own, which cost
# nothing. Of very many weights pieces are longer, so that they stay as many.
_PIECE = 64
_MOST_PIECES = 1 << 16


def rounded_weights(layer: Layer, limit: float) -> Block | None:
    """Square roots of weights as integers: even steps of them are small where weights are.

    Queries and keys, where there are any, stay float16. None if no step is fine
    enough, a weight is far beyond 1, or they are too many.
    """
    weights = layer.weights
    assert weights is not None
    if weights.max() > _LARGEST_WEIGHT or weights.size > MOST:
        return None
    roots = np.sqrt(weights)

    def sent(step: float) -> tuple[np.float32, Layer]:
        single = np.float32(step)
        received = roots / single
        np.rint(received, out=received)
        received *= single
        np.square(received, out=received)
        return single, replace(layer, weights=received)

    found = coarsest(layer, limit, _FIRST, _LARGEST, sent)
    if found is None:
        return None
    step, _, error = found
    block = Block([], [], error)
    block.add_floats("queries", layer.queries)
    block.add_floats("keys", layer.keys)
    np.divide(roots, step, out=roots)
    levels = np.rint(roots, out=roots).astype(np.int32)
    length = max(_PIECE, -(-levels.size // _MOST_PIECES))
    block.add_integers("weights", levels, encode_integers(levels, length))
    block.add_floats("step", np.array([step]), exact=True)
    return block
