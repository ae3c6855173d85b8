"""The mean and maximum attention over all heads of all layers, and the head of each maximum.

Without a softmax, it is that of the magnitudes of coefficients, as shares of their row: heads
differ in scale, and their signs are arbitrary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import checked
from attnwidget.record import A_STACK, Floats, Stack

# The weights of one head that are read at a time: two megabytes.
_CELLS = 1 << 19


class CombinedHeads(NamedTuple):
    """Every head of every layer as one.

    Attributes:
        mean, max: float32 [Tq, Tk].
        head: int32 [Tq, Tk], the first head with the maximum, counted through all layers from 0.
    """

    mean: Floats
    max: Floats
    head: NDArray[np.int32]


@checked(stack=A_STACK)
def combined_heads(stack: Stack) -> CombinedHeads:
    """Combine all heads of all layers."""
    shape = len(stack.queries), len(stack.keys)
    mean, largest = np.empty(shape, np.float32), np.zeros(shape, np.float32)
    strongest = np.zeros(shape, np.int32)
    heads = [(layer, head) for layer in stack.layers for head in range(layer.num_heads)]
    size = max(1, _CELLS // shape[1])
    for start in range(0, shape[0], size):
        rows = np.arange(start, min(start + size, shape[0]))
        part = slice(rows[0], rows[-1] + 1)
        maximum, total = largest[part], np.zeros((len(rows), shape[1]))
        for number, (layer, head) in enumerate(heads):
            weights = layer.head_shares(head, rows)
            total += weights
            strongest[part][weights > maximum] = number
            np.maximum(maximum, weights, out=maximum)
        mean[rows] = total / len(heads)
    return CombinedHeads(mean, largest, strongest)
