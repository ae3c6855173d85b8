"""The difference between the weights of two heads, on the tokens that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, magnitude_shares

# The weights of one head that are read at a time: two megabytes.
_CELLS = 1 << 19


class Difference(NamedTuple):
    """The difference between the weights of two heads, or between their coefficients.

    Attributes:
        moved: the share of attention that lies elsewhere: half the sum of |b - a| of a row, the
            mean over queries, from 0 to 1; without a softmax, of the magnitudes of coefficients as
            shares of their row, as the divergence.
        divergence: the Jensen-Shannon divergence of two rows, each scaled to the sum 1, in nats,
            the mean over queries, from 0 to log 2.
        cosine: of all weights of a and b as vectors (Kovaleva et al. 2019, figure 5), from 0 to 1;
            of coefficients from -1.
        weight_change: the mean of |b - a| over all pairs of a query and a key.
    """

    moved: float
    divergence: float
    cosine: float
    weight_change: float


class Side(NamedTuple):
    """A head of one record, and the tokens of it that are compared.

    Attributes:
        layer, head: the head.
        queries, keys: ranges of positions, each of which counts as one.
    """

    layer: Layer
    head: int
    queries: Sequence[range]
    keys: Sequence[range]


def paired_weights(a: Side, b: Side) -> Iterator[tuple[Floats, Floats]]:
    """The numbers of two heads, each float32 [some queries, keys], some queries at a time."""
    size = max(1, _CELLS // max(a.layer.shape[1], b.layer.shape[1]))
    for start in range(0, len(a.queries), size):
        some = slice(start, start + size)
        yield (
            joined_weights(a.layer, a.head, a.queries[some], a.keys),
            joined_weights(b.layer, b.head, b.queries[some], b.keys),
        )


def joined_weights(
    layer: Layer, head: int, queries: Sequence[range], keys: Sequence[range]
) -> Floats:
    """The numbers of a head, averaged over ranges of queries and summed over ranges of keys."""
    rows = np.concatenate([np.arange(each.start, each.stop) for each in queries])
    summed = _sums(layer.head_numbers(head, rows), keys)
    counts = np.array([len(each) for each in queries])
    if (counts == 1).all():
        return summed
    totals = np.add.reduceat(summed, np.cumsum(counts) - counts, axis=0)
    means: Floats = np.divide(totals, counts[:, None], dtype=np.float32)
    return means


def _sums(weights: Floats, keys: Sequence[range]) -> Floats:
    if all(len(each) == 1 for each in keys):
        picked: Floats = weights[:, [each.start for each in keys]]
        return picked
    return np.stack([weights[:, each.start : each.stop].sum(axis=1) for each in keys], axis=1)


def head_difference(a: Side, b: Side) -> Difference:
    """Measure how far the weights of two heads differ, or their coefficients."""
    changed = moved = divergence = products = squares_a = squares_b = 0.0
    scaled = 0
    for single_a, single_b in paired_weights(a, b):
        rows_a, rows_b = single_a.astype(np.float64), single_b.astype(np.float64)
        changed += float(np.abs(rows_b - rows_a).sum())
        products += float((rows_a * rows_b).sum())
        squares_a += float((rows_a * rows_a).sum())
        squares_b += float((rows_b * rows_b).sum())
        if a.layer.signed:
            rows_a, rows_b = magnitude_shares(rows_a), magnitude_shares(rows_b)
        moved += float(np.abs(rows_b - rows_a).sum())
        seen = (rows_a.sum(axis=1) > 0) & (rows_b.sum(axis=1) > 0)
        divergence += float(_divergences(rows_a[seen], rows_b[seen]).sum())
        scaled += int(seen.sum())
    norm = np.sqrt(squares_a * squares_b)
    return Difference(
        moved / 2 / len(a.queries),
        divergence / scaled if scaled else np.nan,
        products / norm if norm > 0 else np.nan,
        changed / (len(a.queries) * len(a.keys)),
    )


def _divergences(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Jensen-Shannon divergence of each row of two arrays, scaled to the sum 1."""
    a = a / a.sum(axis=1, keepdims=True)
    b = b / b.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = _entropies((a + b) / 2) - (_entropies(a) + _entropies(b)) / 2
    return np.maximum(found, 0)


def _entropies(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    entropies: NDArray[np.float64] = -(rows * logs).sum(axis=1)
    return entropies
