"""The columns of the neuron view from left to right, and the rows drawn."""

from __future__ import annotations

from dataclasses import dataclass

from .explanation import HeadExplanation
from .shown import TokenAxis
from .text import num_letters

# Letters of a key's label, at the least and at the most, of a number, and between columns.
_LABELS = (4, 16)
_NUMBER = 7.5
_GAP = 2.5
# What is left is shared out among vectors, curves, lines and bars.
_STRIP, _CURVES, _LINES, _BARS = 3.0, 0.8, 6.0, 1.6
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
    """Left edges of what stands in a row, in points, and the rows that are drawn.

    Attributes:
        labels: the width of the keys' labels; strip: that of a vector; width: of all.
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
    width: float
    first: int
    end: int

    def tokens(self, axis: TokenAxis) -> list[tuple[int, int]]:
        """(row, position) of the tokens drawn."""
        return list(enumerate(axis.shown))[self.first : self.end]


def rows_of(head: HeadExplanation) -> tuple[int, int]:
    """The first row drawn and the one after the last: of many, those around what is locked."""
    axes = head.axes
    count = max(len(axes.query.shown), len(axes.key.shown) + (head.sink is not None))
    if count <= IN_FULL:
        return 0, count
    key = -1 if head.focus_key is None else axes.key.places[head.focus_key]
    middle = key if key >= 0 else axes.query.places[head.query]
    first = max(0, min(count - _ROWS, middle - _ROWS // 2))
    return first, first + _ROWS


def columns_of(head: HeadExplanation, expanded: bool, width: float, letter: float) -> NeuronColumns:
    """The columns of a plot so wide, with letters so wide, both in points."""
    program = head.layer.program
    biased = program is not None and (program.bias is not None or program.relative is not None)
    num_bars = 2 + biased if expanded else 1
    widest = max(num_letters(head.axes.key.labels[unit]) for unit in head.axes.key.shown)
    labels = (min(_LABELS[1], max(_LABELS[0], widest)) + 2) * letter
    gap, number = _GAP * letter, _NUMBER * letter
    parts = 3 * _STRIP + _CURVES if expanded else _LINES
    texts = labels + num_bars * number + (num_bars + expanded) * gap
    # In Axes too narrow for the texts, these are in each other's way, but nothing vanishes.
    part = max(width / 3, width - texts) / (parts + num_bars * _BARS)
    strip = _STRIP * part if expanded else 0
    curves = (strip + 0.3 * letter, strip + (_CURVES if expanded else _LINES) * part)
    keys = curves[1] + labels
    products = keys + strip + gap
    left = products + strip + gap if expanded else keys
    bars = []
    for _ in range(num_bars):
        end = left + _BARS * part + number
        bars.append(Bars(left, _BARS * part, end))
        left = end + gap
    return NeuronColumns(
        labels=labels,
        queries=0,
        curves=curves,
        key_labels=curves[1],
        keys=keys,
        products=products,
        strip=strip,
        bias=bars[0] if expanded and biased else None,
        scores=bars[-2] if expanded else None,
        weights=bars[-1],
        width=bars[-1].end,
        first=rows_of(head)[0],
        end=rows_of(head)[1],
    )
