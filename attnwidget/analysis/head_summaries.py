"""Thumbnails and metrics of every head of a layer, in one pass over batches of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Floats, Layer, Stack, spread_rows

from .metrics import HeadMetrics, metrics_of
from .row_batches import RowBatches
from .thumbnails import SignedThumbnails, Thumbnails

# With more queries, a sample is read: of no more weights, in as many rows at most and at least.
_ALL_ROWS = 4096
_SAMPLED_WEIGHTS = _ALL_ROWS**2
_SAMPLED_ROWS = 256, 2048


@dataclass(frozen=True)
class HeadSummary:
    """The thumbnail and the metrics of one head.

    Attributes:
        levels: uint8 [min(Tq, 32), min(Tk, 32)], 0 to 15; without a softmax 1 to 15, where 8 is
            zero, see `thumbnails.signed_levels`.
        metrics: by name, to six decimals; 0 if no query is counted.
        by_factor: as `levels`, of weights times each factor, as shares of their row.
        peak: the largest magnitude of a coefficient, which has level 1 or 15; None with a softmax.
    """

    levels: NDArray[np.uint8]
    metrics: dict[str, float]
    by_factor: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    peak: float | None = None


def sampled_rows(num_queries: int) -> int | None:
    """The number of evenly spread queries that are read; None if all are.

    A summary takes as long for 65,000 tokens as for 4,000: the view opens as soon.
    """
    if num_queries <= _ALL_ROWS:
        return None
    least, most = _SAMPLED_ROWS
    return max(least, min(most, _SAMPLED_WEIGHTS // num_queries))


def summarize_heads(
    stack: Stack, layer: Layer, factors: Mapping[str, Floats] | None = None
) -> list[HeadSummary]:
    """Summarize every head of a layer of the stack.

    Args:
        factors: [heads, Tk], by name: see `attnwidget.analysis.FactorLens`.
    """
    factors = {} if factors is None else factors
    num_queries = layer.shape[0]
    rows = spread_rows(num_queries, sampled_rows(num_queries) or num_queries)
    batches = RowBatches(layer, rows)
    defined = metrics_of(stack)
    splits = stack.queries.split, stack.keys.split
    summaries = []
    for heads in batches.groups:
        count = heads.stop - heads.start
        kind = SignedThumbnails if layer.signed else Thumbnails
        thumbnails = kind(count, layer.shape, splits)
        weighted = {name: Thumbnails(count, layer.shape, splits) for name in factors}
        metrics = HeadMetrics(defined, stack.keys)
        for batch in batches.of(heads):
            thumbnails.add(batch)
            metrics.add(batch)
            for name, own in weighted.items():
                own.add(batch.weighted(factors[name][heads]))
        # To more decimals than are shown, so that nothing is rounded twice.
        means = {name: each.round(6).tolist() for name, each in metrics.means(empty=0.0).items()}
        levels = thumbnails.levels()
        peaks: list[float | None] = [None] * count
        if isinstance(thumbnails, SignedThumbnails):
            peaks = [*thumbnails.peaks.tolist()]
        by_factor = {name: own.levels() for name, own in weighted.items()}
        for n in range(count):
            numbers = {name: each[n] for name, each in means.items()}
            shares = {name: each[n] for name, each in by_factor.items()}
            summaries.append(HeadSummary(levels[n], numbers, shares, peaks[n]))
    step_done()
    return summaries
