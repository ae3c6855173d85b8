"""Compression of a layer that was recorded as weights alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attnwidget.record import Floats, Layer
from attnwidget.wire.block import Block, add_factors
from attnwidget.wire.rounding import BlockError, add_shares_error

from .decimals import add_decimals
from .integers import add_integers
from .limits import Limits
from .search import coarsest

# The largest step of a weight's square root.
_LARGEST = 1 / 16
# Weights should not exceed 1; larger ones than this would have too many steps.
_LARGEST_WEIGHT = 1e4


def rounded_weights(layer: Layer, limits: Limits, factors: Mapping[str, Floats]) -> Block | None:
    """Encode the square roots of weights as integers, in steps that are finer for small weights.

    Queries and keys, if there are any, are those of the exact block. None if no step is fine enough
    or a weight is far beyond 1.
    """
    weights = layer.weights
    assert weights is not None
    if weights.max() > _LARGEST_WEIGHT:
        return None
    roots = np.sqrt(weights)

    def sent(step: float) -> Layer:
        received = roots / np.float32(step)
        np.rint(received, out=received)
        received *= np.float32(step)
        np.square(received, out=received)
        return replace(layer, weights=received)

    # A weight of 1 changes by up to the step; the typical one by much less.
    first = min(limits.largest, limits.variation / 4)
    best = coarsest(layer, limits, first, _LARGEST, sent)
    if best is None:
        return None
    step, measured = best
    error: BlockError = {**measured.error, "variation": measured.variation}
    add_shares_error(error, layer, sent(step), np.arange(layer.shape[0]), factors)
    block = Block([], [], error)
    block.add_vectors("queries", layer.queries)
    block.add_vectors("keys", layer.keys)
    roots /= np.float32(step)
    # A channel is a column: what one key receives from all queries.
    levels = np.rint(roots, out=roots).astype(np.int32).transpose(0, 2, 1)
    add_integers(block, "weights", levels)
    block.add("step", "f32", np.array([step]))
    add_factors(block, factors)
    add_decimals(block, measured)
    return block
