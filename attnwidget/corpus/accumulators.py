"""Sums over texts that can be merged: their results do not depend on how texts are divided.

Every random choice is seeded by the index of a text, and memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats

REPLICATES = 200
"""The number of bootstrap samples behind an interval."""

_INTERVAL = (0.025, 0.975)

FARTHEST = 512
"""Offsets between a query and a key that are larger than this count as one, on either side."""

Columns: TypeAlias = "slice | NDArray[np.int64]"

_ALL = slice(None)

_T = TypeVar("_T")


@dataclass(frozen=True)
class Estimate:
    """The means of some numbers over texts, with their intervals.

    Attributes:
        mean: float64 [...]; NaN if no text has the number.
        low, high: the ends of the 95% interval, float64 [...]; NaN with less than two texts.
        count: the number of texts that have the number, int64 [...].
    """

    mean: Numbers
    low: Numbers
    high: Numbers
    count: NDArray[np.int64]

    def at(self, index: Any) -> Estimate:
        """The estimates at an index of the arrays."""
        return Estimate(self.mean[index], self.low[index], self.high[index], self.count[index])


class Means:
    """Means over texts with bootstrap intervals, each text counting once.

    The bootstrap over texts gives each text a random number of copies, from a Poisson distribution
    with mean 1 (Hanley and MacGibbon 2006), and takes the mean once more, 200 times; the interval
    has the middle 95% of these means.
    """

    def __init__(self, shape: tuple[int, ...], seed: int) -> None:
        self._seed = seed
        # The first entry is the plain sum, the others are the bootstrap's.
        self._sums = np.zeros((1 + REPLICATES, *shape))
        self._counts = np.zeros((1 + REPLICATES, *shape))

    def add(self, texts: Mapping[int, Numbers]) -> None:
        """Add the numbers of some texts, by their indices; NaN where a text has none."""
        copies = np.stack([bootstrap_copies(self._seed, index) for index in texts], axis=1)
        values = np.stack(list(texts.values()))
        known = ~np.isnan(values)
        self._sums += np.tensordot(copies, np.where(known, values, 0), 1)
        self._counts += np.tensordot(copies, known.astype(np.float64), 1)

    def widen(self, count: int) -> None:
        """Make room for `count` further numbers along the last axis, which no text has yet."""
        self._sums = _widened(self._sums, -1, count, 0)
        self._counts = _widened(self._counts, -1, count, 0)

    def merge(self, other: Means, columns: Columns = _ALL) -> None:
        """Add the texts of another, whose numbers have these places along the last axis here."""
        self._sums[..., columns] += other._sums
        self._counts[..., columns] += other._counts

    def estimate(self) -> Estimate:
        counts = self._counts[0]
        means = self._sums / np.where(self._counts > 0, self._counts, np.nan)
        low, high = bootstrap_interval(means[1:])
        several = counts > 1
        return Estimate(
            means[0],
            np.where(several, low, np.nan),
            np.where(several, high, np.nan),
            counts.astype(np.int64),
        )


def bootstrap_interval(replicates: Numbers) -> tuple[Numbers, Numbers]:
    """The ends of the middle 95% of replicates [replicates, ...]; NaN is left out."""
    ordered = np.sort(replicates, axis=0)  # NaN, a sample without any text, comes last
    known = np.isfinite(ordered).sum(axis=0)
    ends = np.round(np.multiply.outer(_INTERVAL, (known - 1).clip(0))).astype(int)
    low, high = np.take_along_axis(ordered, ends, axis=0)
    return low, high


@lru_cache(maxsize=256)
def bootstrap_copies(seed: int, index: int) -> Numbers:
    """The number of times that each bootstrap sample has the text; once in the plain sum."""
    copies = np.ones(1 + REPLICATES)
    copies[1:] = np.random.default_rng([seed, index]).poisson(1, REPLICATES)
    return copies


class Sample(Generic[_T]):
    """A random sample of texts, with something kept of each.

    Attributes:
        texts: index of the text -> what is kept.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.texts: dict[int, _T] = {}
        self._size = size
        self._seed = seed

    def of(self, index: int, make: Callable[[], _T]) -> _T | None:
        """The entry of a text, made by `make` at first; None if it is not in the sample."""
        if index not in self.texts:
            self.texts[index] = make()
            self._drop()
        return self.texts.get(index)

    def merge(self, other: Sample[_T]) -> None:
        """Sample the texts of both."""
        self.texts |= other.texts
        self._drop()

    def _drop(self) -> None:
        """Keep the texts with the smallest random numbers."""
        while len(self.texts) > self._size:
            del self.texts[max(self.texts, key=self._priority)]

    def _priority(self, index: int) -> tuple[float, int]:
        return _priority(self._seed, index), index


@lru_cache(maxsize=1024)
def _priority(seed: int, index: int) -> float:
    return float(np.random.default_rng([seed, index, 1]).random())


class Extremes:
    """The texts with the highest and the lowest of each number.

    Attributes:
        values: float64 [2, ..., count], the highest, then the lowest, each from the most extreme
            on; NaN where there are fewer texts.
        texts: the indices of the texts, int64 of the same shape; -1 where there are fewer.
        marks: a further integer of each, int64 of the same shape.
    """

    def __init__(self, shape: tuple[int, ...], count: int) -> None:
        self._count = count
        self.values = np.full((2, *shape, count), np.nan)
        self.texts = np.full((2, *shape, count), -1)
        self.marks = np.full((2, *shape, count), -1)

    def add(self, index: int, values: Numbers, marks: NDArray[np.int64]) -> None:
        """Add the numbers of a text, NaN where it has none, each with an integer."""
        both = np.stack([values, values])[..., None]
        known = ~np.isnan(both)
        marked = np.broadcast_to(marks, values.shape)[None, ..., None]
        self._keep(both, np.where(known, index, -1), np.where(known, marked, -1))

    def widen(self, count: int) -> None:
        """Make room for `count` further numbers along the last axis, which no text has yet."""
        self.values = _widened(self.values, -2, count, np.nan)
        self.texts = _widened(self.texts, -2, count, -1)
        self.marks = _widened(self.marks, -2, count, -1)

    def merge(self, other: Extremes, columns: Columns = _ALL) -> None:
        """Add the texts of another, whose numbers have these places along the last axis here."""
        values = np.full((*self.values.shape[:-1], other.values.shape[-1]), np.nan)
        texts, marks = (np.full(values.shape, -1) for _ in range(2))
        values[..., columns, :] = other.values
        texts[..., columns, :] = other.texts
        marks[..., columns, :] = other.marks
        self._keep(values, texts, marks)

    def _keep(self, values: Numbers, texts: NDArray[np.int64], marks: NDArray[np.int64]) -> None:
        values = np.concatenate([self.values, values], axis=-1)
        texts = np.concatenate([self.texts, texts], axis=-1)
        marks = np.concatenate([self.marks, marks], axis=-1)
        signs = np.array([-1.0, 1.0]).reshape(2, *[1] * (values.ndim - 1))
        # NaN comes last; of equal numbers, that of the earlier text comes first.
        order = np.lexsort((texts, signs * values))[..., : self._count]
        self.values = np.take_along_axis(values, order, axis=-1)
        self.texts = np.take_along_axis(texts, order, axis=-1)
        self.marks = np.take_along_axis(marks, order, axis=-1)


class OffsetMeans:
    """The mean weight on the key at each offset from its query, for every head.

    The mean is over all queries of all texts that have such a key. The offset is the position of
    the key less that of the query; those beyond `FARTHEST` on either side count as one.
    """

    def __init__(self) -> None:
        self._sums = np.zeros((0, 2 * FARTHEST + 1))
        self._counts = np.zeros((0, 2 * FARTHEST + 1))

    def add(self, first: int, weights: Floats) -> None:
        """Add the weights [heads, T, T] of one text; `first` is the place of the first head."""
        count, length, _ = weights.shape
        heads = slice(first, first + count)
        # Rows of reversed keys, each a place further on, have equal offsets below each other.
        rows = np.zeros((count, length, 2 * length), np.float32)
        rows[..., :length] = weights[..., ::-1]
        shifted = rows.reshape(count, -1)[:, :-length].reshape(count, length, -1)
        sums = shifted.sum(axis=1, dtype=np.float64)[:, ::-1]
        self._sums[heads] += _clipped(sums)
        self._counts[heads] += _clipped(length - np.abs(np.arange(1.0 - length, length)))

    def widen(self, count: int) -> None:
        """Make room for `count` further heads, which no text has yet."""
        self._sums = _widened(self._sums, 0, count, 0)
        self._counts = _widened(self._counts, 0, count, 0)

    def merge(self, other: OffsetMeans, heads: NDArray[np.int64]) -> None:
        """Add the texts of another, whose heads have these places here."""
        self._sums[heads] += other._sums
        self._counts[heads] += other._counts

    def has(self, heads: slice) -> bool:
        """True if any text has weights of these heads."""
        return bool(self._counts[heads].any())

    def means(self, heads: slice) -> Numbers:
        """The mean weight at offsets from -FARTHEST on: float64 [heads, 2 FARTHEST + 1].

        An offset that is larger than any in the texts has the mean of the largest.
        """
        counts = self._counts[heads]
        known = np.flatnonzero(counts[0])
        nearest = np.arange(counts.shape[1]).clip(known[0], known[-1])
        means: Numbers = self._sums[heads][:, nearest] / counts[:, nearest]
        return means


def _clipped(by_offset: Numbers) -> Numbers:
    """Sums by offset, [..., 2 T - 1], with those beyond FARTHEST added to the last one."""
    beyond = by_offset.shape[-1] // 2 - FARTHEST
    if beyond <= 0:
        padding = [(0, 0)] * (by_offset.ndim - 1) + [(-beyond, -beyond)]
        padded: Numbers = np.pad(by_offset, padding)
        return padded
    found: Numbers = by_offset[..., beyond:-beyond].copy()
    found[..., 0] += by_offset[..., :beyond].sum(axis=-1)
    found[..., -1] += by_offset[..., -beyond:].sum(axis=-1)
    return found


def _widened(array: NDArray[Any], axis: int, count: int, fill: float) -> NDArray[Any]:
    more = list(array.shape)
    more[axis] = count
    return np.concatenate([array, np.full(more, fill, array.dtype)], axis=axis)
