"""A layer's attention in batches of heads and rows that fit into the processor's cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, ScoreProgram

# The numbers in one array of a batch: a megabyte.
_CELLS = 1 << 18
# Of coefficients: eight megabytes.
_WALKED_CELLS = 1 << 21
# With fewer rows, numpy's operations across keys would be slow.
_MIN_ROWS = 64
# The most rows if a causal mask, a window or blocks hide keys: from fewer rows, they hide more.
_ROWS_OF_MASK = 128

SINGLE_THREADED = 1 << 18
"""The most multiplications of a product for which OpenBLAS uses one thread."""

# The exponentials of lower numbers are zero in single precision.
_LOWEST_LOG = np.float32(-104)


@dataclass(frozen=True)
class RowBatch:
    """Attention weights of some queries, not yet divided by the rows' totals.

    The arrays may have leading dimensions, such as heads. The next batch of the same `RowBatches`
    overwrites them. Of a layer without a softmax, they are the magnitudes of its coefficients.

    Attributes:
        rows: positions of the queries, increasing.
        keys: positions of the keys; the weights of all others are zero.
        exps: float32 [..., rows, keys].
        logs: float32 [..., rows, keys], the logarithms of exps; any number where these are zero,
            and of coefficients.
        peaks: float32 [..., rows], subtracted from scores to get logs; 0 for known weights.
        sums: float32 [..., rows], of exps over keys.
        totals: float32 [..., rows], the divisors: sums with the sink's share; not zero.
        coefficients: float32 [..., rows, keys], of a layer without a softmax; else None.
    """

    rows: NDArray[np.intp]
    keys: range
    exps: Floats
    logs: Floats
    peaks: Floats
    sums: Floats
    totals: Floats
    coefficients: Floats | None = None

    @cached_property
    def mass(self) -> Floats:
        """The sum of each row's weights, float32 [..., rows]: 0 if it sees no key."""
        return self.sums / self.totals

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """True if the query sees any key, bool [..., rows]."""
        return self.mass > 0

    def weighted(self, factors: Floats) -> RowBatch:
        """The batch with each key's weights times its factor [..., Tk], as shares of row sums."""
        exps = self.exps * factors[..., None, self.keys.start : self.keys.stop]
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

    Attributes:
        groups: the heads that are computed together. In a short text, calling numpy for each head
            would take longer than the computation.
    """

    def __init__(self, layer: Layer, rows: NDArray[np.intp], *, finite: bool = True) -> None:
        self._layer, self._rows, self._finite = layer, rows, finite
        num_keys = layer.shape[1]
        self._size = max(_MIN_ROWS, _CELLS // num_keys)
        if layer.signed:
            # A recurrence is walked once for all rows of a batch.
            self._size = max(_MIN_ROWS, _WALKED_CELLS // num_keys)
        most_heads = layer.num_heads
        if isinstance(layer.program, ScoreProgram):
            if not layer.program.same_heads:
                most_heads = 1
            elif len(layer.program.reach(rows[:1], num_keys)) < num_keys:
                self._size = min(self._size, _ROWS_OF_MASK)
        cells = min(self._size, len(rows)) * num_keys
        together = min(max(1, _CELLS // cells), most_heads)
        self.groups = [
            slice(first, min(first + together, layer.num_heads))
            for first in range(0, layer.num_heads, together)
        ]
        self._memory = np.empty((2, 0 if layer.signed else together * cells), np.float32)
        self._only: RowBatch | None = None

    def of(self, heads: slice) -> Iterator[RowBatch]:
        """The rows of a group of heads, in order; the arrays begin with the dimension of heads.

        If one batch holds all rows of all heads, it is computed once.
        """
        if self._only is not None:
            yield self._only
            return
        for start in range(0, len(self._rows), self._size):
            rows = self._rows[start : start + self._size]
            program = self._layer.program
            if isinstance(program, ScoreProgram):
                batch = self._of_scores(program, heads, rows)
            elif self._layer.signed:
                batch = self._of_coefficients(heads, rows)
            else:
                assert self._layer.weights is not None
                batch = batch_of_weights(self._layer.weights[heads, rows], rows)
            if len(self.groups) == 1 and len(rows) == len(self._rows):
                self._only = batch
            yield batch

    def _of_coefficients(self, heads: slice, rows: NDArray[np.intp]) -> RowBatch:
        chosen = range(heads.start, heads.stop)
        signed = np.stack([self._layer.head_coefficients(head, rows) for head in chosen])
        return batch_of_coefficients(signed, rows)

    def _of_scores(self, program: ScoreProgram, heads: slice, rows: NDArray[np.intp]) -> RowBatch:
        layer, head = self._layer, heads.start
        assert layer.queries is not None
        assert layer.keys is not None
        num_queries, num_keys = layer.shape
        keys = program.reach(rows, num_keys)
        # The memory layout is [heads, keys, rows], so that maxima and sums over keys add whole
        # vectors.
        shape = heads.stop - head, len(keys), len(rows)
        by_key = self._memory[:, : math.prod(shape)].reshape(2, *shape)
        logs, exps = by_key.swapaxes(2, 3)
        queries = layer.queries[heads, _as_slice(rows)].swapaxes(1, 2)
        scaled = np.multiply(queries, np.float32(program.head_scale(head)), order="C")
        key_heads = _as_slice(np.arange(head, heads.stop) * layer.num_kv_heads // layer.num_heads)
        _multiply(layer.keys[key_heads, keys.start : keys.stop], scaled, out=by_key[0])
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


def batch_of_coefficients(coefficients: Floats, rows: NDArray[np.intp]) -> RowBatch:
    """A batch of known coefficients [..., rows, Tk], of either sign."""
    sizes = np.abs(coefficients)
    sums = sizes.sum(axis=-1)
    totals = np.where(sums > 0, sums, np.float32(1))
    keys, logs = range(sizes.shape[-1]), np.broadcast_to(np.float32(0), sizes.shape)
    return RowBatch(rows, keys, sizes, logs, np.zeros_like(sums), sums, totals, coefficients)


def _as_slice(places: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """An index of places, which do not decrease; it makes no copy if they are consecutive."""
    first, end = int(places[0]), int(places[-1]) + 1
    return slice(first, end) if end - first == len(places) else places


def _multiply(keys: Floats, queries: Floats, out: Floats) -> None:
    """Multiply [heads, keys, d] @ [heads, d, rows], in pieces for which OpenBLAS uses one thread.

    Distributing so small a product to threads would take longer than the product, and much longer
    on a busy machine.
    """
    heads, dim, rows = queries.shape
    size = max(1, SINGLE_THREADED // (dim * rows))
    whole = keys.shape[1] // size * size
    pieces = keys[:, :whole].reshape(heads, -1, size, dim)
    np.matmul(pieces, queries[:, None], out=out[:, :whole].reshape(heads, -1, size, rows))
    np.matmul(keys[:, whole:], queries, out=out[:, whole:])
