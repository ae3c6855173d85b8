"""Samples of the rows of a matrix that is too large to be read whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ALL = 64
_SAMPLE = 16


def sample_rows(count: int) -> NDArray[np.intp]:
    """All of up to 64 rows; of more, 16 evenly spread ones, with the first and the last."""
    return np.arange(count) if count <= _ALL else spread_rows(count, _SAMPLE)


def spread_rows(count: int, wanted: int) -> NDArray[np.intp]:
    """`wanted` of `count` rows, evenly spread, with the first and the last."""
    spread: NDArray[np.intp] = np.linspace(0, count - 1, wanted).round().astype(np.intp)
    return spread
