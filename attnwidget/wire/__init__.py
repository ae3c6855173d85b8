"""The wire format: a record's manifest, overview, blocks and replies. `js/src/data` reads them."""

from .block import (
    Block,
    add_program,
    block_size,
    decode_floats,
    encode_block,
    encode_combined,
    encode_rollout,
    rollout_fits,
)
from .manifest import decode_overview, encode_overview
from .metrics import Metrics, SentMetric, encode_own_metrics
from .requests import Replies
from .rounding import BlockError
from .similarity import SentSimilarity, encode_similarity

__all__ = [
    "Block",
    "BlockError",
    "Metrics",
    "Replies",
    "SentMetric",
    "SentSimilarity",
    "add_program",
    "block_size",
    "decode_floats",
    "decode_overview",
    "encode_block",
    "encode_combined",
    "encode_overview",
    "encode_own_metrics",
    "encode_rollout",
    "encode_similarity",
    "rollout_fits",
]
