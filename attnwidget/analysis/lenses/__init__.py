"""Readings of attention beside its weights: what they carry, and how they add up over layers."""

from .mixing import mixing_ratio
from .rollout import flow, rollout, rollout_refusal
from .values import (
    head_outputs,
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
    "rollout",
    "rollout_refusal",
    "row_shares",
    "value_norms",
    "value_refusal",
    "value_weighted",
    "value_weighted_layer",
]
