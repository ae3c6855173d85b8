"""A head's matrix, a few rows at a time: small enough to stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, ScoreProgram

# Numbers of one array of a chunk: a megabyte.
_CELLS = 1 << 18
# With fewer rows, what numpy does across keys would be slow.
_LEAST_ROWS = 64

# Up to so many multiplications, OpenBLAS uses one thread.
_UNSHARED = 1 << 18

# The exponential of anything less is zero, in single precision.
_LEAST_LOG = np.float32(-104)


@dataclass(frozen=True)
class Chunk:
    """Attention weights of some queries, before they are divided by the rows' totals.

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


def chunks(layer: Layer, head: int, rows: NDArray[np.intp]) -> Iterator[Chunk]:
    """These rows of a head, in order."""
    size = max(_LEAST_ROWS, _CELLS // layer.shape[1])
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        if layer.program is None:
            yield chunk_of_weights(layer.head_weights(head, some), some)
        else:
            yield _chunk_of_scores(layer, layer.program, head, some)


def chunk_of_weights(weights: Floats, rows: NDArray[np.intp]) -> Chunk:
    """The chunk of weights [rows, Tk] that are known already."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    totals = np.ones(len(weights), np.float32)
    return Chunk(rows, range(weights.shape[1]), weights, logs, weights.sum(axis=1), totals)


def _chunk_of_scores(
    layer: Layer, program: ScoreProgram, head: int, rows: NDArray[np.intp]
) -> Chunk:
    num_queries, num_keys = layer.shape
    keys = program.reach(rows, num_keys)
    queries = layer.head_queries(head)[rows] * np.float32(program.head_scale(head))
    # In memory, the rows' values of one key follow each other, not the keys' of one row: maxima
    # and sums over keys are then those of whole vectors.
    logs: Floats = _products(layer.head_keys(head)[keys.start : keys.stop], queries).T
    program.finish(logs, head, rows, num_queries, keys)
    sink = np.float32(-np.inf) if program.sinks is None else program.sinks[head]
    peaks = np.maximum(logs.max(axis=1), sink)
    peaks[~np.isfinite(peaks)] = 0
    logs -= peaks[:, None]
    if program.adds:
        # No logarithm is -inf, so that its product with a weight of zero is zero.
        np.maximum(logs, _LEAST_LOG, out=logs)
    exps: Floats = np.exp(logs)
    sums = exps.sum(axis=1)
    totals = sums + np.exp(sink - peaks)
    totals[totals == 0] = 1
    return Chunk(rows, keys, exps, logs, sums, totals)


def _products(keys: Floats, queries: Floats) -> Floats:
    """Keys @ queries.T, in pieces that OpenBLAS does not share out among threads.

    So small a product takes it longer to share out than to compute; on a machine that does
    something else too, many times as long.
    """
    turned = np.ascontiguousarray(queries.T)
    products = np.empty((len(keys), len(queries)), np.float32)
    size = max(1, _UNSHARED // turned.size)
    whole = len(keys) // size * size
    pieces = keys[:whole].reshape(-1, size, keys.shape[1])
    np.matmul(pieces, turned, out=products[:whole].reshape(-1, size, len(queries)))
    np.matmul(keys[whole:], turned, out=products[whole:])
    return products
