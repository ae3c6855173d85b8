"""Blocks: the arrays of one layer as bytes, with their names, types and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from attnwidget.analysis import combined_heads
from attnwidget.record import Floats, Layer, ScoreProgram, Stack

from .rounding import BlockError, float16_error, float_type

DType = Literal["f16", "f32", "bits", "i8", "coded"]


class _Part(TypedDict):
    name: str
    dtype: DType
    shape: list[int]


class Part(_Part, total=False):
    """One array of a block: "queries", "keys", "visible", "bias", "relative" or
    "weights"; "mean", "max" or "head" of the block that combines layers; the parameters of rounded
    "queries" and "keys", or of rounded "weights" (see `attnwidget.wire.compression`).

    dtype "f16" and "f32" are little-endian floats; "bits" are booleans, most significant
    bit first, the last byte padded with zeros; "i8" are signed bytes; "coded" are integers as
    `encode_integers` writes them, `bytes` long. The array is in C order.
    """

    bytes: int


_FLOATS = {"f16": "<f2", "f32": "<f4"}

# Of larger ones, not every integer is a float16.
_LARGEST_FLOAT16_INTEGER = 2048


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

    def add(self, name: str, dtype: DType, array: np.ndarray, data: bytes) -> None:
        self.parts.append({"name": name, "dtype": dtype, "shape": list(array.shape)})
        self.buffers.append(data)

    def add_integers(self, name: str, array: np.ndarray, data: bytes) -> None:
        self.add(name, "coded", array, data)
        self.parts[-1]["bytes"] = len(data)

    def add_floats(self, name: str, array: Floats | None, *, exact: bool = False) -> None:
        if array is None:
            return
        dtype: DType = "f32" if exact else float_type(array)
        self.add(name, dtype, array, array.astype(_FLOATS[dtype]).tobytes())


def encode_block(layer: Layer) -> Block:
    """Encode the layer's arrays, floats as float16 (float32 if that would overflow).

    A layer with a score program is sent as queries and keys, any other as weights (with its queries
    and keys, if it has them, for the neuron view).
    """
    block = Block([], [], float16_error(layer))
    block.add_floats("queries", layer.queries)
    block.add_floats("keys", layer.keys)
    if layer.program is None:
        block.add_floats("weights", layer.weights)
    else:
        add_program(block, layer.program)
    return block


def add_program(block: Block, program: ScoreProgram) -> None:
    """Add the arrays of a score program to a block."""
    if program.visible is not None:
        block.add("visible", "bits", program.visible, np.packbits(program.visible).tobytes())
    block.add_floats("bias", program.bias)
    block.add_floats("relative", program.relative)


def block_size(layer: Layer) -> int:
    """The size of the layer's block in bytes, with all floats as float16, without encoding it."""
    program = layer.program
    floats = [layer.queries, layer.keys]
    floats += [layer.weights] if program is None else [program.bias, program.relative]
    bits = None if program is None else program.visible
    size = 2 * sum(array.size for array in floats if array is not None)
    return size if bits is None else size + (bits.size + 7) // 8


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


def decode_floats(part: Part, data: bytes) -> Floats:
    """Decode an "f16" or "f32" array as the browser does."""
    array: Floats = np.frombuffer(data, _FLOATS[part["dtype"]]).astype(np.float32)
    return array.reshape(part["shape"])
