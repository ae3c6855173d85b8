"""Blocks: the arrays of one layer, as bytes that say what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from attnwidget.lens import combined
from attnwidget.record import Floats, Layer, Stack

DType = Literal["f16", "f32", "bits"]

# Beyond this, float16 has no finite value left.
_FLOAT16_MAX = float(np.finfo(np.float16).max)


class Part(TypedDict):
    """One array of a block: "queries", "keys", "visible", "bias", "relative" or
    "weights"; "mean" or "max" of the block that combines layers.

    dtype "f16" and "f32" are little-endian floats; "bits" are booleans, most significant
    bit first, the last byte padded with zeros. The array is in C order.
    """

    name: str
    dtype: DType
    shape: list[int]


_FLOATS = {"f16": "<f2", "f32": "<f4"}


@dataclass(frozen=True)
class Block:
    """The parts of one layer and their bytes, in the same order."""

    parts: list[Part]
    buffers: list[bytes]

    def add(self, name: str, dtype: DType, array: np.ndarray, data: bytes) -> None:
        self.parts.append({"name": name, "dtype": dtype, "shape": list(array.shape)})
        self.buffers.append(data)

    def add_floats(self, name: str, array: Floats | None) -> None:
        if array is None:
            return
        dtype: DType = "f16" if np.abs(array).max(initial=0) < _FLOAT16_MAX else "f32"
        self.add(name, dtype, array, array.astype(_FLOATS[dtype]).tobytes())


def encode_block(layer: Layer) -> Block:
    """The layer's arrays, floats as float16 (float32 where that would overflow).

    A layer with a score program travels as queries and keys, any other as weights (with its
    queries and keys, where it has them, for the neuron view).
    """
    block = Block([], [])
    block.add_floats("queries", layer.queries)
    block.add_floats("keys", layer.keys)
    if layer.program is None:
        block.add_floats("weights", layer.weights)
    else:
        if (visible := layer.program.visible) is not None:
            block.add("visible", "bits", visible, np.packbits(visible).tobytes())
        block.add_floats("bias", layer.program.bias)
        block.add_floats("relative", layer.program.relative)
    return block


def encode_combined(stack: Stack) -> Block:
    """The "mean" and "max" over every head of every layer, [Tq, Tk] each."""
    block = Block([], [])
    for name, array in zip(("mean", "max"), combined(stack), strict=True):
        block.add_floats(name, array)
    return block


def decode_floats(part: Part, data: bytes) -> Floats:
    """The array of an "f16" or "f32" part, as the browser has it."""
    array: Floats = np.frombuffer(data, _FLOATS[part["dtype"]]).astype(np.float32)
    return array.reshape(part["shape"])
