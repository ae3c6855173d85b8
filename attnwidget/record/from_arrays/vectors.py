"""The score program that computes given weights from given queries and keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.record.fidelity import Fidelity
from attnwidget.record.layer import Layer
from attnwidget.record.scores import MASKED, Bools, Floats, MaskKind, ScoreProgram

from .arrays import SourceArray, source_array

# A fitted scale must have a smaller error than a usual one by this factor. Errors below this share
# of the tolerance count as equal.
_BETTER = 2
_NEGLIGIBLE = 0.1

# Logarithms of weights below this share of the row's largest are mostly rounding.
_SMALLEST_SHARE = 1e-4

# Candidate layers are not compared with a model.
_NO_FIDELITY = Fidelity("given", "", "", None, None, 0, 0)


def layers_of_vectors(arrays: Any, name: str, count: int) -> list[SourceArray]:
    """Convert one array with three axes per layer."""
    arrays = None if arrays is None else list(arrays)
    if arrays is None or any(values is None for values in arrays):
        raise ValueError(f"{name}, or a layer of it, is None; give one array per layer")
    layers = []
    for index, values in enumerate(arrays):
        array, tolerance = source_array(values)
        shape = array.shape
        if array.ndim == 4 and shape[0] == 1:
            array = array[0]
        if array.ndim != 3:
            raise ValueError(
                f"{name}[{index}] has shape {list(shape)}; expected [heads, tokens, d] or [tokens, "
                "heads, d] per layer, optionally with a batch of one in front (pick one item of a "
                "larger batch yourself)"
            )
        layers.append(SourceArray(array, tolerance))
    if len(layers) != count:
        raise ValueError(
            f"{count} layers of attention, but {len(layers)} of {name}; give one of each per layer"
        )
    return layers


def explained_layer(
    weights: SourceArray,
    queries: SourceArray,
    keys: SourceArray,
    scores: SourceArray | None,
    scale: float | None,
    number: int,
) -> Layer:
    """Make a layer of queries and keys if these give the weights, or else of all three.

    Args:
        weights: [heads, Tq, Tk].
        queries, keys: [heads, Tq, d] and [key heads, Tk, d], or with the first two axes of either
            swapped, as in TransformerLens.
        scores: the softmax's input, [heads, Tq, Tk], or None if unknown.
        scale: the factor on q.k; estimated from the numbers if None.
    """
    tolerance = max(source.tolerance for source in (weights, queries, keys))
    if scores is not None and scores.array.shape != weights.array.shape:
        raise ValueError(
            f"the scores of layer {number} have shape {list(scores.array.shape)}, its weights "
            f"{list(weights.array.shape)}; they must agree"
        )
    if scores is not None:
        softmax = ScoreProgram(1.0).softmax(scores.array, 0)
        # TransformerLens has weights in place of scores at this hook of some models.
        if _moved(softmax, weights.array) > tolerance:
            scores = None
    candidates = [
        (*_best_program(weights.array, q, k, scores, scale, tolerance), q, k)
        for q, k in _orders(weights.array, queries.array, keys.array)
    ]
    error, program, q, k = min(candidates, key=lambda candidate: candidate[0])
    rows = weights.array.shape[1]
    if error <= tolerance:
        kept = Fidelity("given", "", "queries and keys", error, None, tolerance, rows)
        return Layer(q, k, program, None, kept, number)
    # The weights are kept, and the fidelity has the error of the vectors.
    kept = Fidelity("given", "", "weights", error, None, tolerance, rows)
    return Layer(q, k, None, weights.array, kept, number)


def _moved(computed: Floats, weights: Floats) -> float:
    """The largest share of a row's attention that goes to other keys.

    Over many keys every weight is small, so that the largest difference would be small as well.
    """
    change = computed - weights
    return float((np.abs(change).sum(axis=-1) + np.abs(change.sum(axis=-1))).max() / 2)


def _best_program(
    weights: Floats,
    queries: Floats,
    keys: Floats,
    scores: SourceArray | None,
    scale: float | None,
    tolerance: float,
) -> tuple[float, ScoreProgram]:
    """(error, score program) of the program that moves the least attention."""
    candidates = []
    for program, is_usual in _programs(weights, queries, keys, scores, scale):
        layer = Layer(queries, keys, program, None, _NO_FIDELITY)
        error = max(_moved(layer.head_weights(head), given) for head, given in enumerate(weights))
        rank = max(error, _NEGLIGIBLE * tolerance) * (1 if is_usual else _BETTER)
        candidates.append((rank, error, program))
    _, error, program = min(candidates, key=lambda candidate: candidate[0])
    return error, program


def _orders(weights: Floats, queries: Floats, keys: Floats) -> list[tuple[Floats, Floats]]:
    """(queries, keys) with the heads in front, in every order of axes that fits the weights.

    The documented order comes first. If none fits, the arrays are returned as they are, and
    the layer refuses them.
    """
    heads, num_queries, num_keys = weights.shape

    def orders(array: Floats, length: int, shared: bool) -> list[Floats]:
        fitting = [
            np.ascontiguousarray(ordered)
            for ordered in (array, array.transpose(1, 0, 2))
            if ordered.shape[1] == length
            and (heads % len(ordered) == 0 if shared else len(ordered) == heads)
        ]
        return fitting or [array]

    return list(product(orders(queries, num_queries, False), orders(keys, num_keys, True)))


def _programs(
    weights: Floats, queries: Floats, keys: Floats, scores: SourceArray | None, scale: float | None
) -> Iterator[tuple[ScoreProgram, bool]]:
    """Candidates of score programs, and True for those with a usual scale."""
    # The layer refuses shapes that do not fit, with a better message than numpy's.
    Layer(queries, keys, None, weights, _NO_FIDELITY)
    visible = None
    if scores is not None:
        seen = scores.array > MASKED
        mask: MaskKind = "none" if seen.all() else "causal"
        if mask == "causal" and not (seen == np.tril(np.ones(seen.shape[1:], bool))).all():
            mask, visible = "explicit", seen
    else:
        seen = weights > _SMALLEST_SHARE * weights.max(axis=2, keepdims=True)
        causal = not np.triu(weights, 1).any() and weights.shape[1] > 1
        mask = "causal" if causal else "none"
    if scale is not None:
        yield ScoreProgram(float(scale), mask, visible=visible), True
        return
    for usual in (queries.shape[2] ** -0.5, 1.0):
        yield ScoreProgram(usual, mask, visible=visible), True
    logits = scores.array if scores is not None else np.log(np.where(seen, weights, 1))
    if fitted := _fitted_scale(logits, queries, keys, seen):
        yield ScoreProgram(fitted, mask, visible=visible), False


def _fitted_scale(logits: Floats, queries: Floats, keys: Floats, seen: Bools) -> float | None:
    """The factor on q.k that fits the logits best, up to a constant per row (least squares)."""
    product, square = 0.0, 0.0
    shared = len(queries) // len(keys)
    for head, vectors in enumerate(queries):
        x = _centred(vectors @ keys[head // shared].T, seen[head])
        product += float((x * _centred(logits[head], seen[head])).sum())
        square += float((x * x).sum())
    return product / square if square else None


def _centred(values: Floats, seen: Bools) -> NDArray[np.float64]:
    """The values less the mean of each row, over the cells seen; zero elsewhere."""
    masked = np.where(seen, values.astype(np.float64), 0)
    means = masked.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    centred: NDArray[np.float64] = np.where(seen, masked - means, 0)
    return centred
