"""What goes to the browser, as docs/protocol.md says it; `js/src/data` reads it.

In come records, profiles and comparisons, out go JSON and bytes. Open `manifest.py` first, which
has all that a view paints first; `block.py` has the arrays of a layer, `compression/` puts them
into few bytes within stated errors, and `requests.py` replies to a view while a kernel runs.
"""

from .arcs import SentArc, encode_arcs
from .block import (
    Block,
    block_size,
    encode_block,
    encode_combined,
    encode_matrices,
)
from .comparison import compared_metrics, encode_comparison, joined_record, partner_stacks
from .examples import SentExamples, encode_examples
from .head_names import HeadNames, with_head_names
from .lenses import LensNumbers, why_not_sent
from .manifest import decode_overview, encode_overview, encode_record
from .metrics import Metrics, SentMetric, encode_own_metrics
from .profile import SentSimilarity, encode_profile, encode_similarity, heads_alone
from .requests import Replies
from .saved_effects import OffSet, SavedEffect, encode_effects

__all__ = [
    "Block",
    "HeadNames",
    "LensNumbers",
    "Metrics",
    "OffSet",
    "Replies",
    "SavedEffect",
    "SentArc",
    "SentExamples",
    "SentMetric",
    "SentSimilarity",
    "block_size",
    "compared_metrics",
    "decode_overview",
    "encode_arcs",
    "encode_block",
    "encode_combined",
    "encode_comparison",
    "encode_effects",
    "encode_examples",
    "encode_matrices",
    "encode_overview",
    "encode_own_metrics",
    "encode_profile",
    "encode_record",
    "encode_similarity",
    "heads_alone",
    "joined_record",
    "partner_stacks",
    "why_not_sent",
    "with_head_names",
]
