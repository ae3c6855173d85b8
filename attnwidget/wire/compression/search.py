"""Search for the coarsest rounding step that keeps a layer's attention within a limit."""

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
# The target of the search, and the error at which it ends, as shares of the limit.
_AIM = 0.993
_NEAR = 0.985


def coarsest(
    layer: Layer,
    limit: float,
    first: float,
    largest: float,
    sent: Callable[[float], tuple[_Sent, Layer]],
) -> tuple[_Sent, Layer, BlockError] | None:
    """Find the largest step whose mean total variation over all rows is within `limit`.

    The error is about proportional to the step, so each round corrects the step by the measured
    error: first on sample rows, then on all.

    Args:
        first: the first step to try.
        largest: the largest step allowed.
        sent: step -> (the encoded layer, the layer as received).

    Returns:
        (the encoded layer, the layer as received, its error), or None if every step is too coarse.
    """
    rows = np.unique(np.linspace(0, layer.shape[0] - 1, _SAMPLE_ROWS).round().astype(np.intp))
    step = min(first, largest)
    for _ in range(_SAMPLE_ROUNDS):
        error = weights_error(layer, sent(step)[1], rows)
        step = _corrected(step, error, limit, largest)
    best: tuple[_Sent, Layer, BlockError] | None = None
    fine, coarse = 0.0, float("inf")
    for _ in range(_ROUNDS):
        encoded, received = sent(step)
        error = weights_error(layer, received)
        if error["variation"] <= limit:
            best, fine = (encoded, received, error), step
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
