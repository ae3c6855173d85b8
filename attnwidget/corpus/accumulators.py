"""Sums over texts that can be merged: their results do not depend on how texts are divided.

Every random choice is seeded by the index of a text, and memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats

REPLICATES = 200
"""The number of bootstrap samples behind an interval."""

_INTERVAL = (0.025, 0.975)

FARTHEST = 512
"""Offsets between a query and a key that are larger than this count as one, on either side."""

Integers: TypeAlias = NDArray[np.int64]

CELLS = 1 << 18
"""The weights that are read at a time: a megabyte, which fits into the processor's cache."""


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
    count: Integers

    def at(self, index: Any) -> Estimate:
        """The estimates at an index of the arrays."""
        return Estimate(self.mean[index], self.low[index], self.high[index], self.count[index])


@dataclass
class Means:
    """Means over texts with bootstrap intervals, each text counting once.

    The bootstrap over texts gives each text a random number of copies, from a Poisson distribution
    with mean 1 (Hanley and MacGibbon 2006), and takes the mean once more, 200 times; the interval
    has the middle 95% of these means.

    Attributes:
        seed: of the bootstrap.
        sums, counts: of the numbers, and of the texts that have them: float64 [1 + 200, ...], the
            first entry the plain sum, the others the bootstrap's.
    """

    seed: int
    sums: Numbers
    counts: Numbers

    @classmethod
    def empty(cls, shape: tuple[int, ...], seed: int) -> Means:
        """Means of numbers of this shape, over no text."""
        return cls(seed, *(np.zeros((1 + REPLICATES, *shape)) for _ in range(2)))

    def add(self, texts: Mapping[int, Numbers]) -> None:
        """Add the numbers of some texts, by their indices; NaN where a text has none."""
        copies = np.stack([bootstrap_copies(self.seed, index) for index in texts], axis=1)
        values = np.stack(list(texts.values()))
        known = ~np.isnan(values)
        self.sums += np.tensordot(copies, np.where(known, values, 0), 1)
        self.counts += np.tensordot(copies, known.astype(np.float64), 1)

    def merge(self, other: Means) -> None:
        """Add the texts of another."""
        self.sums += other.sums
        self.counts += other.counts

    def estimate(self) -> Estimate:
        return bootstrap_estimate(self.sums, self.counts, self.counts[0] > 1)


def bootstrap_estimate(
    sums: Numbers, counts: Numbers, several: NDArray[np.bool_] | bool
) -> Estimate:
    """The means of sums [1 + 200, ...], the plain one with the middle 95% of the others.

    Args:
        counts: what was summed, in a shape that broadcasts to that of the sums.
        several: False where it is of less than two texts, so that no interval is known.
    """
    means = sums / np.where(counts > 0, counts, np.nan)
    ordered = np.sort(means[1:], axis=0)  # NaN, a sample without any text, comes last
    known = np.isfinite(ordered).sum(axis=0)
    ends = np.round(np.multiply.outer(_INTERVAL, (known - 1).clip(0))).astype(int)
    low, high = np.where(several, np.take_along_axis(ordered, ends, axis=0), np.nan)
    return Estimate(means[0], low, high, np.broadcast_to(counts[0], low.shape).astype(np.int64))


@lru_cache(maxsize=256)
def bootstrap_copies(seed: int, index: int) -> Numbers:
    """The number of times that each bootstrap sample has the text; once in the plain sum."""
    copies = np.ones(1 + REPLICATES)
    copies[1:] = np.random.default_rng([seed, index]).poisson(1, REPLICATES)
    return copies


def keep_sample(texts: dict[int, Any], size: int, seed: int) -> None:
    """Keep a random sample of texts, by their indices: those with the smallest random numbers."""
    while len(texts) > size:
        del texts[max(texts, key=lambda index: (_priority(seed, index), index))]


@lru_cache(maxsize=1024)
def _priority(seed: int, index: int) -> float:
    return float(np.random.default_rng([seed, index, 1]).random())


@dataclass
class Extremes:
    """The texts with the highest and the lowest of each number.

    Attributes:
        values: float64 [2, ..., count], the highest, then the lowest, each from the most extreme
            on; NaN where there are fewer texts.
        texts: the indices of the texts, int64 of the same shape; -1 where there are fewer.
        marks: a further integer of each, int64 of the same shape.
    """

    values: Numbers
    texts: Integers
    marks: Integers

    @classmethod
    def empty(cls, shape: tuple[int, ...], count: int) -> Extremes:
        """Room for `count` texts of either end, of numbers of this shape."""
        shape = 2, *shape, count
        return cls(np.full(shape, np.nan), np.full(shape, -1), np.full(shape, -1))

    def add(self, texts: Mapping[int, Numbers], marks: Mapping[int, Integers]) -> None:
        """Add the numbers of some texts, NaN where one has none, each with an integer."""
        values = np.stack(list(texts.values()), axis=-1)
        marked = np.stack(
            [np.broadcast_to(marks[index], each.shape) for index, each in texts.items()], axis=-1
        )
        known = ~np.isnan(values)
        found = values, np.where(known, list(texts), -1), np.where(known, marked, -1)
        self._keep(*(np.stack([each, each]) for each in found))

    def merge(self, other: Extremes) -> None:
        """Add the texts of another."""
        self._keep(other.values, other.texts, other.marks)

    def _keep(self, values: Numbers, texts: Integers, marks: Integers) -> None:
        count = self.values.shape[-1]
        values = np.concatenate([self.values, values], axis=-1)
        texts = np.concatenate([self.texts, texts], axis=-1)
        marks = np.concatenate([self.marks, marks], axis=-1)
        signs = np.array([-1.0, 1.0]).reshape(2, *[1] * (values.ndim - 1))
        # NaN comes last; of equal numbers, that of the earlier text comes first.
        order = np.lexsort((texts, signs * values))[..., :count]
        self.values = np.take_along_axis(values, order, axis=-1)
        self.texts = np.take_along_axis(texts, order, axis=-1)
        self.marks = np.take_along_axis(marks, order, axis=-1)


@dataclass
class OffsetMeans:
    """The mean weight on the key at each offset from its query, for every head of a layer.

    The mean is over all queries of all texts that have such a key. The offset is the position of
    the key less that of the query; those beyond `FARTHEST` on either side count as one.

    Attributes:
        sums: of the weights, float64 [heads, 2 FARTHEST + 1].
        counts: of the pairs of a query and a key, float64 [2 FARTHEST + 1].
    """

    sums: Numbers
    counts: Numbers

    @classmethod
    def empty(cls, heads: int) -> OffsetMeans:
        """Means of so many heads, over no text."""
        return cls(np.zeros((heads, 2 * FARTHEST + 1)), np.zeros(2 * FARTHEST + 1))

    def add(self, weights: Floats) -> None:
        """Add the weights [heads, T, T] of one text."""
        length = weights.shape[1]
        for heads in groups(weights):
            self.sums[heads] += _clipped(_by_offset(weights[heads]))
        self.counts += _clipped(length - np.abs(np.arange(1.0 - length, length)))

    def merge(self, other: OffsetMeans) -> None:
        """Add the texts of another."""
        self.sums += other.sums
        self.counts += other.counts

    def means(self) -> Numbers:
        """The mean weight at offsets from -FARTHEST on: float64 [heads, 2 FARTHEST + 1].

        An offset that is larger than any in the texts has the mean of the largest.
        """
        known = np.flatnonzero(self.counts)
        nearest = np.arange(len(self.counts)).clip(known[0], known[-1])
        means: Numbers = self.sums[:, nearest] / self.counts[nearest]
        return means


def groups(weights: Floats) -> Iterator[slice]:
    """The heads of weights [heads, Tq, Tk] that are read at a time."""
    size = max(1, CELLS // weights[0].size)
    for start in range(0, len(weights), size):
        yield slice(start, start + size)


def _by_offset(weights: Floats) -> Numbers:
    """The sums of weights [heads, T, T] by the offset of key and query: [heads, 2 T - 1]."""
    count, length, _ = weights.shape
    # Rows of reversed keys, each a place further on, have equal offsets below each other.
    rows = np.zeros((count, length, 2 * length), np.float32)
    rows[..., :length] = weights[..., ::-1]
    shifted = rows.reshape(count, -1)[:, :-length].reshape(count, length, -1)
    sums: Numbers = shifted.sum(axis=1, dtype=np.float64)[:, ::-1]
    return sums


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
