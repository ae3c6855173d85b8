"""Changes of a model's attention while it runs: heads off, edges cut, and their effects."""

from .edits import Ablate, Intervention, KnockOut, Scale
from .effect import Change, Effect
from .intervene import ablate, intervene
from .rerun import Predicts, Rerun

__all__ = [
    "Ablate",
    "Change",
    "Effect",
    "Intervention",
    "KnockOut",
    "Predicts",
    "Rerun",
    "Scale",
    "ablate",
    "intervene",
]
