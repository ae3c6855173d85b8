"""Blocks: the arrays of one layer as bytes, with their names, types and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import combined_heads
from attnwidget.record import Floats, Layer, Recurrence, ScoreProgram, Stack, sample_rows

from .rounding import (
    RIGHT_TO_THREE_DECIMALS,
    BlockError,
    Comparison,
    error_of,
    float_type,
    from_int16,
    to_float16,
    to_int16,
)

DType = Literal["f16", "f32", "bits", "i8", "i16"]


class Part(TypedDict):
    """One array of a block: "queries", "keys", "visible", "bias", "relative" or "weights"; the
    "query_steps" and "key_steps" of integer "queries" and "keys"; "decay", "write" and "erase" of a
    recurrence, or "coefficients" with their "steps"; "factors of …", with the name of
    a lens, see `attnwidget.analysis.FactorLens`; "mean", "max" or "head" of the block that combines
    layers; "numbers" of a lens of matrices, and their "steps"; further arrays of compressed layers,
    see `attnwidget.wire.compression`.

    dtype "f16" and "f32" are little-endian floats; "bits" are booleans, most significant bit first,
    the last byte padded with zeros; "i8" and "i16" are signed little-endian integers. The array is
    in C order.
    """

    name: str
    dtype: DType
    shape: list[int]


_NUMBERS = {"f16": "<f2", "f32": "<f4", "i8": "i1", "i16": "<i2"}

# The part with the steps of an array of integers.
_STEPS = {"queries": "query_steps", "keys": "key_steps"}

# Above this, not every integer is a float16.
_LARGEST_FLOAT16_INTEGER = 2048


# The strengths of a recurrence that each token has.
_BY_TOKEN = ("decay", "write", "erase")

NO_FACTORS: Mapping[str, Floats] = {}
"""The factors of a layer that has none."""


@dataclass(frozen=True)
class Block:
    """The arrays of one layer and their bytes, in the same order.

    Attributes:
        error: the rounding error of a layer; None for a block that combines layers.
    """

    parts: list[Part]
    buffers: list[bytes]
    error: BlockError | None = None

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(map(len, self.buffers))

    def add(self, name: str, dtype: DType, array: np.ndarray) -> None:
        packed = np.packbits(array) if dtype == "bits" else array.astype(_NUMBERS[dtype])
        self.parts.append({"name": name, "dtype": dtype, "shape": list(array.shape)})
        self.buffers.append(packed.tobytes())

    def add_vectors(self, name: str, array: Floats | None, *, exact: bool = False) -> None:
        """Add queries or keys [heads, tokens, d] as `to_int16` rounds them, or as float32."""
        if array is None or exact:
            return self.add_floats(name, array, exact=exact)
        integers, steps = to_int16(array)
        self.add(name, "i16", integers)
        return self.add(_STEPS[name], "f32", steps)

    def add_floats(self, name: str, array: Floats | None, *, exact: bool = False) -> None:
        if array is not None:
            self.add(name, "f32" if exact else float_type(array), array)


def encode_block(
    layer: Layer, factors: Mapping[str, Floats] = NO_FACTORS, *, all_rows: bool = False
) -> Block:
    """Encode the layer's arrays so that weights are right to three decimals.

    Queries and keys are rounded to integers of 16 bits with a step per head and component, other
    floats to float16 (to float32 if that would overflow). If this changes a weight by more than
    0.0005, or by more than half of it in sampled rows, all floats are float32.

    A layer with a score program is sent as queries and keys, any other as weights (with its queries
    and keys, if it has them, for the neuron view). Without a softmax, a recurrence is sent as it
    is, because errors add up along it, and coefficients as integers, within half a step.

    Args:
        factors: those of its lenses, by name, see `attnwidget.analysis.factors_of`.
        all_rows: True to measure the error in all rows; else it is in a sample of large layers.
    """
    if layer.signed:
        return _signed_block(layer, factors)
    rows = np.arange(layer.shape[0]) if all_rows else sample_rows(layer.shape[0])
    error = _error(layer, _received(layer, rows), rows, factors)
    block = Block([], [], error or {"largest": 0.0})
    exact = error is None
    block.add_vectors("queries", layer.queries, exact=exact)
    block.add_vectors("keys", layer.keys, exact=exact)
    if layer.program is None:
        block.add_floats("weights", layer.weights, exact=exact)
    else:
        assert isinstance(layer.program, ScoreProgram)
        add_program(block, layer.program, exact=exact)
    add_factors(block, factors)
    return block


def _signed_block(layer: Layer, factors: Mapping[str, Floats]) -> Block:
    if isinstance(layer.program, Recurrence):
        block = Block([], [], {"largest": 0.0})
        block.add_floats("queries", layer.queries, exact=True)
        block.add_floats("keys", layer.keys, exact=True)
        for name in _BY_TOKEN:
            block.add_floats(name, layer.program.arrays.get(name), exact=True)
    else:
        assert layer.coefficients is not None
        integers, steps = _matrices(layer.coefficients)
        block = Block([], [], {"largest": float(steps.max()) / 2})
        block.add("coefficients", "i16", integers)
        block.add("steps", "f32", steps)
    add_factors(block, factors)
    return block


def _received(layer: Layer, rows: NDArray[np.intp]) -> Layer:
    """The layer as the browser decodes it, in these rows."""
    queries, keys = (
        None if array is None else from_int16(*to_int16(array))
        for array in (layer.queries, layer.keys)
    )
    weights = None if layer.weights is None else to_float16(layer.weights, rows)
    program = layer.program
    if isinstance(program, ScoreProgram):
        program = received_program(program, rows)
    return replace(
        layer,
        queries=queries,
        keys=keys,
        weights=weights,
        program=program,
        values=None,
        projection=None,
    )


def received_program(program: ScoreProgram, rows: NDArray[np.intp]) -> ScoreProgram:
    """The program as the browser decodes it from `add_program`, in these rows."""
    bias = None if program.bias is None else to_float16(program.bias, rows)
    return replace(program, bias=bias)


def _error(
    layer: Layer, sent: Layer, rows: NDArray[np.intp], factors: Mapping[str, Floats]
) -> BlockError | None:
    """The error of rounded floats; None if weights are not right to three decimals."""
    error = error_of(Comparison(layer, rows).difference(sent), layer, sent, rows, factors)
    limit = RIGHT_TO_THREE_DECIMALS
    if len(rows) < layer.shape[0]:
        error["rows"] = len(rows)
        limit /= 2
    return error if error["largest"] <= limit else None


def add_program(block: Block, program: ScoreProgram, *, exact: bool = False) -> None:
    """Add the arrays of a score program to a block."""
    if program.visible is not None:
        block.add("visible", "bits", program.visible)
    block.add_floats("bias", program.bias, exact=exact)
    # It is small, and rounding would change the scores of all pairs at a distance.
    block.add_floats("relative", program.relative, exact=True)


def add_factors(block: Block, factors: Mapping[str, Floats]) -> None:
    """Add the factors of lenses, as they are."""
    for name, array in factors.items():
        block.add(f"factors of {name}", "f32", array)


def block_size(layer: Layer, num_factors: int = 0) -> int:
    """The size of the layer's block in bytes where its floats are rounded, without encoding it."""
    program = layer.program
    if isinstance(program, Recurrence):
        arrays = [layer.queries, layer.keys, *(program.arrays.get(name) for name in _BY_TOKEN)]
        return 4 * sum(array.size for array in arrays if array is not None)
    if layer.coefficients is not None:
        return 2 * layer.coefficients.size + 4 * layer.num_heads
    halves = [layer.queries, layer.keys, layer.weights if program is None else program.bias]
    size = 2 * sum(array.size for array in halves if array is not None)
    if layer.queries is not None and layer.keys is not None:
        size += 4 * layer.queries.shape[2] * (len(layer.queries) + len(layer.keys))
    if program is not None and program.relative is not None:
        size += 4 * program.relative.size
    if program is not None and program.visible is not None:
        size += (program.visible.size + 7) // 8
    return size + 4 * num_factors * layer.num_heads * layer.shape[1]


def encode_combined(stack: Stack) -> Block:
    """Encode the "mean" and "max" over all heads of all layers, and the "head" of each maximum.

    All are [Tq, Tk]; heads are counted through all layers from 0.
    """
    block = Block([], [])
    mean, largest, head = combined_heads(stack)
    block.add_floats("mean", mean)
    block.add_floats("max", largest)
    exact = int(head.max()) > _LARGEST_FLOAT16_INTEGER
    block.add_floats("head", head.astype(np.float32), exact=exact)
    return block


def encode_matrices(matrices: Floats) -> Block:
    """Encode a layer's numbers [n, Tq, Tk] of a lens as "numbers", integers times "steps" [n]."""
    block = Block([], [])
    integers, steps = _matrices(matrices)
    block.add("numbers", "i16", integers)
    block.add("steps", "f32", steps)
    return block


def _matrices(matrices: Floats) -> tuple[NDArray[np.int16], Floats]:
    """(integers [n, Tq, Tk], steps [n])."""
    integers, steps = to_int16(matrices.reshape(len(matrices), -1, 1))
    return integers.reshape(matrices.shape), steps[:, 0]
