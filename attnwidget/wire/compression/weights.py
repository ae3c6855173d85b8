"""Compression of a layer that was recorded as weights alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnwidget.record import Layer
from attnwidget.wire.block import Block

from .integers import MAX_INTEGERS, encode_integers
from .search import coarsest

# The first and the largest step of a weight's square root.
_FIRST, _LARGEST = 1 / 512, 1 / 16
# Weights should not exceed 1; larger ones than this would have too many steps.
_LARGEST_WEIGHT = 1e4
# A channel is a piece of a row, so that masked keys have channels of zeros, which cost nothing.
# Very many weights have longer pieces, because the number of channels is limited.
_PIECE = 64
_MAX_PIECES = 1 << 16


def rounded_weights(layer: Layer, limit: float) -> Block | None:
    """Encode the square roots of weights as integers, in steps that are finer for small weights.

    Queries and keys, if there are any, stay float16. None if no step is fine enough, a weight is
    far beyond 1, or there are too many weights.
    """
    weights = layer.weights
    assert weights is not None
    if weights.max() > _LARGEST_WEIGHT or weights.size > MAX_INTEGERS:
        return None
    roots = np.sqrt(weights)

    def sent(step: float) -> tuple[np.float32, Layer]:
        single = np.float32(step)
        received = roots / single
        np.rint(received, out=received)
        received *= single
        np.square(received, out=received)
        return single, replace(layer, weights=received)

    best = coarsest(layer, limit, _FIRST, _LARGEST, sent)
    if best is None:
        return None
    step, _, error = best
    block = Block([], [], error)
    block.add_floats("queries", layer.queries)
    block.add_floats("keys", layer.keys)
    np.divide(roots, step, out=roots)
    levels = np.rint(roots, out=roots).astype(np.int32)
    length = max(_PIECE, -(-levels.size // _MAX_PIECES))
    block.add_integers("weights", levels, encode_integers(levels, length))
    block.add_floats("step", np.array([step]), exact=True)
    return block
