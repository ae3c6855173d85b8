"""A head's attention matrix in batches of rows that fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, ScoreProgram

# The numbers in one array of a batch: a megabyte.
_CELLS = 1 << 18
# With fewer rows, numpy's operations across keys would be slow.
_MIN_ROWS = 64

SINGLE_THREADED = 1 << 18
"""The most multiplications of a product for which OpenBLAS uses one thread."""

# The exponentials of lower numbers are zero in single precision.
_LOWEST_LOG = np.float32(-104)


@dataclass(frozen=True)
class RowBatch:
    """Attention weights of some queries, not yet divided by the rows' totals.

    The arrays may have leading dimensions, such as heads. The next batch of the same `RowBatches`
    overwrites them.

    Attributes:
        rows: positions of the queries, increasing.
        keys: positions of the keys; the weights of all others are zero.
        exps: float32 [..., rows, keys].
        logs: float32 [..., rows, keys], the logarithms of exps; any number where these are zero.
        peaks: float32 [..., rows], subtracted from scores to get logs; 0 for known weights.
        sums: float32 [..., rows], of exps over keys.
        totals: float32 [..., rows], the divisors: sums with the sink's share; not zero.
    """

    rows: NDArray[np.intp]
    keys: range
    exps: Floats
    logs: Floats
    peaks: Floats
    sums: Floats
    totals: Floats

    @cached_property
    def mass(self) -> Floats:
        """The sum of each row's weights, float32 [..., rows]: 0 if it sees no key."""
        return self.sums / self.totals

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """True if the query sees any key, bool [..., rows]."""
        return self.mass > 0

    def weighted(self, factors: Floats) -> RowBatch:
        """The batch with each key's weights times its factor [Tk], as shares of the row's sum."""
        exps = self.exps * factors[self.keys.start : self.keys.stop]
        sums = exps.sum(axis=-1)
        totals = np.where(sums > 0, sums, np.float32(1))
        return replace(self, exps=exps, sums=sums, totals=totals)


class RowBatches:
    """Some rows of every head of a layer, in batches.

    All batches share the same memory, because allocating new pages would take longer than the
    computation.

    Args:
        rows: positions of queries, increasing.
        finite: False to leave the logarithms of zero weights as they are, -inf for masked keys.
    """

    def __init__(self, layer: Layer, rows: NDArray[np.intp], *, finite: bool = True) -> None:
        self._layer, self._rows, self._finite = layer, rows, finite
        num_keys = layer.shape[1]
        self._size = max(_MIN_ROWS, _CELLS // num_keys)
        self._memory = np.empty((2, min(self._size, len(rows)) * num_keys), np.float32)

    def of(self, head: int) -> Iterator[RowBatch]:
        """The rows of a head, in order."""
        for start in range(0, len(self._rows), self._size):
            rows = self._rows[start : start + self._size]
            if self._layer.program is None:
                yield batch_of_weights(self._layer.head_weights(head, rows), rows)
            else:
                yield self._of_scores(self._layer.program, head, rows)

    def _of_scores(self, program: ScoreProgram, head: int, rows: NDArray[np.intp]) -> RowBatch:
        num_queries, num_keys = self._layer.shape
        keys = program.reach(rows, num_keys)
        # The memory layout is [keys, rows], so that maxima and sums over keys add whole vectors.
        by_key = self._memory[:, : len(keys) * len(rows)].reshape(2, len(keys), len(rows))
        logs, exps = by_key.transpose(0, 2, 1)
        queries = self._layer.head_queries(head)[_as_slice(rows)].T
        scaled = np.multiply(queries, np.float32(program.head_scale(head)), order="C")
        _multiply(self._layer.head_keys(head)[keys.start : keys.stop], scaled, out=by_key[0])
        program.finish(logs, head, rows, num_queries, keys)
        peaks, sums, totals = program.exponentials(logs, head, out=exps)
        if program.adds and self._finite:
            # Finite logarithms make the product with a weight of zero zero.
            np.maximum(logs, _LOWEST_LOG, out=logs)
        return RowBatch(rows, keys, exps, logs, peaks, sums, totals)


def batch_of_weights(weights: Floats, rows: NDArray[np.intp]) -> RowBatch:
    """A batch of known weights [..., rows, Tk]."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    sums = weights.sum(axis=-1)
    keys = range(weights.shape[-1])
    return RowBatch(rows, keys, weights, logs, np.zeros_like(sums), sums, np.ones_like(sums))


def _as_slice(rows: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """An index of the rows that makes no copy if they are consecutive."""
    first, end = int(rows[0]), int(rows[-1]) + 1
    return slice(first, end) if end - first == len(rows) else rows


def _multiply(keys: Floats, queries: Floats, out: Floats) -> None:
    """Multiply keys [keys, d] @ queries [d, rows], in pieces for which OpenBLAS uses one thread.

    Distributing so small a product to threads would take longer than the product, and much longer
    on a busy machine.
    """
    size = max(1, SINGLE_THREADED // queries.size)
    whole = len(keys) // size * size
    pieces = keys[:whole].reshape(-1, size, keys.shape[1])
    np.matmul(pieces, queries, out=out[:whole].reshape(-1, size, out.shape[1]))
    np.matmul(keys[whole:], queries, out=out[whole:])
