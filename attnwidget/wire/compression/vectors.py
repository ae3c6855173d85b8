"""Compression of queries and keys: rounding in the basis that costs the fewest bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attnwidget.record import Floats, Layer
from attnwidget.wire.block import Block, add_factors, add_program, received_program
from attnwidget.wire.rounding import BlockError, add_shares_error, vectors_error

from .balanced import Turned, bases, turned
from .decimals import add_decimals
from .integers import LARGEST, add_integers
from .limits import Limits
from .search import coarsest

# The share of attention that an error of the scores with a standard deviation of 1 moves, about;
# and the largest difference of a weight for the share that moves.
_MOVED = 0.2
_LARGEST_OF_MOVED = 4
# The neuron view shows the vectors, so the step is at most this share of their typical magnitude.
_COARSEST = 1 / 4


def rounded_vectors(layer: Layer, limits: Limits, factors: Mapping[str, Floats]) -> Block | None:
    """Encode queries and keys as integers, with differences within the limits.

    None if the range of the numbers is too large for the coder.
    """
    assert layer.queries is not None
    assert layer.keys is not None
    assert layer.program is not None
    candidates = []
    for basis in bases(layer.queries, layer.keys):
        vectors = turned(layer.queries, layer.keys, basis)
        step = _first_step(layer, vectors.norm, limits)
        candidates.append((vectors.bits(step), step, vectors))
    _, first, vectors = min(candidates, key=lambda candidate: candidate[0])
    program = received_program(layer.program, np.arange(layer.shape[0]))

    @lru_cache(maxsize=1)
    def sent(step: float) -> Layer:
        queries, keys = vectors.received(step)
        return replace(layer, queries=queries, keys=keys, program=program)

    both = vectors.queries, vectors.keys
    largest = _COARSEST * min(float(np.sqrt(np.square(array).mean())) for array in both)
    finest = max(float(np.abs(array).max()) for array in both) / LARGEST
    if not finest < largest:
        return None
    best = coarsest(layer, limits, max(first, finest), largest, sent)
    if best is None:
        return None
    step, measured = best
    received = sent(step)
    off = vectors_error(layer, received)
    error: BlockError = {**measured.error, "variation": measured.variation, "vectors": off}
    add_shares_error(error, layer, received, np.arange(layer.shape[0]), factors)
    block = Block([], [], error)
    try:
        _add(block, vectors, step)
    except OverflowError:
        return None
    add_program(block, layer.program)
    add_factors(block, factors)
    add_decimals(block, measured)
    return block


def _first_step(layer: Layer, norm: float, limits: Limits) -> float:
    """The step with which the differences reach the limits, about; infinity for any step.

    A score's error is the sum of d products of one side's rounding with the other side's numbers.
    """
    assert layer.program is not None
    scale = max(abs(layer.program.head_scale(head)) for head in range(layer.num_heads))
    deviation = scale * norm / np.sqrt(12)
    moved = min(limits.variation, limits.largest / _LARGEST_OF_MOVED)
    return moved / (_MOVED * deviation) if deviation > 0 else float("inf")


def _add(block: Block, vectors: Turned, step: float) -> None:
    queries, keys = vectors.rounded(step)
    # A channel is one component of one head.
    add_integers(block, "queries", queries.transpose(0, 2, 1))
    add_integers(block, "keys", keys.transpose(0, 2, 1))
    block.add("step", "f32", np.array([step]))
    basis = vectors.basis
    block.add("inner", "i8", basis.inner)
    if basis.turns is not None:
        block.add("outer", "i8", basis.outer)
        block.add("turns", "i8", basis.turns)
