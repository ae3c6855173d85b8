"""Changes of a model's attention while it runs: heads off, edges cut, and their effects."""

from .all_heads import attention_gradients, head_importance
from .attention_gradients import AttentionGradients, LayerGradients
from .edits import Ablate, Intervention, KnockOut, Scale
from .effect import Change, Effect
from .head_scores import HeadScore, HeadScores, StackHeads
from .intervene import ablate, intervene

__all__ = [
    "Ablate",
    "AttentionGradients",
    "Change",
    "Effect",
    "HeadScore",
    "HeadScores",
    "Intervention",
    "KnockOut",
    "LayerGradients",
    "Scale",
    "StackHeads",
    "ablate",
    "attention_gradients",
    "head_importance",
    "intervene",
]
