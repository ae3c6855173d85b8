"""The wire format: a record's manifest, overview, blocks and replies. `js/src/data` reads them."""

from .arcs import SentArc, encode_arcs
from .block import (
    Block,
    add_program,
    block_size,
    decode_floats,
    encode_block,
    encode_combined,
    encode_matrices,
)
from .comparison import compared_metrics, encode_comparison, joined_record, partner_stacks
from .examples import SentExamples, encode_examples
from .head_names import HeadNames, with_head_names
from .lenses import LensNumbers, SentLens, why_not_sent
from .manifest import decode_overview, encode_overview, encode_record
from .metrics import Metrics, SentMetric, encode_own_metrics
from .profile import encode_profile, heads_alone, profile_similarity
from .requests import Replies, check_link
from .rounding import BlockError
from .saved_effects import OffSet, SavedEffect, encode_effects, encode_links
from .similarity import SentSimilarity, encode_similarity

__all__ = [
    "Block",
    "BlockError",
    "HeadNames",
    "LensNumbers",
    "Metrics",
    "OffSet",
    "Replies",
    "SavedEffect",
    "SentArc",
    "SentExamples",
    "SentLens",
    "SentMetric",
    "SentSimilarity",
    "add_program",
    "block_size",
    "check_link",
    "compared_metrics",
    "decode_floats",
    "decode_overview",
    "encode_arcs",
    "encode_block",
    "encode_combined",
    "encode_comparison",
    "encode_effects",
    "encode_examples",
    "encode_links",
    "encode_matrices",
    "encode_overview",
    "encode_own_metrics",
    "encode_profile",
    "encode_record",
    "encode_similarity",
    "heads_alone",
    "joined_record",
    "partner_stacks",
    "profile_similarity",
    "why_not_sent",
    "with_head_names",
]
