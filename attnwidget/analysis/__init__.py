"""Metrics, patterns, thumbnails and combinations of a record's heads. Imports numpy only."""

from .combined_heads import combined_heads
from .head_summaries import HeadSummary, sampled_rows, summarize_heads
from .metrics import METRICS, Metric
from .patterns import PATTERNS, Pattern, pattern_of
from .row_batches import SINGLE_THREADED, RowBatches

__all__ = [
    "METRICS",
    "PATTERNS",
    "SINGLE_THREADED",
    "HeadSummary",
    "Metric",
    "Pattern",
    "RowBatches",
    "combined_heads",
    "pattern_of",
    "sampled_rows",
    "summarize_heads",
]
