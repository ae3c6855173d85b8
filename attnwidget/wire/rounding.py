"""Rounding of blocks, and the differences of the attention that a browser computes from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import RowBatches, row_shares
from attnwidget.record import Floats, Layer

RIGHT_TO_THREE_DECIMALS = 0.0005
"""The largest error of a number of which three decimals are shown."""

_FLOAT16_MAX = float(np.finfo(np.float16).max)
_INT16_MAX = 2**15 - 1


class _BlockError(TypedDict):
    largest: float


class BlockError(_BlockError, total=False):
    """The difference between the attention that the browser computes and that of the record.

    largest: the largest difference of a weight.
    rows: the number of sampled rows; missing if all were compared.
    variation: the mean over all rows of half the sum of differences, if the block is coarser than
        `encode_block` makes it.
    vectors: the largest difference of a component of a query or key, if these were rounded.
    scores: the largest difference of a score, if there are any.
    shares: the largest difference of a share of a row, if factors of lenses are sent.
    """

    rows: int
    variation: float
    vectors: float
    scores: float
    shares: float


@dataclass(frozen=True)
class Difference:
    """Differences of attention between a layer and the same layer as it is sent.

    Attributes:
        rows: float32 [heads, rows], the largest difference of a weight in each row.
        variation: the mean over the rows of half the sum of differences, which is the share of a
            row's attention that moves to other keys.
        scores: the largest difference of a score; None for a layer of weights alone.
    """

    rows: Floats
    variation: float
    scores: float | None

    @property
    def largest(self) -> float:
        """The largest difference of a weight."""
        return float(self.rows.max())


class Comparison:
    """The attention of some query rows of a layer, to be compared with it as it is sent.

    Args:
        rows: positions of queries, increasing.
    """

    def __init__(self, layer: Layer, rows: NDArray[np.intp]) -> None:
        self._layer, self._rows = layer, rows
        # Computed once for all comparisons if it fits into one batch.
        self._batches = RowBatches(layer, rows, finite=False)

    def difference(self, sent: Layer) -> Difference:
        """Compare the attention of the layer as it is sent.

        Raises:
            ValueError: a rounded score is out of the range of single precision.
        """
        layer = self._layer
        largest = np.empty((layer.num_heads, len(self._rows)), np.float32)
        moved, scores = 0.0, 0.0
        # Overflows become NaN or infinity, which is checked below.
        with np.errstate(over="ignore", invalid="ignore"):
            for heads, place, weights, of_scores in self._differences(sent):
                largest[heads, place] = weights.max(axis=-1)
                moved += float(weights.sum(dtype=np.float64)) / 2
                scores = max(scores, of_scores)
        if not (np.isfinite(largest).all() and np.isfinite(scores)):
            raise ValueError(
                f"the scores of layer {layer.number} are beyond single precision where they are "
                "rounded, so that it cannot be shown"
            )
        return Difference(largest, moved / largest.size, None if layer.program is None else scores)

    def _differences(self, sent: Layer) -> Iterator[tuple[slice, slice, Floats, float]]:
        """Yield (heads, place among the rows, differences [..., keys], the largest of a score)."""
        layer, rows = self._layer, self._rows
        if layer.program is None:
            for head in range(layer.num_heads):
                weights = sent.head_weights(head, rows) - layer.head_weights(head, rows)
                yield slice(head, head + 1), slice(len(rows)), np.abs(weights, out=weights), 0.0
            return
        ours = RowBatches(sent, rows, finite=False)
        for heads in ours.groups:
            start = 0
            for a, b in zip(ours.of(heads), self._batches.of(heads), strict=True):
                place = slice(start, start := start + len(a.rows))
                scores = np.subtract(a.logs, b.logs, out=a.logs)
                scores += (a.peaks - b.peaks)[..., None]
                # NaN where a key is masked.
                of_scores = float(np.fmax.reduce(np.abs(scores, out=scores), axis=None, initial=0))
                weights = np.divide(a.exps, a.totals[..., None], out=a.exps)
                weights -= np.divide(b.exps, b.totals[..., None], out=a.logs)
                yield heads, place, np.abs(weights, out=weights), of_scores


def error_of(
    measured: Difference,
    layer: Layer,
    sent: Layer,
    rows: NDArray[np.intp],
    factors: Mapping[str, Floats],
) -> BlockError:
    """The error of a layer as it is sent, where its attention in these rows was compared.

    Args:
        factors: those of its lenses, by name.
    """
    error: BlockError = {"largest": measured.largest}
    if measured.scores is not None:
        error["scores"] = measured.scores
    vectors = [
        float(np.abs(recorded - other).max())
        for recorded, other in ((layer.queries, sent.queries), (layer.keys, sent.keys))
        if recorded is not None and other is not None and other is not recorded
    ]
    if vectors:
        error["vectors"] = max(vectors)
    if factors:
        error["shares"] = 0.0
    for head in range(layer.num_heads if factors else 0):
        ours, theirs = (own.head_weights(head, rows) for own in (sent, layer))
        for each in factors.values():
            moved = row_shares(ours * each[head]) - row_shares(theirs * each[head])
            error["shares"] = max(error["shares"], float(np.abs(moved).max()))
    return error


def float_type(array: Floats) -> Literal["f16", "f32"]:
    """The smallest type that holds an array without an overflow."""
    largest = max(array.max(initial=0), -array.min(initial=0))
    return "f16" if largest < _FLOAT16_MAX else "f32"


def to_int16(array: Floats) -> tuple[NDArray[np.int16], Floats]:
    """Round vectors [heads, tokens, d] to integers times a step per head and component.

    Integers are ten times as exact as float16 here: a component's numbers are of one magnitude.

    Returns:
        (integers [heads, tokens, d], steps [heads, d]).
    """
    steps: Floats = np.abs(array).max(axis=1) / np.float32(_INT16_MAX)
    # All numbers are zero where a step is, or too small for single precision.
    scaled = array / np.maximum(steps, np.finfo(np.float32).tiny)[:, None]
    np.rint(scaled, out=scaled)
    return np.clip(scaled, -_INT16_MAX, _INT16_MAX).astype(np.int16), steps


def from_int16(integers: NDArray[np.int16], steps: Floats) -> Floats:
    """The vectors [heads, tokens, d] of `to_int16`."""
    return integers * steps[:, None]


def to_float16(array: Floats, rows: NDArray[np.intp]) -> Floats:
    """An array [heads, queries, keys] as it is sent in its `float_type`; zero in other rows."""
    if float_type(array) == "f32":
        return array
    # Zeros take memory only where they are overwritten.
    rounded: Floats = np.zeros(array.shape, np.float32)
    some = np.unique(rows % array.shape[1])
    rounded[:, some] = array[:, some].astype(np.float16)
    return rounded
