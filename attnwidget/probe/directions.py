"""The direction in which a head links two words, and the choice of heads and directions."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.corpus import Estimate

from .shares import Shares
from .word_attention import Heads

Direction: TypeAlias = Literal["attends", "is attended to"]
"""The direction of a weight: the word attends to what is looked for, or is attended to by it."""

DIRECTIONS: tuple[Direction, Direction] = ("attends", "is attended to")


def best(shares: Shares) -> tuple[int, ...]:
    """The index of the highest share."""
    return tuple(int(i) for i in np.unravel_index(shares.values.argmax(), shares.values.shape))


def of_better_direction(chosen: Shares, scored: Shares, heads: Heads) -> Estimate:
    """The shares [layers, heads] of every head in the direction that was better before.

    Args:
        chosen: what tells the direction, [directions, layers, heads].
        scored: what is returned, of the same shape.
    """
    reverse = chosen.values[1] > chosen.values[0]
    found = scored.estimate()

    def picked(numbers: NDArray[Any]) -> Numbers:
        values: Numbers = np.where(heads.exists, np.where(reverse, numbers[1], numbers[0]), np.nan)
        return values

    counts = np.where(heads.exists, scored.count, 0)
    return Estimate(picked(found.mean), picked(found.low), picked(found.high), counts)


def as_metric(values: Estimate, null: Numbers, null_label: str) -> dict[str, Any]:
    """Numbers of all heads as one of the `metrics` of `attnwidget.show`."""
    return {
        "values": values.mean,
        "low": values.low,
        "high": values.high,
        "null": null,
        "null_label": null_label,
    }
