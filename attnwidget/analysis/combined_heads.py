"""The mean and maximum attention over all heads of all layers."""

from __future__ import annotations

import numpy as np

from attnwidget.record import Floats, Stack

# The weights of one head that are read at a time: two megabytes.
_CELLS = 1 << 19


def combined_heads(stack: Stack) -> tuple[Floats, Floats]:
    """(mean, max) over all heads of all layers, float32 [Tq, Tk] each."""
    shape = len(stack.queries), len(stack.keys)
    mean, largest = np.empty(shape, np.float32), np.zeros(shape, np.float32)
    heads = [(layer, head) for layer in stack.layers for head in range(layer.num_heads)]
    size = max(1, _CELLS // shape[1])
    for start in range(0, shape[0], size):
        rows = np.arange(start, min(start + size, shape[0]))
        maximum, total = largest[rows[0] : rows[-1] + 1], np.zeros((len(rows), shape[1]))
        for layer, head in heads:
            weights = layer.head_weights(head, rows)
            total += weights
            np.maximum(maximum, weights, out=maximum)
        mean[rows] = total / len(heads)
    return mean, largest
