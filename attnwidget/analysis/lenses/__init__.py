"""Readings of attention beside its weights: what they carry, and how they add up over layers."""

from .mixing import mixing_ratio
from .rollout import flow, rollout, rollout_refusal
from .scores import score_refusal
from .values import (
    head_outputs,
    norms_need,
    row_shares,
    value_norms,
    value_refusal,
    value_weighted,
    value_weighted_layer,
)

__all__ = [
    "flow",
    "head_outputs",
    "mixing_ratio",
    "norms_need",
    "rollout",
    "rollout_refusal",
    "row_shares",
    "score_refusal",
    "value_norms",
    "value_refusal",
    "value_weighted",
    "value_weighted_layer",
]
