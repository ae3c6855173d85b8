"""A head's weight matrix, small enough to show every head of a model at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

# Largest side of a thumbnail, in cells.
THUMBNAIL_SIZE = 32

_LEVELS = 15


def thumbnail(weights: Floats, splits: tuple[int | None, int | None]) -> NDArray[np.uint8]:
    """Levels 0 to 15 of [heads, min(Tq, 32), min(Tk, 32)]: the square root of the largest weight.

    The largest, because a mean would make a sharp head look faint as the text grows; the
    square root, because most weights are small.

    Args:
        weights: float32 [heads, Tq, Tk].
        splits: where the second text begins among queries and keys, if there is one. No cell
            holds tokens of both texts, so that a view can show them apart.
    """
    rows, columns = splits
    pooled = _max_pool(_max_pool(weights, 1, rows), 2, columns)
    levels: NDArray[np.uint8] = np.round(np.sqrt(pooled) * _LEVELS).astype(np.uint8)
    return levels


def _max_pool(values: Floats, axis: int, split: int | None) -> Floats:
    length = values.shape[axis]
    cells = min(length, THUMBNAIL_SIZE)
    if split is None:
        starts = np.arange(cells) * length // cells
    else:
        first = split_cells(cells, split, length)
        second = cells - first
        starts = np.concatenate(
            [
                np.arange(first) * split // first,
                split + np.arange(second) * (length - split) // second,
            ]
        )
    pooled: Floats = np.maximum.reduceat(values, starts, axis=axis)
    return pooled


def split_cells(cells: int, split: int, length: int) -> int:
    """How many cells the first text has: its share of the tokens, and at least one each."""
    return max(1, min(cells - 1, (2 * cells * split + length) // (2 * length)))
