"""A head's attention matrix in batches of rows that fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, ScoreProgram

# Numbers in one array of a batch: a megabyte.
_CELLS = 1 << 18
# With fewer rows, what numpy does across keys would be slow.
_LEAST_ROWS = 64

# Up to so many multiplications, OpenBLAS uses one thread.
_UNSHARED = 1 << 18

# The exponential of anything less is zero, in single precision.
_LEAST_LOG = np.float32(-104)


@dataclass(frozen=True)
class RowBatch:
    """Attention weights of some queries, before they are divided by the rows' totals.

    The next batch of the same `RowBatches` overwrites it.

    Attributes:
        rows: positions of the queries, increasing.
        keys: positions of the keys; to all others, these queries give no weight.
        exps: float32 [rows, keys].
        logs: float32 [rows, keys], the logarithms of exps; any number where these are zero.
        sums: float32 [rows], of exps over keys.
        totals: float32 [rows], what exps are divided by: sums, and what the sink takes; not zero.
    """

    rows: NDArray[np.intp]
    keys: range
    exps: Floats
    logs: Floats
    sums: Floats
    totals: Floats

    @cached_property
    def mass(self) -> Floats:
        """float32 [rows]: the sum of each row's weights, 0 where it sees no key."""
        return self.sums / self.totals

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """bool [rows]: True where the query sees any key."""
        return self.mass > 0


class RowBatches:
    """Some rows of every head of a layer, in batches.

    All batches share the same memory: allocating more of it, page by page, would take longer than
    computing what they hold.

    Args:
        rows: positions of queries, increasing.
    """

    def __init__(self, layer: Layer, rows: NDArray[np.intp]) -> None:
        self._layer, self._rows = layer, rows
        num_keys = layer.shape[1]
        self._size = max(_LEAST_ROWS, _CELLS // num_keys)
        self._room = np.empty((2, min(self._size, len(rows)) * num_keys), np.float32)

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
        # In memory, the rows' values of one key follow each other, not the keys' of one row: maxima
        # and sums over keys are then those of whole vectors.
        room = self._room[:, : len(keys) * len(rows)].reshape(2, len(keys), len(rows))
        logs, exps = room.transpose(0, 2, 1)
        queries = self._layer.head_queries(head)[_as_slice(rows)].T
        turned = np.multiply(queries, np.float32(program.head_scale(head)), order="C")
        _multiply(self._layer.head_keys(head)[keys.start : keys.stop], turned, out=room[0])
        program.finish(logs, head, rows, num_queries, keys)
        _, sums, totals = program.exponentials(logs, head, out=exps)
        if program.adds:
            # No logarithm is -inf, so that its product with a weight of zero is zero.
            np.maximum(logs, _LEAST_LOG, out=logs)
        return RowBatch(rows, keys, exps, logs, sums, totals)


def batch_of_weights(weights: Floats, rows: NDArray[np.intp]) -> RowBatch:
    """The batch of weights [rows, Tk] that are known already."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    totals = np.ones(len(weights), np.float32)
    return RowBatch(rows, range(weights.shape[1]), weights, logs, weights.sum(axis=1), totals)


def _as_slice(rows: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """What reads the same rows, without a copy where they follow each other."""
    first, end = int(rows[0]), int(rows[-1]) + 1
    return slice(first, end) if end - first == len(rows) else rows


def _multiply(keys: Floats, queries: Floats, out: Floats) -> None:
    """Keys [keys, d] @ queries [d, rows], in pieces that OpenBLAS does not share out among threads.

    So small a product takes it longer to share out than to compute; on a machine that does
    something else too, many times as long.
    """
    size = max(1, _UNSHARED // queries.size)
    whole = len(keys) // size * size
    pieces = keys[:whole].reshape(-1, size, keys.shape[1])
    np.matmul(pieces, queries, out=out[:whole].reshape(-1, size, out.shape[1]))
    np.matmul(keys[whole:], queries, out=out[whole:])
