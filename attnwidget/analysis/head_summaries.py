"""Thumbnails and metrics of every head of a layer, in one pass over batches of its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Layer, Stack, spread_rows

from .lenses import norms_need, value_norms
from .metrics import METRICS, HeadMetrics
from .row_batches import RowBatches
from .thumbnails import Thumbnails

# With more queries, a sample is read: of no more weights, in as many rows at most and at least.
_ALL_ROWS = 4096
_SAMPLED_WEIGHTS = _ALL_ROWS**2
_SAMPLED_ROWS = 256, 2048


@dataclass(frozen=True)
class HeadSummary:
    """The thumbnail and the metrics of one head.

    Attributes:
        levels: uint8 [min(Tq, 32), min(Tk, 32)].
        metrics: by name, to six decimals; 0 if no query is counted.
        weighted_levels: as `levels`, of the value-weighted shares of each row; None if the norms of
            values are not known.
    """

    levels: NDArray[np.uint8]
    metrics: dict[str, float]
    weighted_levels: NDArray[np.uint8] | None = None


def sampled_rows(num_queries: int) -> int | None:
    """The number of evenly spread queries that are read; None if all are.

    A summary takes as long for 65,000 tokens as for 4,000: the view opens as soon.
    """
    if num_queries <= _ALL_ROWS:
        return None
    least, most = _SAMPLED_ROWS
    return max(least, min(most, _SAMPLED_WEIGHTS // num_queries))


def summarize_heads(stack: Stack, layer: Layer) -> list[HeadSummary]:
    """Summarize every head of a layer of the stack."""
    num_queries = layer.shape[0]
    rows = spread_rows(num_queries, sampled_rows(num_queries) or num_queries)
    batches = RowBatches(layer, rows)
    is_self = stack.queries == stack.keys
    selected = {name: m for name, m in METRICS.items() if is_self or not m.self_only}
    norms = value_norms(layer) if norms_need(layer) is None else None
    splits = stack.queries.split, stack.keys.split
    summaries = []
    for heads in batches.groups:
        count = heads.stop - heads.start
        thumbnails, weighted = (Thumbnails(count, layer.shape, splits) for _ in range(2))
        metrics = HeadMetrics(selected, stack.keys)
        for batch in batches.of(heads):
            thumbnails.add(batch)
            metrics.add(batch)
            if norms is not None:
                weighted.add(batch.weighted(norms[heads]))
        # To more decimals than are shown, so that nothing is rounded twice.
        means = {name: each.round(6).tolist() for name, each in metrics.means(empty=0.0).items()}
        levels = thumbnails.levels()
        weighted_levels = None if norms is None else weighted.levels()
        for n in range(count):
            own = {name: each[n] for name, each in means.items()}
            by_value = None if weighted_levels is None else weighted_levels[n]
            summaries.append(HeadSummary(levels[n], own, by_value))
    step_done()
    return summaries
