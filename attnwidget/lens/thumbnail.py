"""A head's weight matrix, small enough to show every head of a model at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

# Largest side of a thumbnail, in cells.
THUMBNAIL_SIZE = 32

_LEVELS = 15


def thumbnail(weights: Floats) -> NDArray[np.uint8]:
    """Levels 0 to 15 of [heads, min(Tq, 32), min(Tk, 32)]: the square root of the largest weight.

    The largest, because a mean would make a sharp head look faint as the text grows; the
    square root, because most weights are small.

    Args:
        weights: float32 [heads, Tq, Tk].
    """
    pooled = _max_pool(_max_pool(weights, axis=1), axis=2)
    levels: NDArray[np.uint8] = np.round(np.sqrt(pooled) * _LEVELS).astype(np.uint8)
    return levels


def _max_pool(values: Floats, axis: int) -> Floats:
    length = values.shape[axis]
    cells = min(length, THUMBNAIL_SIZE)
    starts = np.arange(cells) * length // cells
    pooled: Floats = np.maximum.reduceat(values, starts, axis=axis)
    return pooled
