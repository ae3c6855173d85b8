"""Shares of decisions that are right, with intervals from a bootstrap over texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnwidget.analysis import Numbers
from attnwidget.corpus.accumulators import (
    REPLICATES,
    Estimate,
    bootstrap_copies,
    bootstrap_estimate,
)

# The texts whose decisions are added at once.
_TOGETHER = 64


@dataclass(frozen=True)
class Share:
    """A share of decisions, with the ends of its 95% interval, all from 0 to 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


class Shares:
    """Shares of some kinds of decisions over texts: each decision counts once.

    The bootstrap is that of `Means`: it draws texts, not decisions, since those of one text go
    together.

    Args:
        seed: of the bootstrap; None to do without intervals, where shares are only compared.
    """

    def __init__(self, shape: tuple[int, ...], seed: int | None) -> None:
        self._seed = seed
        size = 1 if seed is None else 1 + REPLICATES
        self._sums = np.zeros((size, *shape))
        self._counts = np.zeros(size)
        self._texts = 0
        # (copies of a text, hits, count) that are not in the sums yet.
        self._waiting: list[tuple[Numbers, Numbers, int]] = []

    def add(self, index: int, hits: ArrayLike, count: int) -> None:
        """Add the decisions of a text.

        Args:
            index: of the text.
            hits: the decisions that are right, of each kind.
            count: the decisions, the same for all kinds.
        """
        copies = np.ones(1) if self._seed is None else bootstrap_copies(self._seed, index)
        self._waiting.append((copies, np.asarray(hits, np.float64), count))
        self._texts += 1
        if len(self._waiting) == _TOGETHER:
            self._sum()

    def _sum(self) -> None:
        """Add what is waiting: together, because each text alone would write all sums anew."""
        if not self._waiting:
            return
        copies, hits, counts = map(np.array, zip(*self._waiting, strict=True))
        self._sums += np.tensordot(copies, hits, axes=(0, 0))
        self._counts += counts @ copies
        self._waiting.clear()

    @property
    def count(self) -> int:
        """The number of decisions."""
        self._sum()
        return int(self._counts[0])

    @property
    def values(self) -> Numbers:
        """The shares; NaN if there are no decisions."""
        self._sum()
        values: Numbers = self._sums[0] / (self._counts[0] or np.nan)
        return values

    def estimate(self, at: tuple[Any, ...] = ()) -> Estimate:
        """The shares, or those at an index, with their intervals.

        The ends are NaN if there are less than two texts.
        """
        self._sum()
        index = (slice(None), *at)
        sums = self._sums[index]
        counts = self._counts.reshape(-1, *[1] * (sums.ndim - 1))
        return bootstrap_estimate(sums, counts, self._texts > 1)

    def share(self, *at: int) -> Share:
        """The share of one kind."""
        found = self.estimate(at)
        return Share(float(found.mean), float(found.low), float(found.high))
