"""Lines from queries to keys: all of them, or the locked ones with strips beside the tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.path import Path
from numpy.typing import NDArray

from attnwidget.record import Floats

from .shown import SIDES, Side, TokenAxes, group_bounds, other_side
from .text import share
from .weights import AttentionMatrix

# Smaller weights are not drawn, and of the others, so many of the largest.
FAINTEST = 0.0005
_MAX_LINES = 2000
# With more tokens than this, neighbours share a line.
MAX_SINGLE_TOKENS = 64
# Widths of lines in points, of a weight of 0 and of what a weight of 1 adds.
_THINNEST = 0.7
_THICKER = 1.2
# The largest mean opacity of all lines together.
_DENSEST = 0.45

# Strips beside the tokens that receive attention: the width of each in points, and the largest
# share of the room of all.
_STRIP = 7
_MAX_STRIPS = 0.3
_STRIP_TRACK_OPACITY = 0.05
_MAX_STRIP_ROWS = 360
# Lines of locked tokens in points, the widest and the thinnest, and the share of a row they fill.
_WIDEST = 5
_RIBBON = 0.9
_SHARE_OF_ROW = 0.85

Points = NDArray[np.float64]


@dataclass(frozen=True)
class LineRoom:
    """The room for lines between the queries and the keys.

    Attributes:
        edges: by side, the start of every token and the end of the last one.
        query, key: the coordinates of both sides across the tokens.
        across: points between both sides; along: points per unit of the edges.
        horizontal: True if tokens stand side by side, so that lines go from top to bottom.
    """

    edges: dict[Side, Points]
    query: float
    key: float
    across: float
    along: float
    horizontal: bool = False

    def middles(self, side: Side) -> Points:
        edges = self.edges[side]
        return (edges[:-1] + edges[1:]) / 2

    def curve(self, start: tuple[float, float], end: tuple[float, float]) -> Path:
        """A curve from one point (across, along) to another."""
        return curve(start, end, transposed=self.horizontal)

    def point(self, across: float, along: float) -> tuple[float, float]:
        return (along, across) if self.horizontal else (across, along)


def curve(
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    bend: float = 1 / 3,
    transposed: bool = False,
) -> Path:
    """A Bézier curve (x, y) that is level at both ends; `transposed` swaps x and y.

    Args:
        bend: the share of the way over which each end is level.
    """
    reach = bend * (end[0] - start[0])
    points = [start, (start[0] + reach, start[1]), (end[0] - reach, end[1]), end]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    return Path(np.array(points)[:, ::-1] if transposed else points, codes)


def add_curves(axes: Axes, paths: Sequence[Path], colors: Any, widths: Any, **style: Any) -> None:
    """Add curves without changing the limits of the Axes."""
    curves = PathCollection(paths, facecolors="none", edgecolors=colors, linewidths=widths, **style)
    axes.add_collection(curves, autolim=False)


def all_lines(
    axes: Axes,
    room: LineRoom,
    tokens: TokenAxes,
    matrices: Sequence[AttentionMatrix],
    colors: Sequence[str],
) -> list[str]:
    """Draw one line per pair, in the colours of its strongest heads.

    Returns:
        Notes on what is left out.
    """
    bounds = {side: group_bounds(len(tokens[side].shown), MAX_SINGLE_TOKENS) for side in SIDES}
    rows, keys = bounds["query"], bounds["key"]
    counts = np.diff(rows)[:, None]
    shape = len(rows) - 1, len(keys) - 1
    largest, summed, color_weights = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    inks, total = np.zeros((*shape, 3)), 0.0
    shown = np.ix_(tokens.query.shown, tokens.key.shown)
    for matrix, color in zip(matrices, colors, strict=True):
        weights = matrix.weights()
        total += float(weights[tokens.query.shown].sum(dtype=np.float64))
        sums = np.add.reduceat(weights[shown], rows[:-1], axis=0, dtype=np.float64)
        sums = np.add.reduceat(sums, keys[:-1], axis=1)
        summed += sums
        means = sums / counts
        np.maximum(largest, means, out=largest)
        # The cubes favour the strongest heads: the plain mean of twelve colours would be grey.
        color_weights += means**3
        inks += (means**3)[..., None] * np.array(to_rgb(color))
    inks /= np.where(color_weights > 0, color_weights, 1)[..., None]

    drawn = _strongest(largest)
    middles = {
        side: (room.edges[side][bounds[side][:-1]] + room.edges[side][bounds[side][1:]]) / 2
        for side in SIDES
    }
    weights = np.minimum(largest[drawn], 1)
    widths = _THINNEST + _THICKER * weights
    starts, ends = middles["query"][drawn[0]], middles["key"][drawn[1]]
    lengths = np.hypot(1, (ends - starts) * room.along / room.across)
    ink = float((widths * weights * lengths).sum())
    length = max(edges[-1] for edges in room.edges.values()) * room.along
    opacity = min(1.0, _DENSEST * length / ink) if ink else 1.0
    paths = [
        room.curve((room.query, start), (room.key, end))
        for start, end in zip(starts, ends, strict=True)
    ]
    edge_colors = np.column_stack([inks[drawn], weights * opacity])
    add_curves(axes, paths, edge_colors, widths, capstyle="butt")
    notes = [_drawn_share(float(summed[drawn].sum()), total)]
    if shape != (len(tokens.query.shown), len(tokens.key.shown)):
        group = (math.ceil(len(tokens[side].shown) / MAX_SINGLE_TOKENS) for side in SIDES)
        notes.append("each line of up to {} × {} tokens".format(*group))
    return notes


class Series(NamedTuple):
    """The weights of a head from the locked units, in its colour; or those from one of them.

    Attributes:
        units: the locked units that its lines start from.
        weights: float32 [these units, units of the other side].
    """

    color: str
    units: Sequence[int]
    weights: Floats


def locked_lines(
    axes: Axes, room: LineRoom, tokens: TokenAxes, side: Side, series: Sequence[Series]
) -> list[str]:
    """Draw lines from the locked units of a side to every token of the other side.

    Beside the other side, a strip per series has the sums over its units.

    Returns:
        Notes on what is left out.
    """
    far_side = other_side(side)
    width = min(_STRIP * len(series), room.across * _MAX_STRIPS) / room.across
    near, outer = (room.query, room.key) if side == "query" else (room.key, room.query)
    inner = outer + (near - outer) * width

    lines = [(unit, each.color) for each in series for unit in each.units]
    weights = np.concatenate([each.weights for each in series]).astype(np.float64)
    parts = weights[:, tokens[far_side].shown]
    firsts = np.cumsum([0, *(len(each.units) for each in series[:-1])])
    table = np.add.reduceat(parts, firsts, axis=0)
    totals = table.sum(axis=0)
    largest = max(1.0, float(table.max()))
    lowest_row = float(np.diff(room.edges[far_side]).min()) * room.along
    widest = min(_WIDEST, _SHARE_OF_ROW * lowest_row / max(1.0, float(totals.max())))
    # The lines to one token lie side by side.
    offsets = np.cumsum(parts, axis=0) - parts / 2 - totals / 2
    starts, ends = room.middles(side), room.middles(far_side)
    paths, line_colors, widths = [], [], []
    drawn = _strongest(parts)
    for line, place in zip(*drawn, strict=True):
        unit, color = lines[line]
        weight = float(parts[line, place])
        start = float(starts[tokens[side].places[unit]])
        end = float(ends[place] + widest * offsets[line, place] / room.along)
        paths.append(room.curve((near, start), (inner, end)))
        line_colors.append(to_rgba(color, min(1, weight) ** 0.75))
        widths.append(max(_RIBBON, widest * weight))
    add_curves(axes, paths, line_colors, widths, capstyle="butt")
    strips = min(inner, outer), abs(outer - inner)
    colors = [each.color for each in series]
    _add_strips(axes, room, room.edges[far_side], table / largest, strips, colors)
    # The total is zero where a query sees no key or gives all its attention to a sink.
    return [_drawn_share(float(parts[drawn].sum()), float(weights.sum()))]


def _add_strips(
    axes: Axes,
    room: LineRoom,
    edges: Points,
    table: NDArray[np.float64],
    strips: tuple[float, float],
    colors: Sequence[str],
) -> None:
    """Add a strip per head beside the tokens, as opaque as the attention that each receives.

    Args:
        table: weights [heads, tokens], from 0 to 1.
        strips: the left edge and the width of all strips.
    """
    bounds = group_bounds(table.shape[1], _MAX_STRIP_ROWS)
    largest = np.maximum.reduceat(table, bounds[:-1], axis=1)
    width = strips[1] / len(table)
    corners, strip_colors = [], []
    for head, color in enumerate(colors):
        left = strips[0] + head * width
        cells = [(edges[0], edges[-1], _STRIP_TRACK_OPACITY)]
        cells += [
            (edges[a], edges[b], float(weight) ** 0.75)
            for (a, b), weight in zip(pairwise(bounds), largest[head], strict=True)
            if weight >= FAINTEST
        ]
        for top, bottom, opacity in cells:
            box = [(left, top), (left + width, top), (left + width, bottom), (left, bottom)]
            corners.append([room.point(*corner) for corner in box])
            strip_colors.append(to_rgba(color, opacity))
    boxes = PolyCollection(corners, facecolors=strip_colors, linewidths=0)
    axes.add_collection(boxes, autolim=False)


def _strongest(weights: NDArray[np.float64]) -> tuple[NDArray[np.intp], ...]:
    """Indices of the weights that are drawn, in the order of rows and columns."""
    drawn = np.flatnonzero(weights >= FAINTEST)
    if len(drawn) > _MAX_LINES:
        order = np.argsort(-weights.ravel()[drawn], kind="stable")
        drawn = np.sort(drawn[order[:_MAX_LINES]])
    return np.unravel_index(drawn, weights.shape)


def _drawn_share(drawn: float, total: float) -> str:
    percent = 100 * drawn / total if total else 100
    # The rounding of a sum is no attention that is left out.
    return "" if percent > 99.9999 else f"{share(percent)} of attention drawn"
