"""Which rows of a matrix to check, when checking all would cost too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ALL = 64
_SAMPLE = 16


def sample_rows(count: int) -> NDArray[np.intp]:
    """All of up to 64 rows; of more, 16 evenly spread, the first and last among them."""
    rows = count if count <= _ALL else _SAMPLE
    spread: NDArray[np.intp] = np.linspace(0, count - 1, rows).round().astype(np.intp)
    return spread
