"""The columns of the neuron view from left to right, and the rows drawn."""

from __future__ import annotations

from dataclasses import dataclass

from .explanation import HeadExplanation
from .shown import TokenAxis
from .text import num_letters

# Widths are relative: the Axes have room for all of them.
_LABELS = (40, 130)
_LETTER = 8
_STRIP = (200, 320)
_CURVES = 63
_LINES = 420
_NUMBER = 50
_GAP = 28
# Of more rows, so many are shown.
IN_FULL = 128
_ROWS = 48


@dataclass(frozen=True)
class Bars:
    """A column of bars, and the right edge of the numbers beside them."""

    left: float
    width: float
    end: float


@dataclass(frozen=True)
class NeuronColumns:
    """Left edges of what stands in a row, and the rows that are drawn.

    Attributes:
        labels: the width of the keys' labels; strip: that of a vector.
    """

    labels: float
    queries: float
    curves: tuple[float, float]
    key_labels: float
    keys: float
    products: float
    strip: float
    bias: Bars | None
    scores: Bars | None
    weights: Bars
    first: int
    end: int

    def tokens(self, axis: TokenAxis) -> list[tuple[int, int]]:
        """(row, position) of the tokens drawn."""
        return list(enumerate(axis.shown))[self.first : self.end]


def columns_of(head: HeadExplanation, expanded: bool) -> NeuronColumns:
    axes = head.axes
    count = max(len(axes.query.shown), len(axes.key.shown) + (head.sink is not None))
    first, end = 0, count
    if count > IN_FULL:
        key = -1 if head.focus_key is None else axes.key.places[head.focus_key]
        middle = key if key >= 0 else axes.query.places[head.query]
        first = max(0, min(count - _ROWS, middle - _ROWS // 2))
        end = first + _ROWS
    widest = max(num_letters(axes.key.labels[unit]) for unit in axes.key.shown)
    labels = min(_LABELS[1], max(_LABELS[0], widest * _LETTER + 22))
    strip = min(_STRIP[1], max(_STRIP[0], 3 * head.dim)) if expanded else 0
    curves = (strip + 5, strip + (_CURVES if expanded else _LINES))
    key_labels = curves[1] + 4
    keys = left = key_labels + labels
    products = keys + strip + _GAP
    bias = scores = None
    if expanded:
        left = products + strip + _GAP
        program = head.layer.program
        if program is not None and (program.bias is not None or program.relative is not None):
            bias = Bars(left, 60, left + 60 + _NUMBER)
            left = bias.end + _GAP
        scores = Bars(left, 84, left + 84 + _NUMBER)
        left = scores.end + _GAP
    weights = Bars(left, 120, left + 120 + _NUMBER)
    return NeuronColumns(
        labels, 0, curves, key_labels, keys, products, strip, bias, scores, weights, first, end
    )
