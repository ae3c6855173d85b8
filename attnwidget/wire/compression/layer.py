"""Packing of a layer within limits, with the error of the weights that the browser computes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from attnwidget.record import Floats, Layer, ScoreProgram
from attnwidget.wire.block import (
    NO_FACTORS,
    Block,
    Part,
    add_factors,
    add_program,
    block_size,
    encode_block,
    received_program,
)
from attnwidget.wire.rounding import (
    RIGHT_TO_THREE_DECIMALS,
    BlockError,
    Difference,
    error_of,
)

from .balanced import Turned, bases, turned
from .integers import LARGEST, add_integers
from .limits import Limits, coarsest

_LEVEL = 6
# A Huffman table serves 16,384 symbols.
_MEMORY = 8
# The header of a zlib stream, and an empty last block.
_HEADER, _END = b"\x78\x9c", b"\x03\x00"
# A rounded block of less than this share of the exact one, before that is compressed, is not
# compared with it. zlib shrinks weights, most of which are small, but hardly queries and keys.
_CLEARLY_SMALLER, _CLEARLY_SMALLER_WEIGHTS = 0.9, 0.2

# The share of attention that an error of the scores with a standard deviation of 1 moves, about;
# and the largest difference of a weight for the share that moves.
_MOVED = 0.2
_LARGEST_OF_MOVED = 4
# The neuron view shows the vectors, so the step is at most this share of their typical magnitude.
_COARSEST_VECTORS = 1 / 4

# The largest step of a weight's square root.
_COARSEST_ROOT = 1 / 16
# Weights should not exceed 1; larger ones than this would have too many steps.
_LARGEST_WEIGHT = 1e4
# Of a weight, in a view.
_MOST_DECIMALS = 3

Packed = tuple[dict[str, Any], bytes]
"""({parts, error}, the concatenated buffers of a block, compressed by zlib)."""


def pack_layer(
    layer: Layer, limits: Limits | None, factors: Mapping[str, Floats] = NO_FACTORS
) -> Packed:
    """Encode a layer within limits, or as exactly as a kernel sends it if None.

    Within limits, queries and keys, or the weights of a layer that was recorded as weights alone,
    are rounded as far as the limits allow. The exact block is used all the same if it is no larger,
    as for a text of a few tokens, or if the range of the numbers is too large to be coded. A layer
    without a softmax is packed as a kernel sends it.

    Args:
        factors: those of its lenses, by name, which are sent as they are.
    """
    if limits is None or layer.signed:
        return pack_block(encode_block(layer, factors, all_rows=True))
    encode = rounded_weights if layer.program is None else rounded_vectors
    rounded = encode(layer, limits, factors)
    if rounded is None:
        return pack_block(encode_block(layer, factors, all_rows=True))
    packed = pack_block(rounded)
    share = _CLEARLY_SMALLER_WEIGHTS if layer.program is None else _CLEARLY_SMALLER
    if len(packed[1]) < share * block_size(layer, len(factors)):
        return packed
    exact = pack_block(encode_block(layer, factors, all_rows=True))
    return min(packed, exact, key=lambda packed: len(packed[1]))


def pack_block(block: Block) -> Packed:
    """Pack a block as it is."""
    return {"parts": block.parts, "error": block.error}, packed_buffers(block)


def packed_buffers(block: Block) -> bytes:
    """The block's bytes, compressed by zlib (RFC 1950), with Huffman tables of each array's own."""
    data, checksum = [_HEADER], zlib.adler32(b"")
    for part, buffer in zip(block.parts, block.buffers, strict=True):
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, _strategy(part))
        data += [packer.compress(buffer), packer.flush(zlib.Z_SYNC_FLUSH)]
        checksum = zlib.adler32(buffer, checksum)
    return b"".join([*data, _END, checksum.to_bytes(4, "big")])


def _strategy(part: Part) -> int:
    # Coded integers are noise but for runs, as of weights that are zero: a search for other
    # matches takes five times as long, and what it finds costs more bits than it saves.
    if part["dtype"] == "i8" or part["name"].endswith("_low"):
        return zlib.Z_RLE
    # Matches of a few bytes are chance in floats.
    return zlib.Z_FILTERED


def rounded_vectors(layer: Layer, limits: Limits, factors: Mapping[str, Floats]) -> Block | None:
    """Encode queries and keys as integers, with differences within the limits.

    None if the range of the numbers is too large for the coder.
    """
    assert layer.queries is not None
    assert layer.keys is not None
    assert isinstance(layer.program, ScoreProgram)
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
    largest = _COARSEST_VECTORS * min(float(np.sqrt(np.square(array).mean())) for array in both)
    finest = max(float(np.abs(array).max()) for array in both) / LARGEST
    if not finest < largest:
        return None
    best = coarsest(layer, limits, max(first, finest), largest, sent)
    if best is None:
        return None
    step, measured = best
    received = sent(step)
    block = Block([], [], _error(layer, received, measured, factors))
    try:
        _add(block, vectors, step)
    except OverflowError:
        return None
    add_program(block, layer.program)
    return _completed(block, factors, measured)


def _first_step(layer: Layer, norm: float, limits: Limits) -> float:
    """The step with which the differences reach the limits, about; infinity for any step.

    A score's error is the sum of d products of one side's rounding with the other side's numbers.
    """
    assert isinstance(layer.program, ScoreProgram)
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
    best = coarsest(layer, limits, first, _COARSEST_ROOT, sent)
    if best is None:
        return None
    step, measured = best
    block = Block([], [], _error(layer, sent(step), measured, factors))
    block.add_vectors("queries", layer.queries)
    block.add_vectors("keys", layer.keys)
    roots /= np.float32(step)
    # A channel is a column: what one key receives from all queries.
    levels = np.rint(roots, out=roots).astype(np.int32).transpose(0, 2, 1)
    add_integers(block, "weights", levels)
    block.add("step", "f32", np.array([step]))
    return _completed(block, factors, measured)


def _error(
    layer: Layer, received: Layer, measured: Difference, factors: Mapping[str, Floats]
) -> BlockError:
    rows = np.arange(layer.shape[0])
    error = error_of(measured, layer, received, rows, factors)
    return {**error, "variation": measured.variation}


def _completed(block: Block, factors: Mapping[str, Floats], measured: Difference) -> Block:
    """A block with what it has beside its numbers: factors of lenses, and which decimals are right.

    "decimals", i8 [heads, Tq], are there if not all weights are right to three. Weights of a row
    with n decimals, -1 to 3, differ by up to half of 10**-n: rounded to n decimals, they are within
    one unit of the last one. Most rows of a layer are more exact than its worst one.
    """
    add_factors(block, factors)
    if measured.largest > RIGHT_TO_THREE_DECIMALS:
        right = [measured.rows <= 10.0**-decimals / 2 for decimals in range(_MOST_DECIMALS + 1)]
        block.add("decimals", "i8", np.sum(right, axis=0) - 1)
    return block
