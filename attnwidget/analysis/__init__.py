"""Numbers and matrices of heads. Imports numpy only.

In come records; out come numbers of every head (`HeadScores`), matrices and other records. Open
`metrics.py` first, which has the numbers that every view takes. `lenses/` has other readings of a
weight, a file each, `levels.py` words and segments, `comparison.py` two records.
"""

from .alignment import Alignment, Pair, align
from .combined_heads import combined_heads
from .comparison import Comparison, PairChange, compare
from .head_difference import Difference
from .head_scores import HeadScore, HeadScores, Rows
from .head_summaries import HeadSummary, sampled_rows, summarize_heads
from .lenses import (
    ATTENTION,
    LENSES,
    BrowserLens,
    FactorLens,
    Lens,
    MatrixLens,
    OwnLenses,
    WhyNot,
    factors_of,
    flow,
    head_outputs,
    own_lenses,
    rollout,
    row_shares,
    value_norms,
    value_refusal,
    value_weighted,
    value_weighted_layer,
)
from .levels import Segment, by_segments, by_words
from .metrics import METRICS, HeadMetrics, Metric, Numbers
from .mixing import mixing_ratio
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
from .table import data_frame, metrics
from .token_metrics import ALL_METRICS
from .token_positions import positions

__all__ = [
    "ALL_METRICS",
    "ATTENTION",
    "LENSES",
    "METRICS",
    "PATTERNS",
    "RESTING_RULES",
    "RULES",
    "RULE_PATTERNS",
    "SINGLE_THREADED",
    "Alignment",
    "BrowserLens",
    "Comparison",
    "Difference",
    "FactorLens",
    "HeadMetrics",
    "HeadPattern",
    "HeadScore",
    "HeadScores",
    "HeadSummary",
    "Lens",
    "MatrixLens",
    "Metric",
    "Numbers",
    "OwnLenses",
    "Pair",
    "PairChange",
    "Pattern",
    "RowBatches",
    "Rows",
    "Rule",
    "Segment",
    "WhyNot",
    "align",
    "batch_of_weights",
    "by_segments",
    "by_words",
    "combined_heads",
    "compare",
    "data_frame",
    "factors_of",
    "flow",
    "head_outputs",
    "head_pattern",
    "metrics",
    "mixing_ratio",
    "own_lenses",
    "pattern_of",
    "positions",
    "rollout",
    "row_shares",
    "sampled_rows",
    "summarize_heads",
    "value_norms",
    "value_refusal",
    "value_weighted",
    "value_weighted_layer",
]
