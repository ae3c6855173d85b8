"""Compression of queries and keys: rounding in the basis that costs the fewest bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnwidget.record import Layer, ScoreProgram
from attnwidget.wire.block import Block, add_program, decode_floats

from .balanced import Coefficients, Turned, bases, turned
from .integers import LARGEST, encode_integers
from .search import coarsest

# The share of attention that an error of the scores with a standard deviation of 1 moves, about.
_MOVED = 0.4
# The neuron view shows the vectors, so the step is at most this share of their typical magnitude.
_COARSEST = 1 / 4


def rounded_vectors(layer: Layer, limit: float) -> Block | None:
    """The smallest block over all bases, with a mean total variation within `limit`.

    None if the range of the numbers is too large for the coder.
    """
    queries, keys = layer.queries, layer.keys
    assert queries is not None
    assert keys is not None
    candidates = (
        _in_basis(layer, turned(queries, keys, basis), limit) for basis in bases(queries, keys)
    )
    blocks = (block for block in candidates if block is not None)
    return min(blocks, key=lambda block: block.size, default=None)


def _in_basis(layer: Layer, vectors: Turned, limit: float) -> Block | None:
    assert layer.program is not None
    program = _received(layer.program)

    def sent(step: float) -> tuple[Coefficients, Layer]:
        coefficients = vectors.rounded(step)
        queries, keys = coefficients.vectors()
        return coefficients, replace(layer, queries=queries, keys=keys, program=program)

    both = vectors.queries, vectors.keys
    largest = _COARSEST * min(float(np.sqrt(np.square(array).mean())) for array in both)
    finest = max(float(np.abs(array).max()) for array in both) / LARGEST
    if not finest < largest:
        return None
    # A score's error is the sum of d products of one side's rounding with the other side's numbers.
    norm = np.sqrt(sum(float(np.square(array).sum(axis=1).mean()) for array in both))
    scale = max(abs(layer.program.head_scale(head)) for head in range(layer.num_heads))
    deviation = scale * float(norm) / np.sqrt(12)
    first = limit / (_MOVED * deviation) if deviation > 0 else largest
    best = coarsest(layer, limit, max(first, finest), largest, sent)
    if best is None:
        return None
    coefficients, received, error = best
    block = Block([], [], {**error, "vectors": _vectors_error(layer, received)})
    try:
        _add(block, coefficients)
    except OverflowError:
        return None
    add_program(block, layer.program)
    return block


def _add(block: Block, coefficients: Coefficients) -> None:
    # A channel is one component of one head.
    block.add_integers("queries", coefficients.queries, encode_integers(coefficients.queries))
    block.add_integers("keys", coefficients.keys, encode_integers(coefficients.keys))
    block.add_floats("step", np.array([coefficients.step]), exact=True)
    basis = coefficients.basis
    block.add("inner", "i8", basis.inner, basis.inner.tobytes())
    if basis.turns is not None:
        block.add("outer", "i8", basis.outer, basis.outer.tobytes())
        # One channel per group.
        length = basis.turns[0].size
        block.add_integers("turns", basis.turns, encode_integers(basis.turns, length))


def _received(program: ScoreProgram) -> ScoreProgram:
    """The program with its arrays as the browser decodes them."""
    block = Block([], [])
    add_program(block, program)
    arrays: dict[str, Any] = {
        part["name"]: decode_floats(part, data)
        for part, data in zip(block.parts, block.buffers, strict=True)
        if part["dtype"] != "bits"
    }
    return replace(program, **arrays)


def _vectors_error(layer: Layer, received: Layer) -> float:
    """The largest difference of a component."""
    sides = (layer.queries, received.queries), (layer.keys, received.keys)
    return max(
        float(np.abs(recorded - sent).max())
        for recorded, sent in sides
        if recorded is not None and sent is not None
    )
