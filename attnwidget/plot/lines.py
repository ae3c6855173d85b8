"""Lines from queries to keys: all of them, or those of what is locked with strips beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.path import Path
from numpy.typing import NDArray

from attnwidget.record import Floats

from .shown import SIDES, Side, TokenAxes, group_bounds, other
from .text import share
from .weights import ShownMatrix

# Weights below this are not drawn, nor more lines than a file should hold.
FAINTEST = 0.0005
_MOST_LINES = 2000
# Over so many tokens, neighbours share a line.
MOST_APART = 64
# Widths of lines in points, of a weight of 0 and of what a weight of 1 adds.
_THINNEST = 0.7
_THICKER = 1.2
# The mean opacity of all lines together, at most.
_DENSEST = 0.45

# Strips beside the tokens that get attention: width of each, and share of the room of all.
_STRIP = 7
_STRIPS_AT_MOST = 0.3
_TRACE = 0.05
_STRIP_ROWS = 360
# Lines of what is locked: the widest, the thinnest, and the share of a row that they fill.
_WIDEST = 5
_RIBBON = 0.9
_OF_ROW = 0.85

_CURVE = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
Points = NDArray[np.float64]


@dataclass(frozen=True)
class LineRoom:
    """Room for lines between the queries and the keys.

    Attributes:
        edges: by side, where each token begins, and where the last one ends.
        query, key: the coordinates of both sides across the tokens.
        across: points between them; along: points per unit of the edges.
        horizontal: whether tokens stand side by side, so that lines go from top to bottom.
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
        """From a point (across, along) to another, level at both ends."""
        third = (end[0] - start[0]) / 3
        points = [start, (start[0] + third, start[1]), (end[0] - third, end[1]), end]
        return Path([self.point(*point) for point in points], _CURVE)

    def point(self, across: float, along: float) -> tuple[float, float]:
        return (along, across) if self.horizontal else (across, along)


def all_lines(
    axes: Axes,
    room: LineRoom,
    tokens: TokenAxes,
    matrices: Sequence[ShownMatrix],
    colors: Sequence[str],
) -> list[str]:
    """One line per pair, in the colours of the strongest heads there; returns what is left out."""
    bounds = {side: group_bounds(len(tokens[side].shown), MOST_APART) for side in SIDES}
    rows, keys = bounds["query"], bounds["key"]
    counts = np.diff(rows)[:, None]
    shape = len(rows) - 1, len(keys) - 1
    most, drawn_sums, shares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    inks, total = np.zeros((*shape, 3)), 0.0
    place = np.ix_(tokens.query.shown, tokens.key.shown)
    for matrix, color in zip(matrices, colors, strict=True):
        weights = matrix.weights()
        total += float(weights[tokens.query.shown].sum(dtype=np.float64))
        sums = np.add.reduceat(weights[place], rows[:-1], axis=0, dtype=np.float64)
        sums = np.add.reduceat(sums, keys[:-1], axis=1)
        drawn_sums += sums
        means = sums / counts
        np.maximum(most, means, out=most)
        # The strongest heads give the colour: the plain mean of twelve colours is none.
        shares += means**3
        inks += (means**3)[..., None] * np.array(to_rgb(color))
    inks /= np.where(shares > 0, shares, 1)[..., None]

    drawn = _strongest(most)
    ends = {
        side: [(room.edges[side][a] + room.edges[side][b]) / 2 for a, b in pairwise(bounds[side])]
        for side in SIDES
    }
    weights = np.minimum(most[drawn], 1)
    widths = _THINNEST + _THICKER * weights
    starts, stops = np.array(ends["query"])[drawn[0]], np.array(ends["key"])[drawn[1]]
    lengths = np.hypot(1, (stops - starts) * room.along / room.across)
    ink = float((widths * weights * lengths).sum())
    whole = (max(edges[-1] for edges in room.edges.values())) * room.along
    light = min(1.0, _DENSEST * whole / ink) if ink else 1.0
    paths = [
        room.curve((room.query, start), (room.key, stop))
        for start, stop in zip(starts, stops, strict=True)
    ]
    _add_curves(axes, paths, np.column_stack([inks[drawn], weights * light]), widths)
    notes = [_drawn_share(float(drawn_sums[drawn].sum()), total)]
    if shape != (len(tokens.query.shown), len(tokens.key.shown)):
        group = (math.ceil(len(tokens[side].shown) / MOST_APART) for side in SIDES)
        notes.append("each line of up to {} × {} tokens".format(*group))
    return notes


def locked_lines(
    axes: Axes,
    room: LineRoom,
    tokens: TokenAxes,
    side: Side,
    units: Sequence[int],
    weights: Sequence[Floats],
    colors: Sequence[str],
) -> list[str]:
    """From the locked units of a side to every token of the other; returns what is left out.

    Args:
        weights: of every matrix, to all units of the other side.
    """
    far_side = other(side)
    sign = 1 if side == "query" else -1
    width = min(_STRIP * len(weights), room.across * _STRIPS_AT_MOST) / room.across
    strips = abs(room.key - room.query) * width
    near, outer = (room.query, room.key) if side == "query" else (room.key, room.query)
    inner = outer - sign * strips

    table = np.array(weights, np.float64)[:, tokens[far_side].shown]
    totals = table.sum(axis=0)
    largest = max(1.0, float(table.max()))
    lowest = float(np.diff(room.edges[far_side]).min()) * room.along
    widest = min(_WIDEST, _OF_ROW * lowest / max(1.0, float(totals.max())))
    # At one token, the lines of several heads lie side by side.
    below = np.cumsum(table, axis=0) - table / 2 - totals / 2
    starts, ends = room.middles(side), room.middles(far_side)
    paths, looks, widths = [], [], []
    drawn = _strongest(table)
    for matrix, to in zip(*drawn, strict=True):
        weight = float(table[matrix, to])
        end = float(ends[to] + widest * below[matrix, to] / room.along)
        for unit in units:
            start = float(starts[tokens[side].places[unit]])
            paths.append(room.curve((near, start), (inner, end)))
            looks.append(to_rgba(colors[matrix], (weight / largest) ** 0.75))
            widths.append(max(_RIBBON, widest * weight))
    _add_curves(axes, paths, looks, widths)
    left = min(inner, outer)
    _strips(axes, room, room.edges[far_side], table / largest, (left, strips), colors)
    # Nothing is drawn where a query sees no key or gives all to a sink.
    return [_drawn_share(float(table[drawn].sum()), float(np.array(weights).sum()))]


def _strips(
    axes: Axes,
    room: LineRoom,
    edges: Points,
    table: NDArray[np.float64],
    place: tuple[float, float],
    colors: Sequence[str],
) -> None:
    """Beside the tokens, how much each gets of every head."""
    bounds = group_bounds(table.shape[1], _STRIP_ROWS)
    largest = np.maximum.reduceat(table, bounds[:-1], axis=1)
    stripe = place[1] / len(table)
    corners, looks = [], []
    for head, color in enumerate(colors):
        left = place[0] + head * stripe
        rows = [(edges[0], edges[-1], _TRACE)]
        rows += [
            (edges[a], edges[b], float(weight) ** 0.75)
            for (a, b), weight in zip(pairwise(bounds), largest[head], strict=True)
            if weight >= FAINTEST
        ]
        for top, bottom, opacity in rows:
            box = [(left, top), (left + stripe, top), (left + stripe, bottom), (left, bottom)]
            corners.append([room.point(*corner) for corner in box])
            looks.append(to_rgba(color, opacity))
    axes.add_collection(PolyCollection(corners, facecolors=looks, linewidths=0), autolim=False)


def _add_curves(
    axes: Axes, paths: Sequence[Path], colors: Points | Sequence[object], widths: object
) -> None:
    curves = PathCollection(
        paths, facecolors="none", edgecolors=colors, linewidths=widths, capstyle="butt"
    )
    axes.add_collection(curves, autolim=False)


def _strongest(weights: NDArray[np.float64]) -> tuple[NDArray[np.intp], ...]:
    """Where the weights are that are drawn, in the order of rows and columns."""
    found = np.flatnonzero(weights >= FAINTEST)
    if len(found) > _MOST_LINES:
        order = np.argsort(-weights.ravel()[found], kind="stable")
        found = np.sort(found[order[:_MOST_LINES]])
    return np.unravel_index(found, weights.shape)


def _drawn_share(drawn: float, total: float) -> str:
    percent = 100 * drawn / total if total else 100
    # The rest of a sum's rounding is none of the attention.
    return "" if percent > 99.9999 else f"{share(percent)} of attention drawn"
