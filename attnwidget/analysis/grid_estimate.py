"""GridEstimate: a grid of estimates, and the exact numbers of some of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .grid_scores import GridScores
from .metrics import Numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class GridEstimate(GridScores):
    """A grid of estimates, and the exact numbers of some of its cells.

    Attributes:
        exact: by patching, float64 [rows, columns]; NaN where none was measured.
        agreement: Spearman's rank correlation of estimates and exact numbers; NaN where it is not
            known, or one of them is the same for all of these cells.
    """

    exact: Numbers = field(repr=False, kw_only=True)

    @property
    def agreement(self) -> float:
        known = ~np.isnan(self.exact)
        return rank_correlation(self.values[known], self.exact[known])

    def __repr__(self) -> str:
        checked = int((~np.isnan(self.exact)).sum())
        told = f"; rank agreement {self.agreement:.2f} with {checked} exact cells"
        own = super().__repr__().replace("<GridScores", "<GridEstimate")
        return own[:-1] + (told if checked else "") + ">"

    def table(self) -> pd.DataFrame:
        """The numbers as a table of pandas, as of `GridScores`, and a column `exact`.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        return super().table().assign(exact=self.exact.ravel())


def rank_correlation(a: Numbers, b: Numbers) -> float:
    """Spearman's rank correlation, equal numbers at the mean of their ranks; NaN if unknown."""
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(numbers: Numbers) -> Numbers:
    less = (numbers[:, None] > numbers).sum(axis=1)
    equal = (numbers[:, None] == numbers).sum(axis=1)
    ranks: Numbers = less + (equal - 1) / 2
    return ranks
