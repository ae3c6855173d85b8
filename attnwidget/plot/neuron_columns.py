"""The layout of the neuron view: its columns from left to right, and its visible rows."""

from __future__ import annotations

from dataclasses import dataclass

from .explanation import HeadExplanation
from .shown import TokenAxis
from .text import num_letters

# The fewest and the most letters of a key's label, those of a number, and those between columns.
_LABELS = (4, 16)
_NUMBER = 7.5
_GAP = 2.5
# The shares of vectors, curves, lines and bars in the remaining width.
_STRIP, _CURVES, _LINES, _BARS = 3.0, 0.8, 6.0, 1.6
# With more rows than MAX_ROWS, _WINDOW of them are visible.
MAX_ROWS = 128
_WINDOW = 48


@dataclass(frozen=True)
class Bars:
    """A column of bars; `end` is the right edge of its numbers."""

    left: float
    width: float
    end: float


@dataclass(frozen=True)
class NeuronColumns:
    """Left edges of the columns, in points, and the visible rows.

    Attributes:
        labels: the width of the keys' labels.
        curves: the left and right edge of the curves or lines.
        strip: the width of a vector.
        width: of all columns.
        first, end: the first visible row, and the one after the last.
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
        """(row, position) of every visible token."""
        return list(enumerate(axis.shown))[self.first : self.end]


def rows_of(head: HeadExplanation) -> tuple[int, int]:
    """The first visible row and the one after the last: of many rows, those around the locked."""
    axes = head.axes
    count = max(len(axes.query.shown), len(axes.key.shown) + (head.sink is not None))
    if count <= MAX_ROWS:
        return 0, count
    key = -1 if head.focus_key is None else axes.key.places[head.focus_key]
    middle = key if key >= 0 else axes.query.places[head.query]
    first = max(0, min(count - _WINDOW, middle - _WINDOW // 2))
    return first, first + _WINDOW


def columns_of(head: HeadExplanation, expanded: bool, width: float, letter: float) -> NeuronColumns:
    """The columns of a plot; `width` and the width of a `letter` are in points."""
    program = head.layer.program
    biased = program is not None and (program.bias is not None or program.relative is not None)
    num_bars = 2 + biased if expanded else 1
    widest = max(num_letters(head.axes.key.labels[unit]) for unit in head.axes.key.shown)
    labels = (min(_LABELS[1], max(_LABELS[0], widest)) + 2) * letter
    gap, number = _GAP * letter, _NUMBER * letter
    shares = 3 * _STRIP + _CURVES if expanded else _LINES
    texts = labels + num_bars * number + (num_bars + expanded) * gap
    # In Axes too narrow for them, texts overlap, but every column stays visible.
    share = max(width / 3, width - texts) / (shares + num_bars * _BARS)
    strip = _STRIP * share if expanded else 0
    curves = (strip + 0.3 * letter, strip + (_CURVES if expanded else _LINES) * share)
    keys = curves[1] + labels
    products = keys + strip + gap
    left = products + strip + gap if expanded else keys
    bars = []
    for _ in range(num_bars):
        end = left + _BARS * share + number
        bars.append(Bars(left, _BARS * share, end))
        left = end + gap
    first, last = rows_of(head)
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
        first=first,
        end=last,
    )
