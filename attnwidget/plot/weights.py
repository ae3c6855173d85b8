"""The matrices of the head view: of single heads or of several as one, between tokens or words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attnwidget.analysis import combined_heads
from attnwidget.record import Floats
from attnwidget.view_state import combination

from .shown import Shown, Side, TokenAxes

_COMBINED = {"mean": "Mean", "max": "Largest"}


@dataclass(frozen=True)
class ShownMatrix:
    """A matrix as it is shown.

    Attributes:
        head: the head whose colour it has; None where it is of several.
        weights: computes the matrix, float32 [query units, key units].
    """

    name: str
    head: int | None
    weights: Callable[[], Floats]


def shown_matrices(shown: Shown) -> list[ShownMatrix]:
    """The heads that are switched on, each or together, or every head of every layer as one."""
    together = combination(shown.combine)
    if together and together.over == "layers":
        return [_of_stack(shown, together.how == "max")]
    matrices = [head_matrix(shown, head) for head in shown.drawn_heads]
    if together is None:
        return matrices
    how = together.how
    what = f"head {matrices[0].head}" if len(matrices) == 1 else f"{len(matrices)} heads"
    fold = np.add if how == "mean" else np.maximum

    def weights() -> Floats:
        out: Floats = matrices[0].weights().copy()
        for matrix in matrices[1:]:
            fold(out, matrix.weights(), out=out)
        if how == "mean":
            out /= np.float32(len(matrices))
        return out

    return [ShownMatrix(f"{_COMBINED[how]} of {what}", None, weights)]


def head_matrix(shown: Shown, head: int) -> ShownMatrix:
    layer, axes = shown.current_layer, shown.token_axes
    return ShownMatrix(f"Head {head}", head, lambda: joined(layer.head_weights(head), axes))


def _of_stack(shown: Shown, largest: bool) -> ShownMatrix:
    stack, axes = shown.current_stack, shown.token_axes
    count = sum(layer.num_heads for layer in stack.layers)
    name = f"{_COMBINED['max' if largest else 'mean']} of all {count} heads"
    # Of sums over words there is no maximum here, so the largest is that between their tokens.
    if largest and shown.words:
        name += ", by token"
    return ShownMatrix(name, None, lambda: joined(combined_heads(stack)[largest], axes, largest))


def joined(weights: Floats, axes: TokenAxes, largest: bool = False) -> Floats:
    """Between words: attention to one is the sum over its tokens, that from one the mean."""
    fold = np.maximum if largest else np.add
    if axes.key.joined:
        weights = fold.reduceat(weights, axes.key.starts, axis=1)
    if axes.query.joined:
        weights = fold.reduceat(weights, axes.query.starts, axis=0)
        if not largest:
            weights /= np.array([[len(tokens)] for tokens in axes.query.tokens], np.float32)
    return weights


def locked_weights(
    matrices: Sequence[ShownMatrix], side: Side, units: Sequence[int]
) -> list[Floats]:
    """Of each matrix, the weights of what is locked to every unit of the other side, summed."""
    if side == "query":
        return [matrix.weights()[units].sum(axis=0) for matrix in matrices]
    return [matrix.weights()[:, units].sum(axis=1) for matrix in matrices]
