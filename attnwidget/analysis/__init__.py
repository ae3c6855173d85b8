"""Metrics, patterns, thumbnails and combinations of a record's heads. Imports numpy only."""

from .combined_heads import combined_heads
from .head_summaries import HeadSummary, sampled_rows, summarize_heads
from .metrics import METRICS, HeadMetrics, Metric, Numbers
from .patterns import (
    PATTERNS,
    RESTING_RULES,
    RULE_PATTERNS,
    RULES,
    HeadPattern,
    Pattern,
    Rule,
    head_pattern,
    pattern_of,
)
from .row_batches import SINGLE_THREADED, RowBatches, batch_of_weights
from .table import data_frame, metrics_table
from .token_metrics import ALL_METRICS

__all__ = [
    "ALL_METRICS",
    "METRICS",
    "PATTERNS",
    "RESTING_RULES",
    "RULES",
    "RULE_PATTERNS",
    "SINGLE_THREADED",
    "HeadMetrics",
    "HeadPattern",
    "HeadSummary",
    "Metric",
    "Numbers",
    "Pattern",
    "RowBatches",
    "Rule",
    "batch_of_weights",
    "combined_heads",
    "data_frame",
    "head_pattern",
    "metrics_table",
    "pattern_of",
    "sampled_rows",
    "summarize_heads",
]
