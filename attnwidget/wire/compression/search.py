"""The coarsest step that keeps a layer's attention within a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from attnwidget.record import Layer
from attnwidget.wire.rounding import BlockError

from .errors import weights_error

_Sent = TypeVar("_Sent")

_SAMPLE_ROWS = 24
_SAMPLE_ROUNDS = 4
_ROUNDS = 6
# Of the bound: what is aimed at, and what is near enough.
_AIM = 0.993
_NEAR = 0.985


def coarsest(
    layer: Layer,
    limit: float,
    first: float,
    largest: float,
    sent: Callable[[float], tuple[_Sent, Layer]],
) -> tuple[_Sent, Layer, BlockError] | None:
    """What is sent at the largest step found whose mean total variation is within `limit`.

    The bound holds over all rows. The error grows about as the step does, so that each round
    corrects the step by what the one before measured: first on sample rows, then on all.

    Args:
        first: the step to begin with.
        largest: no step is larger than this.
        sent: (what is sent, the layer as received) at a step.

    Returns:
        None if no step tried is fine enough.
    """
    rows = np.unique(np.linspace(0, layer.shape[0] - 1, _SAMPLE_ROWS).round().astype(np.intp))
    step = min(first, largest)
    for _ in range(_SAMPLE_ROUNDS):
        error = weights_error(layer, sent(step)[1], rows)
        step = _corrected(step, error, limit, largest)
    best: tuple[_Sent, Layer, BlockError] | None = None
    fine, coarse = 0.0, float("inf")
    for _ in range(_ROUNDS):
        what, received = sent(step)
        error = weights_error(layer, received)
        if error["variation"] <= limit:
            best, fine = (what, received, error), step
            if step == largest or error["variation"] >= _NEAR * limit:
                break
        else:
            coarse = step
        step = _corrected(step, error, limit, largest)
        if not fine < step < coarse:
            step = float(np.sqrt(fine * coarse))
    return best


def _corrected(step: float, error: BlockError, limit: float, largest: float) -> float:
    factor = _AIM * limit / max(error["variation"], limit / 100)
    return min(step * float(np.clip(factor, 0.05, 8)), largest)
