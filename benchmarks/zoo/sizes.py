"""Limits of a configuration's fields, by name.

Sizes that have to agree or divide each other have few values: every width is 64, so that it
divides into 4 heads of 16, and everything that is counted in layers is 2.
"""

from __future__ import annotations

import re
from typing import Any

from .ids import VOCABULARY

# The first pattern that fits a whole name decides.
_LARGEST = [
    (re.compile(pattern), largest)
    for pattern, largest in [
        (r"(.*_)?vocab(ulary)?_size(_.*)?|num_embeddings", VOCABULARY),
        (r"(.*_)?(max|n|num|target|source)_(\w+_)?(position(_embedding)?s|ctx)", 128),
        (r"(max_)?(context|seq(uence)?)_len(gth)?|max_(text|speech)_positions", 128),
        (r"(.*_)?(kv|key_value)_(\w+_)?heads(_.*)?|(.*_)?num_query_groups", 2),
        (r"(.*_)?(n|num|attention)_(\w+_)?heads?|n_heads?|nhead|(.*_)?attention_heads", 4),
        (r"(.*_)?(layers|layer|depth|blocks|n_layers?|self_attends_per_block)", 2),
        (r"(.*_)?(n|num)_(\w+_)?experts|(.*_)?experts", 4),
        (r"(.*_)?(experts_per_tok(en)?|topk|top_k_experts|num_selects)", 2),
        (r"n_group|num_(expert_)?groups?", 2),
        (r"topk_group", 1),
        (r"rotary_dim", 8),
        (r"qk_head_dim", 32),
        (r"(.*_)?(head_dim|d_kv|kv_channels|d_head|head_size|key_dim)", 16),
        (r"(.*_)?(sliding_window|window_size|attention_window|local_attention)(_.*)?", 8),
        (r"(.*_)?patch_size", 8),
        (r"(.*_)?(image|crop)_size", 32),
        (r"(.*_)?(num_)?(queries|query_tokens|latents|detection_tokens)", 8),
        (
            r"(.*_)?(hidden|width|dim|dims|size|features?|channels|units|d_model|n_embd|dim_\w+)"
            r"|d_(model|ff|inner|latents)|(.*_)?(lora_rank|filters)",
            64,
        ),
    ]
]
# Sizes of the data, and sizes from which others are derived.
_KEPT = re.compile(
    r"num_channels|in_channels|.*kernel.*|.*stride.*|.*(chunk|sampling|hop|frame|step|merge)_size"
    r"|num_mel_bins|n_mels|type_vocab_size|input_size|spatial_merge_size|temporal_patch_size"
)


def small(name: str, value: Any) -> Any:
    """The value, or the largest that a field of this name may have. Lists of sizes stay."""
    if name in ("image_size", "patch_size") and isinstance(value, (list, tuple)):
        return type(value)(small(name, side) for side in value)
    if not isinstance(value, int) or isinstance(value, bool) or _KEPT.fullmatch(name):
        return value
    return min(value, next((most for fits, most in _LARGEST if fits.fullmatch(name)), value))
