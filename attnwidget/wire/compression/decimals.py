"""The decimals of the weights of a compressed layer that are right, row by row."""

from __future__ import annotations

import numpy as np

from attnwidget.wire.block import Block
from attnwidget.wire.rounding import RIGHT_TO_THREE_DECIMALS, Difference

_MOST = 3


def add_decimals(block: Block, measured: Difference) -> None:
    """Add "decimals", i8 [heads, Tq], if not all weights are right to three decimals.

    Weights of a row with n decimals, -1 to 3, differ by up to half of 10**-n: rounded to n
    decimals, they are within one unit of the last one. Most rows of a layer are more exact than its
    worst one.
    """
    if measured.largest <= RIGHT_TO_THREE_DECIMALS:
        return
    right = [measured.rows <= 10.0**-decimals / 2 for decimals in range(_MOST + 1)]
    block.add("decimals", "i8", np.sum(right, axis=0) - 1)
