"""Thumbnails and metrics of every head of a layer, in one pass over weights never all held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Layer, Stack, spread_rows

from .metrics import METRICS, HeadMetrics
from .row_batches import RowBatches
from .thumbnails import Thumbnail

# Up to so many queries, all are read.
_ALL_ROWS = 4096
# Of more queries, a sample is read: 64 per row of a thumbnail.
_SAMPLED_ROWS = 2048


@dataclass(frozen=True)
class HeadSummary:
    """The thumbnail (levels [min(Tq, 32), min(Tk, 32)]) and the metrics of one head, by name."""

    levels: NDArray[np.uint8]
    metrics: dict[str, float]


def sampled_rows(num_queries: int) -> int | None:
    """How many queries, evenly spread, are read of so many; None if all are."""
    return None if num_queries <= _ALL_ROWS else _SAMPLED_ROWS


def summarize_heads(stack: Stack, layer: Layer) -> list[HeadSummary]:
    """The summary of every head of a layer, which belongs to the stack."""
    num_queries = layer.shape[0]
    rows = spread_rows(num_queries, sampled_rows(num_queries) or num_queries)
    batches = RowBatches(layer, rows)
    attends_to_itself = stack.queries == stack.keys
    meant = {
        name: metric
        for name, metric in METRICS.items()
        if attends_to_itself or not metric.self_only
    }
    heads = []
    for head in range(layer.num_heads):
        thumbnail = Thumbnail(layer.shape, (stack.queries.split, stack.keys.split))
        metrics = HeadMetrics(meant, stack.keys)
        for batch in batches.of(head):
            thumbnail.add(batch)
            metrics.add(batch)
        heads.append(HeadSummary(thumbnail.levels(), metrics.means()))
    step_done()
    return heads
