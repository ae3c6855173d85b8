"""Lenses: readings of attention beside its weights, a file each. `LENSES` lists them.

`lens.py` has the three kinds: computed in the browser, a factor of each head and key, and matrices.
"""

from .attention import ATTENTION, COEFFICIENTS, CONTRIBUTIONS, MAGNITUDES, reading, why_no_softmax
from .contribution import CONTRIBUTION, contribution_norms, contributions
from .lens import BrowserLens, FactorLens, Lens, MatrixLens, WhyNot, factors_of, row_shares
from .own import OwnLenses, own_lenses
from .rollout import ROLLOUT, flow, rollout
from .scores import SCORES
from .values import (
    VALUES,
    head_outputs,
    value_norms,
    value_refusal,
    value_weighted,
    value_weighted_layer,
)

LENSES: tuple[Lens, ...] = (ATTENTION, SCORES, VALUES, CONTRIBUTION, ROLLOUT)
"""In the order of menus."""

__all__ = [
    "ATTENTION",
    "COEFFICIENTS",
    "CONTRIBUTION",
    "CONTRIBUTIONS",
    "LENSES",
    "MAGNITUDES",
    "BrowserLens",
    "FactorLens",
    "Lens",
    "MatrixLens",
    "OwnLenses",
    "WhyNot",
    "contribution_norms",
    "contributions",
    "factors_of",
    "flow",
    "head_outputs",
    "own_lenses",
    "reading",
    "rollout",
    "row_shares",
    "value_norms",
    "value_refusal",
    "value_weighted",
    "value_weighted_layer",
    "why_no_softmax",
]
