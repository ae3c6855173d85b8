"""Changes of a model's attention while it runs: heads off, edges cut, and their effects."""

from .all_heads import (
    ablation_scan,
    attention_gradients,
    head_importance,
    logit_attribution,
    prune_curve,
)
from .attention_gradients import AttentionGradients, LayerGradients
from .edits import Ablate, Intervention, KnockOut, Patch, Scale
from .effect import Change, Effect
from .head_outputs import HeadOutputs
from .intervene import ablate, head_outputs, intervene
from .links import NO_LINKS, CutLinks, Link
from .logit_attribution import LogitAttribution
from .prune_curve import Head, PruneCurve
from .rerun import Predicts, Rerun

__all__ = [
    "NO_LINKS",
    "Ablate",
    "AttentionGradients",
    "Change",
    "CutLinks",
    "Effect",
    "Head",
    "HeadOutputs",
    "Intervention",
    "KnockOut",
    "LayerGradients",
    "Link",
    "LogitAttribution",
    "Patch",
    "Predicts",
    "PruneCurve",
    "Rerun",
    "Scale",
    "ablate",
    "ablation_scan",
    "attention_gradients",
    "head_importance",
    "head_outputs",
    "intervene",
    "logit_attribution",
    "prune_curve",
]
