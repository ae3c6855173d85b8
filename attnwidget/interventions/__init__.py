"""Changes of a model's attention while it runs: heads off, edges cut."""

from .edits import Ablate, Intervention, KnockOut, Scale
from .intervene import intervene

__all__ = ["Ablate", "Intervention", "KnockOut", "Scale", "intervene"]
