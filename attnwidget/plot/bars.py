"""Bars and numbers of the neuron view: the bias, the scores and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from .axes import font_size
from .colors import Palette
from .explanation import HeadExplanation
from .neuron_columns import Bars, NeuronColumns
from .text import PLAIN, number, weight

Numbers = NDArray[np.floating]

# The share of a row's height that its bars take.
_HEIGHT = 0.72
# Points between a bar of the softmax and its number.
_NUMBER_GAP = 6


@dataclass(frozen=True)
class _Row:
    """The look of one query's bars.

    Attributes:
        height: in rows.
        hatched: True for the second of two queries that are compared.
        font_size: of the numbers, in points.
    """

    height: float
    hatched: bool
    font_size: float
    palette: Palette


def draw_bars(
    axes: Axes, head: HeadExplanation, columns: NeuronColumns, row: float, palette: Palette
) -> None:
    """Draw the bars of the visible rows; those of the compared query are hatched.

    Args:
        row: the height of a row in points.
    """
    num_keys = len(head.axes.key.shown)
    last = min(columns.end, num_keys + (head.sink is not None))
    for bars in (columns.bias, columns.scores):
        if bars is not None:
            zero = bars.left + bars.width / 2
            axes.vlines(zero, columns.first, last, color=palette.border, linewidth=0.75)
    keys = [key for _, key in columns.tokens(head.axes.key)]
    sink_visible = head.sink is not None and columns.first <= num_keys < columns.end
    largest_bias, largest_score = _largest(head)
    height = _HEIGHT / len(head.explained)
    for n, numbers in enumerate(head.explained):
        look = _Row(height, n > 0, font_size(row / len(head.explained)), palette)
        first = columns.first + 0.5 + (n - (len(head.explained) - 1) / 2) * height
        y = first + np.arange(len(keys) + sink_visible)
        seen = np.array([numbers.sees(key) for key in keys], bool)
        if columns.bias is not None and numbers.bias is not None:
            bias = np.where(seen, numbers.bias[keys], np.nan)
            _draw_signed(axes, columns.bias, y, (bias, bias), largest_bias, look)
        both = numbers.own, numbers.shown
        if columns.scores is not None:
            scores = [np.where(seen, values.logits[keys], -np.inf) for values in both]
            if sink_visible:
                scores = [np.append(values, head.sink or 0) for values in scores]
            _draw_signed(axes, columns.scores, y, scores, largest_score, look)
        weights = [np.where(seen, values.weights[keys], np.nan) for values in both]
        if sink_visible:
            weights = [np.append(w, v.sink or 0) for w, v in zip(weights, both, strict=True)]
        _draw_weights(axes, columns.weights, y, weights, look)


def _draw_signed(
    axes: Axes, bars: Bars, y: Numbers, numbers: Sequence[Numbers], largest: float, look: _Row
) -> None:
    """Draw numbers to the right of the middle where positive, to the left where negative.

    Args:
        numbers: the model's own, and those drawn; NaN for none, -inf where masked.
        largest: the magnitude of the longest bar.
    """
    own, drawn = numbers
    zero, reach = bars.left + bars.width / 2, bars.width / 2 / largest
    colors = np.where(drawn < 0, look.palette.negative, look.palette.positive)
    _draw_lengths(axes, zero, y[: len(drawn)], own * reach, drawn * reach, colors.tolist(), look)
    for position, value in zip(y, drawn, strict=False):
        if not np.isnan(value):
            _write(axes, bars.end, position, number(value), "right", look)


def _draw_weights(
    axes: Axes, bars: Bars, y: Numbers, numbers: Sequence[Numbers], look: _Row
) -> None:
    """Draw numbers from 0 to 1, each with its digits after it."""
    own, drawn = (values * bars.width for values in numbers)
    _draw_lengths(axes, bars.left, y, own, drawn, [look.palette.positive] * len(y), look)
    ends = bars.left + np.maximum(own, drawn) + _NUMBER_GAP
    for position, end, value in zip(y, ends, numbers[1], strict=True):
        if not np.isnan(value):
            _write(axes, end, position, weight(value), "left", look)


def _draw_lengths(
    axes: Axes,
    left: float,
    y: Numbers,
    own: Numbers,
    lengths: Numbers,
    colors: Sequence[str],
    look: _Row,
) -> None:
    """Draw the bars of finite numbers, and outlines of the model's own where these differ."""
    finite = np.isfinite(lengths)
    y, own, lengths = y[finite], np.nan_to_num(own[finite], posinf=0, neginf=0), lengths[finite]
    colors = [color for color, is_finite in zip(colors, finite, strict=True) if is_finite]
    drawn = axes.barh(y, lengths, left=left, height=look.height, color=colors, linewidth=0)
    if look.hatched:
        for color, patch in zip(colors, drawn.patches, strict=True):
            patch.set(facecolor=to_rgba(color, 0.15), edgecolor=color)
            patch.set(hatch="////", linewidth=0.6)
    changed = (lengths != own) & (np.abs(own) >= 1)
    axes.barh(
        y[changed],
        own[changed],
        left=left,
        height=look.height,
        color="none",
        edgecolor=look.palette.text,
        linewidth=0.8,
    )


def _write(axes: Axes, x: float, y: float, text: str, align: str, look: _Row) -> None:
    label = axes.text(x, y, text, va="center", ha=align, fontsize=look.font_size, **PLAIN)
    label.set_color(look.palette.muted)


def _largest(head: HeadExplanation) -> tuple[float, float]:
    """The largest magnitudes of bias and score of all rows, those not drawn included."""
    bias = score = 1e-9
    for numbers in head.explained:
        keys = [key for key in head.axes.key.shown if numbers.sees(key)]
        if numbers.bias is not None:
            bias = max(bias, _magnitude(numbers.bias[keys]))
        for values in (numbers.own, numbers.shown):
            score = max(score, _magnitude(values.logits[keys]))
    return bias, max(score, abs(head.sink or 0))


def _magnitude(values: NDArray[np.floating]) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0))
