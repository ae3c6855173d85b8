"""Errors of layers, and the bounds within which they count as rounding."""

from __future__ import annotations

import numpy as np
import torch

from attnwidget.record import Floats, Layer, ScoreProgram

_TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}
# Records are float32, whatever type the model computes in.
_EPS = float(np.finfo(np.float32).eps)


def tolerance(dtype: torch.dtype, largest_score: float = 0.0) -> float:
    """The largest difference of weights that counts as rounding.

    Args:
        dtype: the floating-point type that the model computes in.
        largest_score: a bound of the scores' magnitude. Two float32 computations of a score of
            1,000 may differ by 1e-4, and so may the weights.
    """
    return max(_TOLERANCE.get(dtype, 1e-5), _EPS * largest_score)


def largest_score(layer: Layer) -> float:
    """An upper bound on |scale * q.k| of a layer with a score program: |q| |k|, of the longest."""
    assert layer.queries is not None
    assert layer.keys is not None
    assert isinstance(layer.program, ScoreProgram)
    squares = (np.einsum("hij,hij->hi", v, v).max(axis=1) for v in (layer.queries, layer.keys))
    queries, keys = map(np.sqrt, squares)
    keys = np.repeat(keys, len(queries) // len(keys))
    scales = np.array([layer.program.head_scale(head) for head in range(layer.num_heads)])
    return float((np.abs(scales) * queries * keys).max())


def output_distance(
    weights: Floats, values: Floats, largest: Floats, output: Floats | None
) -> Floats:
    """The distance [heads, rows] of weights . values to an output, relative to the values.

    Args:
        weights: [heads, rows, Tk].
        values: [value heads, Tk, d_v].
        largest: of the values, [value heads].
        output: [heads, rows, d_v], or None.
    """
    heads, rows, keys = weights.shape
    if output is None:
        return np.zeros((heads, rows), np.float32)
    product = weights.reshape(len(values), -1, keys) @ values
    difference = np.abs(product.reshape(output.shape) - output).max(axis=2)
    distance: Floats = difference / np.repeat(largest, heads // len(largest))[:, None]
    return distance
