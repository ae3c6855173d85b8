"""Limits of the attention that rounding may change, and the coarsest step within them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnwidget.record import Layer, spread_rows
from attnwidget.wire.rounding import RIGHT_TO_THREE_DECIMALS, Comparison, Difference

Quality = Literal["draft", "compact", "default", "exact"]

_SAMPLE_ROWS = 64
# Comparisons of all rows. Usually the second is the last.
_ROUNDS = 6
# The share of the limits that a step aims at, and from which on it is accepted. The largest
# difference is that of a few weights, and depends on how they happen to be rounded.
_AIM, _ENOUGH = 0.975, 0.94
_AIM_OF_LARGEST, _ENOUGH_OF_LARGEST = 0.8, 0.6


@dataclass(frozen=True)
class Limits:
    """Limits of a layer's rounding.

    Attributes:
        variation: of the mean total variation of a row, the share of its attention that moves to
            other keys.
        largest: of the difference of a weight.
    """

    variation: float
    largest: float = 1.0

    def used(self, difference: Difference) -> float:
        """The share of the limits that a difference takes: up to 1, it is within them."""
        return max(difference.variation / self.variation, difference.largest / self.largest)

    def binds_largest(self, difference: Difference) -> bool:
        """True if the largest difference takes more of its limit than the variation."""
        return difference.largest / self.largest > difference.variation / self.variation


DRAFT = Limits(0.02)
COMPACT = Limits(0.0075)
FINE = Limits(COMPACT.variation, RIGHT_TO_THREE_DECIMALS)
# The errors of two weights add up in their difference.
FINE_DIFFERENCES = Limits(FINE.variation, FINE.largest / 2)

LIMITS: dict[Quality, Limits | None] = {"draft": DRAFT, "compact": COMPACT, "exact": None}
"""Limits by quality; "default" has those of COMPACT where finer ones do not fit."""


def coarsest(
    layer: Layer,
    limits: Limits,
    first: float,
    largest: float,
    sent: Callable[[float], Layer],
) -> tuple[float, Difference] | None:
    """Find the largest step with which the differences over all rows are within the limits.

    Differences are about proportional to the step, so each round corrects the step by the measured
    ones: in a long text first on sample rows, then on all.

    Args:
        first: the first step to try.
        largest: the largest step allowed.
        sent: step -> the layer as the browser decodes it.

    Returns:
        (the step, its difference), or None if every step is too coarse.
    """
    num_queries = layer.shape[0]
    step = min(first, largest)
    if num_queries > 2 * _SAMPLE_ROWS:
        sample = Comparison(layer, spread_rows(num_queries, _SAMPLE_ROWS))
        for _ in range(2):
            before = step
            step = _corrected(step, sample.difference(sent(step)), limits, largest)
            if 0.5 < step / before < 2:
                break
    whole = Comparison(layer, np.arange(num_queries))
    best: tuple[float, Difference] | None = None
    fine, coarse = 0.0, float("inf")
    for _ in range(_ROUNDS):
        measured = whole.difference(sent(step))
        used = limits.used(measured)
        if used <= 1:
            best, fine = (step, measured), step
            enough = _ENOUGH_OF_LARGEST if limits.binds_largest(measured) else _ENOUGH
            if step == largest or used >= enough:
                break
        else:
            coarse = step
        step = _corrected(step, measured, limits, largest)
        if not fine < step < coarse:
            step = float(np.sqrt(fine * coarse))
    return best


def _corrected(step: float, measured: Difference, limits: Limits, largest: float) -> float:
    aim = _AIM_OF_LARGEST if limits.binds_largest(measured) else _AIM
    factor = aim / max(limits.used(measured), 0.01)
    return min(step * float(np.clip(factor, 0.05, 8)), largest)
