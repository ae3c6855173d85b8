"""Every head of every layer, as one matrix."""

from __future__ import annotations

import numpy as np

from attnwidget.record import Floats, Stack


def combined(stack: Stack) -> tuple[Floats, Floats]:
    """(mean, max) over every head of every layer, float32 [Tq, Tk] each."""
    shape = len(stack.queries), len(stack.keys)
    total, largest = np.zeros(shape), np.zeros(shape, np.float32)
    heads = 0
    for layer in stack.layers:
        for head in range(layer.num_heads):
            weights = layer.head_weights(head)
            total += weights
            np.maximum(largest, weights, out=largest)
            heads += 1
    return (total / heads).astype(np.float32), largest
