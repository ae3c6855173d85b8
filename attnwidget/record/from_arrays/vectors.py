"""The score program that makes the weights of the queries and keys that came beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from attnwidget.record.layer import Fidelity, Layer
from attnwidget.record.scores import MASKED, Floats, MaskKind, ScoreProgram

from .arrays import SourceArray, source_array

# A scale found in the numbers must give the weights so much better than a usual one, where this
# is further off than a part of the tolerance.
_BETTER = 2
_CLOSE = 0.1

# The logarithm of a weight that is a smaller part of its row's largest is mostly rounding.
_TELLING = 1e-4


def layers_of_vectors(arrays: Any, name: str, count: int) -> list[SourceArray]:
    """Arrays with three axes, one per layer."""
    arrays = None if arrays is None else list(arrays)
    if arrays is None or any(each is None for each in arrays):
        raise ValueError(f"{name}, or a layer of it, is None; give one array per layer")
    layers = []
    for index, each in enumerate(arrays):
        array, tolerance = source_array(each)
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
    """A layer of queries and keys if these give the weights, else of all three.

    Args:
        weights: [heads, Tq, Tk].
        queries, keys: [heads, Tq, d] and [key heads, Tk, d], or either with its first two axes
            the other way round, as TransformerLens has them.
        scores: what went into the softmax, [heads, Tq, Tk], or None if unknown.
        scale: the factor on q.k; found from the numbers if None.
    """
    tolerance = max(part.tolerance for part in (weights, queries, keys))
    if scores is not None and scores.array.shape != weights.array.shape:
        raise ValueError(
            f"the scores of layer {number} have shape {list(scores.array.shape)}, its weights "
            f"{list(weights.array.shape)}; they must agree"
        )
    if scores is not None and not _makes(scores.array, weights.array, tolerance):
        # TransformerLens has weights at this hook of some models.
        scores = None
    tried = [
        (*_best(weights.array, q, k, scores, scale, tolerance), q, k)
        for q, k in _readings(weights.array, queries.array, keys.array)
    ]
    error, program, q, k = min(tried, key=lambda each: each[0])
    rows = weights.array.shape[1]
    if error <= tolerance:
        kept = Fidelity("given", "", "queries and keys", error, None, tolerance, rows)
        return Layer(q, k, program, None, kept, number)
    # The weights are what was given; that the vectors do not give them is said.
    kept = Fidelity("given", "", "weights", error, None, tolerance, rows)
    return Layer(q, k, None, weights.array, kept, number)


def _makes(scores: Floats, weights: Floats, tolerance: float) -> bool:
    """Whether the softmax of these scores is these weights."""
    own = ScoreProgram(1.0).softmax(scores, 0)
    return _moved(own, weights) <= tolerance


def _moved(own: Floats, weights: Floats) -> float:
    """How much of a row's attention goes to other keys, in the row of which the most does.

    In a row over many keys every weight is small, and so is its difference from any other.
    """
    change = own - weights
    return float((np.abs(change).sum(axis=-1) + np.abs(change.sum(axis=-1))).max() / 2)


def _best(
    weights: Floats,
    queries: Floats,
    keys: Floats,
    scores: SourceArray | None,
    scale: float | None,
    tolerance: float,
) -> tuple[float, ScoreProgram]:
    """The score program that comes closest, behind how much attention it moves."""
    tried = []
    for program, usual in _programs(weights, queries, keys, scores, scale):
        layer = Layer(queries, keys, program, None, _unmeasured("queries and keys"))
        error = max(_moved(layer.head_weights(head), own) for head, own in enumerate(weights))
        rank = max(error, _CLOSE * tolerance) * (1 if usual else _BETTER)
        tried.append((rank, error, program))
    _, error, program = min(tried, key=lambda each: each[0])
    return error, program


def _unmeasured(kept: str) -> Fidelity:
    """The fidelity of a layer that is only tried."""
    return Fidelity("given", "", kept, None, None, 0, 0)


def _readings(weights: Floats, queries: Floats, keys: Floats) -> Sequence[tuple[Floats, Floats]]:
    """(queries, keys) with the heads in front, in every way that their shapes allow.

    The documented order comes first. What fits none is left to the layer to refuse.
    """
    heads, *lengths = weights.shape

    def ways(array: Floats, length: int, whole: bool) -> Iterator[Floats]:
        for found in (array, array.transpose(1, 0, 2)):
            count = len(found)
            if found.shape[1] == length and (count == heads if whole else heads % count == 0):
                yield np.ascontiguousarray(found)

    found = product(
        list(ways(queries, lengths[0], True)) or [queries],
        list(ways(keys, lengths[1], False)) or [keys],
    )
    return list(found)


def _programs(
    weights: Floats, queries: Floats, keys: Floats, scores: SourceArray | None, scale: float | None
) -> Iterator[tuple[ScoreProgram, bool]]:
    """Score programs to try, and whether they are usual."""
    # Refused here, where their shapes do not fit, and not by numpy.
    Layer(queries, keys, None, weights, _unmeasured("weights"))
    if scores is not None:
        seen = scores.array > MASKED
        shown = np.tril(np.ones(seen.shape[1:], bool))
        visible = None
        mask: MaskKind = "none" if seen.all() else "causal"
        if mask == "causal" and not (seen == shown).all():
            mask, visible = "explicit", seen
    else:
        seen = weights > _TELLING * weights.max(axis=2, keepdims=True)
        visible = None
        causal = not np.triu(weights, 1).any() and weights.shape[1] > 1
        mask = "causal" if causal else "none"
    if scale is not None:
        yield ScoreProgram(float(scale), mask, visible=visible), True
        return
    for usual in (queries.shape[2] ** -0.5, 1.0):
        yield ScoreProgram(usual, mask, visible=visible), True
    logits = scores.array if scores is not None else np.log(np.where(seen, weights, 1))
    if found := _slope(logits, queries, keys, seen):
        yield ScoreProgram(found, mask, visible=visible), False


def _slope(logits: Floats, queries: Floats, keys: Floats, seen: np.ndarray) -> float | None:
    """The factor on q.k that gives these logits best, whatever is added to a row of them."""
    above, below = 0.0, 0.0
    shared = len(queries) // len(keys)
    for head, own in enumerate(queries):
        products = (own @ keys[head // shared].T).astype(np.float64)
        cells = seen[head]
        count = np.maximum(cells.sum(axis=1, keepdims=True), 1)

        def centred(values: np.ndarray) -> np.ndarray:
            values = np.where(cells, values, 0)  # noqa: B023
            return np.where(cells, values - values.sum(axis=1, keepdims=True) / count, 0)  # noqa: B023

        x, y = centred(products), centred(logits[head].astype(np.float64))
        above, below = above + float((x * y).sum()), below + float((x * x).sum())
    return above / below if below else None
