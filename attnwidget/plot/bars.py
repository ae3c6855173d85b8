"""Bars and numbers of the neuron view: what is added, and what goes in and out of the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from .axes import PLAIN, font_size
from .colors import Palette
from .explanation import HeadExplanation, QueryNumbers
from .neuron_columns import Bars, NeuronColumns
from .text import number, weight

# Of a row's height, what its bars take.
_HEIGHT = 0.72
# Between a bar of the softmax and its number.
_AFTER = 6


@dataclass(frozen=True)
class _Bar:
    """A bar from `start` on, its number, and the length of the model's own bar.

    Attributes:
        at, align: where the number stands, and its alignment there.
    """

    start: float
    length: float
    own_length: float
    y: float
    color: str
    text: str
    at: float
    align: str


def draw_bars(
    axes: Axes, head: HeadExplanation, columns: NeuronColumns, row: float, palette: Palette
) -> None:
    """The bars of the rows drawn; those of a query compared with are hatched."""
    explained = head.explained
    height = _HEIGHT / len(explained)
    last = min(columns.end, len(head.axes.key.shown) + (head.sink is not None))
    for bars in (columns.bias, columns.scores):
        if bars is not None:
            zero = bars.left + bars.width / 2
            axes.vlines(zero, columns.first, last, color=palette.border, linewidth=0.75)
    for part, one in enumerate(explained):
        shift = 0.5 + (part - (len(explained) - 1) / 2) * height
        drawn = _bars(head, one, columns, shift, palette)
        _draw(axes, drawn, height, part > 0, font_size(row / len(explained)), palette)


def _bars(
    head: HeadExplanation,
    one: QueryNumbers,
    columns: NeuronColumns,
    shift: float,
    palette: Palette,
) -> list[_Bar]:
    """The bars of one query; `shift` is their middle within a row."""
    most_bias, most_score = _largest(head)
    found: list[_Bar] = []
    for at, key in columns.tokens(head.axes.key):
        y = at + shift
        if not one.sees(key):
            if columns.scores is not None:
                end = columns.scores.end
                found.append(_Bar(end, 0, 0, y, palette.muted, "masked", end, "right"))
            continue
        if columns.bias is not None and one.bias is not None:
            value = float(one.bias[key])
            found.append(_signed(columns.bias, y, value, value, most_bias, palette))
        if columns.scores is not None:
            own, now = float(one.own.logits[key]), float(one.shown.logits[key])
            found.append(_signed(columns.scores, y, own, now, most_score, palette))
        own, now = float(one.own.weights[key]), float(one.shown.weights[key])
        found.append(_share(columns.weights, y, own, now, palette))
    at = len(head.axes.key.shown)
    own_sink, sink = one.own.sink, one.shown.sink
    inside = columns.first <= at < columns.end
    if inside and head.sink is not None and own_sink is not None and sink is not None:
        y = at + shift
        if columns.scores is not None:
            score = head.sink
            found.append(_signed(columns.scores, y, score, score, most_score, palette))
        found.append(_share(columns.weights, y, own_sink, sink, palette))
    return found


def _signed(bars: Bars, y: float, own: float, now: float, largest: float, palette: Palette) -> _Bar:
    """To the right of the middle where positive, to the left where negative."""
    zero, reach = bars.left + bars.width / 2, bars.width / 2 / largest
    color = palette.negative if now < 0 else palette.positive
    return _Bar(zero, now * reach, own * reach, y, color, number(now), bars.end, "right")


def _share(bars: Bars, y: float, own: float, now: float, palette: Palette) -> _Bar:
    """From 0 to 1."""
    after = bars.left + max(own, now) * bars.width + _AFTER
    length, own_length = now * bars.width, own * bars.width
    return _Bar(bars.left, length, own_length, y, palette.positive, weight(now), after, "left")


def _draw(
    axes: Axes, bars: Sequence[_Bar], height: float, hatched: bool, font: float, palette: Palette
) -> None:
    drawn = axes.barh(
        [bar.y for bar in bars],
        [bar.length for bar in bars],
        left=[bar.start for bar in bars],
        height=height,
        color=[bar.color for bar in bars],
        linewidth=0,
    )
    if hatched:
        for bar, patch in zip(bars, drawn.patches, strict=True):
            patch.set(facecolor=to_rgba(bar.color, 0.15), edgecolor=bar.color)
            patch.set(hatch="////", linewidth=0.6)
    changed = [bar for bar in bars if bar.length != bar.own_length and abs(bar.own_length) >= 1]
    axes.barh(
        [bar.y for bar in changed],
        [bar.own_length for bar in changed],
        left=[bar.start for bar in changed],
        height=height,
        color="none",
        edgecolor=palette.text,
        linewidth=0.8,
    )
    for bar in bars:
        label = axes.text(bar.at, bar.y, bar.text, va="center", fontsize=font, **PLAIN)
        label.set(color=palette.muted, ha=bar.align)


def _largest(head: HeadExplanation) -> tuple[float, float]:
    """The largest magnitudes of bias and score of all rows, also of those that are not drawn."""
    bias = score = 1e-9
    for one in head.explained:
        keys = [key for key in head.axes.key.shown if one.sees(key)]
        if one.bias is not None:
            bias = max(bias, *_magnitudes(one.bias[keys]))
        score = max(score, *_magnitudes(one.own.logits[keys]))
        score = max(score, *_magnitudes(one.shown.logits[keys]))
    return bias, max(score, abs(head.sink or 0))


def _magnitudes(values: NDArray[np.floating]) -> list[float]:
    return [0.0, *np.abs(values[np.isfinite(values)]).tolist()]
