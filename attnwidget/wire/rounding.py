"""Rounding of blocks to float16, and the error of the weights that a browser computes from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import RowBatches
from attnwidget.record import Floats, Layer, sample_rows

_FLOAT16_MAX = float(np.finfo(np.float16).max)
# Smaller numbers are subnormal in float16, with a fixed step of 2^-24.
_SMALLEST_NORMAL = np.float32(2**-14)
# The numbers rounded at a time, which fit into the processor's cache.
_PIECE = 1 << 14


class _BlockError(TypedDict):
    largest: float


class BlockError(_BlockError, total=False):
    """The difference between the weights that the browser computes and those of the record.

    largest: the largest difference of a weight.
    rows: the number of sampled rows; missing if all were compared.
    variation: the mean over all rows of half the sum of differences, if the block was rounded
        further than to float16.
    vectors: the largest difference of a component of a query or key, if these were.
    """

    rows: int
    variation: float
    vectors: float


def float16_error(layer: Layer) -> BlockError:
    """Measure the error of `encode_block`."""
    rows = sample_rows(layer.shape[0])
    error: BlockError = {"largest": rounding_error(layer, rows)}
    if len(rows) < layer.shape[0]:
        error["rows"] = len(rows)
    return error


def float_type(array: Floats) -> Literal["f16", "f32"]:
    """The type in which an array is sent."""
    largest = max(array.max(initial=0), -array.min(initial=0))
    return "f16" if largest < _FLOAT16_MAX else "f32"


def rounding_error(layer: Layer, rows: NDArray[np.intp]) -> float:
    """The largest difference in these rows between any head's weights and those of its block.

    Raises:
        ValueError: a rounded score is out of the range of single precision.
    """
    sent, recorded = RowBatches(received(layer, rows), rows), RowBatches(layer, rows)
    # Overflows become NaN or infinity, which is checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        errors = [
            float(np.abs(a.exps / a.totals[:, None] - b.exps / b.totals[:, None]).max())
            for head in range(layer.num_heads)
            for a, b in zip(sent.of(head), recorded.of(head), strict=True)
        ]
    if not np.isfinite(errors).all():
        raise ValueError(
            f"the scores of layer {layer.number} are beyond single precision where they are "
            "rounded, so that it cannot be shown"
        )
    return max(errors)


def received(layer: Layer, rows: NDArray[np.intp]) -> Layer:
    """The layer as the browser decodes it from `encode_block`; of queries, only these rows."""
    if layer.program is None:
        return replace(layer, weights=_rounded(layer.weights, rows), values=None, projection=None)
    bias, relative = _rounded(layer.program.bias, rows), _rounded(layer.program.relative)
    program = replace(layer.program, bias=bias, relative=relative)
    queries, keys = _rounded(layer.queries, rows), _rounded(layer.keys)
    return replace(layer, queries=queries, keys=keys, program=program, values=None, projection=None)


def _rounded(array: Floats | None, rows: NDArray[np.intp] | None = None) -> Floats | None:
    """The array [heads, tokens, ...] that is sent; zero in rows other than these."""
    if array is None or float_type(array) == "f32":
        return array
    if rows is None:
        return to_float16(array)
    # Zeros take memory only where they are overwritten.
    rounded: Floats = np.zeros(array.shape, np.float32)
    some = np.unique(rows % array.shape[1])
    rounded[:, some] = to_float16(array[:, some])
    return rounded


def to_float16(array: Floats) -> Floats:
    """Round to float16, as float32: the result of two conversions in a tenth of the time."""
    flat = array.reshape(-1)
    near = np.empty_like(flat)
    for start in range(0, len(flat), _PIECE):
        exact, out = flat[start : start + _PIECE], near[start : start + _PIECE]
        # Veltkamp's splitting keeps 11 of 24 binary digits.
        spread = exact * np.float32(2**13 + 1)
        np.subtract(spread, exact, out=out)
        np.subtract(spread, out, out=out)
        small = np.flatnonzero(np.abs(exact, out=spread) < _SMALLEST_NORMAL)
        # Near 0.75, float32 has a step of 2^-24 as well.
        out[small] = (exact[small] + np.float32(0.75)) - np.float32(0.75)
    return near.reshape(array.shape)
