"""Thumbnails and metrics of every head of a layer, in one pass over batches of its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Layer, Stack, spread_rows

from .metrics import METRICS, HeadMetrics
from .row_batches import RowBatches
from .thumbnails import Thumbnail

# With more queries, a sample is read: 64 per row of a thumbnail.
_ALL_ROWS = 4096
_SAMPLED_ROWS = 2048


@dataclass(frozen=True)
class HeadSummary:
    """The thumbnail and the metrics of one head.

    Attributes:
        levels: uint8 [min(Tq, 32), min(Tk, 32)].
        metrics: by name, to four decimals; 0 if no query is counted.
    """

    levels: NDArray[np.uint8]
    metrics: dict[str, float]


def sampled_rows(num_queries: int) -> int | None:
    """The number of evenly spread queries that are read; None if all are."""
    return None if num_queries <= _ALL_ROWS else _SAMPLED_ROWS


def summarize_heads(stack: Stack, layer: Layer) -> list[HeadSummary]:
    """Summarize every head of a layer of the stack."""
    num_queries = layer.shape[0]
    rows = spread_rows(num_queries, sampled_rows(num_queries) or num_queries)
    batches = RowBatches(layer, rows)
    is_self = stack.queries == stack.keys
    selected = {name: m for name, m in METRICS.items() if is_self or not m.self_only}
    heads = []
    for head in range(layer.num_heads):
        thumbnail = Thumbnail(layer.shape, (stack.queries.split, stack.keys.split))
        metrics = HeadMetrics(selected, stack.keys)
        for batch in batches.of(head):
            thumbnail.add(batch)
            metrics.add(batch)
        means = {name: round(float(mean), 4) for name, mean in metrics.means(empty=0.0).items()}
        heads.append(HeadSummary(thumbnail.levels(), means))
    step_done()
    return heads
