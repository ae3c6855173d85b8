"""Which rows of a matrix to check, when checking all would cost too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROWS = 16


def sample_rows(count: int) -> NDArray[np.intp]:
    """Up to 16 of `count` rows, evenly spread, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, _ROWS)).round().astype(np.intp))
