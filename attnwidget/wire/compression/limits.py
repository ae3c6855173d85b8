"""Limits of the attention that the rounding of a layer may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from attnwidget.wire.rounding import RIGHT_TO_THREE_DECIMALS, Difference

Quality = Literal["draft", "compact", "default", "exact"]


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


def check_quality(quality: str) -> None:
    """Raise a ValueError if there is no such quality."""
    names = get_args(Quality)
    if quality not in names:
        raise ValueError(f"quality is {quality!r}; expected one of {', '.join(map(repr, names))}")
