"""Matrices of the head view: of single or combined heads, between tokens or words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from attnwidget.analysis import combined_heads, rollout, row_shares, value_weighted
from attnwidget.record import Floats
from attnwidget.view_state import combination

from .shown import Shown, Side, TokenAxes

_COMBINED = {"mean": "Mean", "max": "Largest"}

Measure = Literal["weight", "share", "score", "difference", "score difference"]

SUFFIXES: dict[Measure, str] = {
    "weight": "",
    "share": "value-weighted",
    "score": "scores",
    "difference": "B − A",
    "score difference": "scores, B − A",
}
"""The words for numbers other than weights."""


@dataclass(frozen=True)
class AttentionMatrix:
    """A matrix of attention weights in the head view.

    Attributes:
        name: its title.
        head: the head whose colour it has; None for combined heads.
        weights: computes the matrix, float32 [query units, key units].
        measure: what its numbers are: weights, shares of a row by another lens, scores (-inf for
            masked keys), or the weights or scores of record B less those of A.
    """

    name: str
    head: int | None
    weights: Callable[[], Floats]
    measure: Measure = "weight"

    @property
    def signed(self) -> bool:
        return self.measure not in ("weight", "share")


def shown_matrices(shown: Shown) -> list[AttentionMatrix]:
    """The matrices of the drawn heads, or the one that combines them or all heads."""
    combined = combination(shown.combine)
    if combined and combined.over == "layers":
        return [_stack_matrix(shown, combined.how == "max")]
    if shown.lens == "rollout":
        return [_rollout_matrix(shown)]
    matrices = [head_matrix(shown, head) for head in shown.drawn_heads]
    if combined is None:
        return matrices
    how = combined.how
    heads = f"head {matrices[0].head}" if len(matrices) == 1 else f"{len(matrices)} heads"
    of = SUFFIXES[matrices[0].measure]
    reduce = np.add if how == "mean" else np.maximum

    def weights() -> Floats:
        out: Floats = matrices[0].weights().copy()
        for matrix in matrices[1:]:
            reduce(out, matrix.weights(), out=out)
        if how == "mean":
            out /= np.float32(len(matrices))
        return out

    name = f"{_COMBINED[how]} of {heads}{of and f', {of}'}"
    return [AttentionMatrix(name, None, weights, matrices[0].measure)]


def head_matrix(shown: Shown, head: int) -> AttentionMatrix:
    """The matrix of one head of the current layer."""
    layer, axes = shown.current_layer, shown.token_axes
    if shown.compared == "difference":
        other = shown.layer_of_b
        if shown.scored:
            return AttentionMatrix(
                f"Head {head}, scores, B − A",
                head,
                lambda: _less_scores(other.head_scores(head), layer.head_scores(head)),
                "score difference",
            )
        return AttentionMatrix(
            f"Head {head}, B − A",
            head,
            lambda: _between_units(other.head_weights(head) - layer.head_weights(head), axes),
            "difference",
        )
    if shown.lens == "scores":
        return AttentionMatrix(
            f"Head {head}, scores", head, lambda: layer.head_scores(head), "score"
        )
    if shown.lens != "values":
        return AttentionMatrix(
            f"Head {head}", head, lambda: _between_units(layer.head_weights(head), axes)
        )
    return AttentionMatrix(
        f"Head {head}, value-weighted",
        head,
        lambda: _between_units(row_shares(value_weighted(layer, head)), axes),
        "share",
    )


def _less_scores(b: Floats, a: Floats) -> Floats:
    """b - a; masked where either is."""
    masked = np.isneginf(b) | np.isneginf(a)
    return np.subtract(b, a, out=np.full_like(b, -np.inf), where=~masked)


def _rollout_matrix(shown: Shown) -> AttentionMatrix:
    stack, axes, layer = shown.current_stack, shown.token_axes, shown.current_layer
    place = stack.numbers.index(layer.number)
    name = f"Rollout of layers 0–{layer.number}" if layer.number else "Rollout of layer 0"
    return AttentionMatrix(name, None, lambda: _between_units(rollout(stack)[place], axes), "share")


def _stack_matrix(shown: Shown, largest: bool) -> AttentionMatrix:
    stack, axes = shown.current_stack, shown.token_axes
    count = sum(layer.num_heads for layer in stack.layers)
    name = f"{_COMBINED['max' if largest else 'mean']} of all {count} heads"
    # The heads' sums over words are not known here, so this is the maximum between their tokens.
    if largest and shown.words:
        name += ", by token"

    def weights() -> Floats:
        combined = combined_heads(stack)
        return _between_units(combined.max if largest else combined.mean, axes, largest)

    def difference() -> Floats:
        means = combined_heads(shown.stack_of_b).mean - combined_heads(stack).mean
        return _between_units(means, axes)

    if shown.compared == "difference":
        return AttentionMatrix(f"{name}, B − A", None, difference, "difference")
    return AttentionMatrix(name, None, weights)


def signed_parts(matrices: Sequence[AttentionMatrix]) -> list[AttentionMatrix]:
    """The numbers of each matrix above and below zero, as shares of the largest magnitude."""
    numbers = [finite(matrix.weights()) for matrix in matrices]
    peak = np.float32(max(float(np.abs(each).max()) for each in numbers) or 1.0)
    return [
        replace(matrix, head=None, weights=partial(np.maximum, sign * values / peak, 0))
        for matrix, values in zip(matrices, numbers, strict=True)
        for sign in (1, -1)
    ]


def finite(numbers: Floats) -> Floats:
    """The numbers with 0 in place of the scores of masked keys."""
    return np.where(np.isneginf(numbers), np.float32(0), numbers)


def _between_units(weights: Floats, axes: TokenAxes, largest: bool = False) -> Floats:
    """Weights between words: attention to a word is the sum over its tokens, from it the mean."""
    reduce = np.maximum if largest else np.add
    if axes.key.joined:
        weights = reduce.reduceat(weights, axes.key.starts, axis=1)
    if axes.query.joined:
        weights = reduce.reduceat(weights, axes.query.starts, axis=0)
        if not largest:
            weights /= np.array([[len(tokens)] for tokens in axes.query.tokens], np.float32)
    return weights


def locked_weights(
    matrices: Sequence[AttentionMatrix], side: Side, units: Sequence[int]
) -> list[Floats]:
    """The weights of each matrix from the locked units to all units of the other side."""
    if side == "query":
        return [matrix.weights()[units] for matrix in matrices]
    return [matrix.weights()[:, units].T for matrix in matrices]
