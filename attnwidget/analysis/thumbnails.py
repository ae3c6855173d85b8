"""Thumbnails: weight matrices reduced so that all heads of a model can be shown at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Stack

from .row_batches import RowBatch

# The largest side of a thumbnail, in cells.
THUMBNAIL_SIZE = 32

_LEVELS = 15
# Above and below zero.
_SIGNED_LEVELS = 7

# The numbers of a head that are in memory at a time.
_BATCH_NUMBERS = 1 << 19


class Thumbnails:
    """The square root of the largest weight of each cell of some heads, in levels 0 to 15.

    The maximum is used because a mean would make a sharp head look faint in a long text; the
    square root, because most weights are small.

    Args:
        heads: the number of heads.
        shape: (Tq, Tk).
        splits: the start of the second text among queries and keys, if there is one. No cell has
            tokens of both texts, so that a view can show them separately.
    """

    def __init__(
        self, heads: int, shape: tuple[int, int], splits: tuple[int | None, int | None]
    ) -> None:
        self._rows, self._keys = map(cell_bounds, shape, splits)
        # Indexed by cells of keys first, because maxima are taken over keys first.
        self._largest = np.zeros((heads, len(self._keys) - 1, len(self._rows) - 1), np.float32)

    def add(self, batch: RowBatch) -> None:
        ends = np.clip(self._keys, batch.keys.start, batch.keys.stop) - batch.keys.start
        cells = np.flatnonzero(np.diff(ends))
        heads = len(batch.exps)
        per_row = np.empty((heads, len(cells), len(batch.rows)), np.float32)
        sizes = (ends[cells + 1] - ends[cells]).tolist()
        # Neighbouring cells of one size are reduced together.
        cell, key = 0, int(ends[cells[0]])
        for size, group in groupby(sizes):
            count = len(list(group))
            keys = batch.exps.swapaxes(1, 2)[:, key : key + count * size]
            keys = keys.reshape(heads, count, size, -1)
            np.maximum.reduce(keys, axis=2, out=per_row[:, cell : cell + count])
            cell, key = cell + count, key + count * size
        per_row /= batch.totals[:, None]
        begins = np.searchsorted(batch.rows, self._rows)
        lines = np.flatnonzero(np.diff(begins))
        index = (slice(None), cells[:, None], lines)
        pooled = np.maximum.reduceat(per_row, begins[lines], axis=2)
        self._largest[index] = np.maximum(self._largest[index], pooled)

    def levels(self) -> NDArray[np.uint8]:
        """The thumbnails [heads, min(Tq, 32), min(Tk, 32)]."""
        return levels_of(self._largest.swapaxes(1, 2))


class SignedThumbnails:
    """The number of the largest magnitude of each cell of some heads of coefficients.

    Args:
        heads, shape, splits: as of `Thumbnails`.

    Attributes:
        peaks: float32 [heads], the largest magnitudes.
    """

    def __init__(
        self, heads: int, shape: tuple[int, int], splits: tuple[int | None, int | None]
    ) -> None:
        self._tops, lefts = map(cell_bounds, shape, splits)
        self._lefts = lefts[:-1]
        self._cells = np.zeros((heads, len(self._tops) - 1, len(self._lefts)), np.float32)

    def add(self, batch: RowBatch) -> None:
        assert batch.coefficients is not None
        per_row = largest_from(batch.coefficients, self._lefts, axis=2)
        begins = np.searchsorted(batch.rows, self._tops)
        lines = np.flatnonzero(np.diff(begins))
        cells, before = largest_from(per_row, begins[lines], axis=1), self._cells[:, lines]
        self._cells[:, lines] = np.where(np.abs(cells) > np.abs(before), cells, before)

    @property
    def peaks(self) -> Floats:
        peaks: Floats = np.abs(self._cells).max(axis=(1, 2))
        return peaks

    def levels(self) -> NDArray[np.uint8]:
        """The thumbnails [heads, min(Tq, 32), min(Tk, 32)], each up to its peak."""
        levels = [signed_levels(*each) for each in zip(self._cells, self.peaks, strict=True)]
        return np.stack(levels)


def largest_from(numbers: Floats, starts: NDArray[np.intp], axis: int) -> Floats:
    """The number of the largest magnitude from each start to the next."""
    largest = np.maximum.reduceat(numbers, starts, axis=axis)
    least = np.minimum.reduceat(numbers, starts, axis=axis)
    found: Floats = np.where(largest >= -least, largest, least)
    return found


def signed_cells(
    stack: Stack, numbers: Callable[[NDArray[np.intp]], Floats], rows: NDArray[np.intp]
) -> Floats:
    """The number of the largest magnitude in each cell of a thumbnail; -inf does not count.

    Args:
        numbers: the numbers of some queries, float32 [queries, Tk].
        rows: the queries that are read, in order.
    """
    num_queries, num_keys = len(stack.queries), len(stack.keys)
    tops = cell_bounds(num_queries, stack.queries.split)
    lefts = cell_bounds(num_keys, stack.keys.split)[:-1]
    per_row = np.empty((len(rows), len(lefts)), np.float32)
    size = max(1, _BATCH_NUMBERS // num_keys)
    for start in range(0, len(rows), size):
        batch = slice(start, start + size)
        of_rows = numbers(rows[batch])
        of_rows[np.isneginf(of_rows)] = 0
        per_row[batch] = largest_from(of_rows, lefts, axis=1)
    # There are at least as many rows as cells.
    return largest_from(per_row, np.searchsorted(rows, tops[:-1]), axis=0)


def signed_levels(cells: Floats, peak: float) -> NDArray[np.uint8]:
    """The square roots of magnitudes in levels 1 to 15, 8 for zero, as shares of a peak."""
    steps = np.round(np.sign(cells) * np.sqrt(np.abs(cells) / (peak or 1.0)) * _SIGNED_LEVELS)
    levels: NDArray[np.uint8] = (steps + _SIGNED_LEVELS + 1).astype(np.uint8)
    return levels


def scaled_levels(cells: Floats, peak: float) -> NDArray[np.uint8]:
    """The square roots of numbers in levels 0 to 15, as shares of a peak."""
    return levels_of(cells / np.float32(peak or 1.0))


def levels_of(weights: Floats) -> NDArray[np.uint8]:
    """The square roots of weights in levels 0 to 15."""
    # Recorded weights may exceed 1.
    roots = np.sqrt(np.minimum(weights, 1))
    levels: NDArray[np.uint8] = np.round(roots * _LEVELS).astype(np.uint8)
    return levels


def cell_bounds(length: int, split: int | None) -> NDArray[np.intp]:
    """The starts of all cells, and the end of the last one."""
    cells = min(length, THUMBNAIL_SIZE)
    if split is None:
        return np.arange(cells + 1) * length // cells
    first = split_cells(cells, split, length)
    second = cells - first
    return np.concatenate(
        [
            np.arange(first) * split // first,
            split + np.arange(second + 1) * (length - split) // second,
        ]
    )


def split_cells(cells: int, split: int, length: int) -> int:
    """The number of cells of the first text: its share of the tokens, with one each at least."""
    return max(1, min(cells - 1, (2 * cells * split + length) // (2 * length)))
