"""The middle of the head view: all lines, or those of what is looked at with strips beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from attnwidget.record import Floats

from .colors import Palette, mixed, rgb
from .columns import Columns
from .content import SIDES, Axes, Side, other, pooled_bounds
from .scene import Layout
from .sheets import Sheet
from .text import share

# Weights below this are not drawn, nor more lines than a file should hold.
_FAINTEST = 0.0005
_MOST = 2000
# Of more tokens, neighbours share a line.
_APART = 64
_THINNEST = 0.9
_THICKER = 1.6
# The mean opacity of all lines together, at most.
_DENSEST = 0.45

_STRIP = 9
_STRIPS_AT_MOST = 0.3
_WIDEST = 7
_OF_ROW = 0.85
_RIBBON = 1.2
_TRACE = 0.05
# More strips than these are a picture.
_RECTS = 800
_STRIP_ROWS = 360


def all_lines(
    body: Layout, axes: Axes, columns: Columns, sheets: Sequence[Sheet], colors: Sequence[str]
) -> str:
    """One line per pair, in the colours of the strongest heads there; says what is drawn."""
    rows, keys = (pooled_bounds(len(axes[side].shown), _APART) for side in SIDES)
    counts = np.diff(rows)[:, None]
    most = np.zeros((len(rows) - 1, len(keys) - 1), np.float32)
    given, parts = np.zeros(most.shape), np.zeros(most.shape)
    inks, total = np.zeros((*most.shape, 3)), 0.0
    place = np.ix_(axes.query.shown, axes.key.shown)
    for sheet, color in zip(sheets, colors, strict=True):
        weights = sheet.weights()
        total += float(weights[axes.query.shown].sum(dtype=np.float64))
        pooled = np.add.reduceat(weights[place], rows[:-1], axis=0)
        pooled = np.add.reduceat(pooled, keys[:-1], axis=1)
        given += pooled
        pooled = pooled / counts
        np.maximum(most, pooled, out=most)
        # The strongest heads give the colour: the plain mean of twelve colours is none.
        part = pooled.astype(np.float64) ** 3
        parts += part
        inks += part[..., None] * np.array(rgb(color), np.float64)
    inks /= np.where(parts > 0, parts, 1)[..., None]

    drawn = np.flatnonzero(most >= _FAINTEST)
    if len(drawn) > _MOST:
        strongest = np.argsort(-most.ravel()[drawn], kind="stable")[:_MOST]
        drawn = np.sort(drawn[strongest])
    tips = {
        side: [(columns[side].ends[a] + columns[side].ends[b]) / 2 for a, b in pairwise(bounds)]
        for side, bounds in zip(SIDES, (rows, keys), strict=True)
    }
    lines, ink = [], 0.0
    for at in drawn:
        row, key = divmod(int(at), len(keys) - 1)
        weight = min(1.0, float(most[row, key]))
        start, end = tips["query"][row], tips["key"][key]
        width = _THINNEST + _THICKER * weight
        ink += width * weight * math.hypot(1, (end - start) / columns.across)
        color = "#" + "".join(f"{math.floor(part + 0.5):02x}" for part in inks[row, key])
        lines.append((start, end, color, width, weight))
    light = min(1.0, _DENSEST * columns.length / ink) if ink else 1.0
    for start, end, color, width, weight in lines:
        body.bend(0, start, columns.across, end, color, width, opacity=weight * light)
    notes = [_share(100 * float(given.ravel()[drawn].sum()) / total if total else 100)]
    if most.shape != (len(axes.query.shown), len(axes.key.shown)):
        group = (math.ceil(len(axes[side].shown) / _APART) for side in SIDES)
        notes.append("each line of up to {} × {} tokens".format(*group))
    return " · ".join(filter(None, notes))


def ribbons(
    body: Layout,
    axes: Axes,
    columns: Columns,
    side: Side,
    looked: Sequence[int],
    strips: Sequence[Floats],
    colors: Sequence[str],
    palette: Palette,
) -> str:
    """From what is looked at to every token of the other side; says what is drawn."""
    own, far_side = axes[side], axes[other(side)]
    near_column, column = columns[side], columns[other(side)]
    inset = min(_STRIP * len(strips), columns.across * _STRIPS_AT_MOST)
    stripe = inset / len(strips)
    near, far, left = (
        (0.0, columns.across - inset, columns.across - inset)
        if side == "query"
        else (columns.across, inset, 0.0)
    )
    table = np.array(strips, np.float64)[:, far_side.shown]
    totals = table.sum(axis=0)
    largest = max(1.0, float(table.max()))
    narrowest = min(column.height(at) for at in range(len(far_side.shown)))
    widest = min(_WIDEST, _OF_ROW * narrowest / max(1.0, float(totals.max())))

    drawn = np.flatnonzero(table >= _FAINTEST)
    if len(drawn) > _MOST:
        strongest = np.argsort(-table.ravel()[drawn], kind="stable")[:_MOST]
        drawn = np.sort(drawn[strongest])
    below = np.cumsum(table, axis=0) * widest
    for at in drawn:
        sheet, to = divmod(int(at), table.shape[1])
        weight = table[sheet, to]
        end = column.tip(to) - widest * totals[to] / 2 + below[sheet, to] - widest * weight / 2
        opacity = float(weight / largest) ** 0.75
        for unit in looked:
            start = near_column.tip(own.places[unit])
            width = max(_RIBBON, widest * weight)
            body.bend(near, start, far, float(end), colors[sheet], float(width), opacity=opacity)
    _strips(body.at(left, 0), columns, other(side), table / largest, stripe, colors, palette)
    # Nothing, where a query sees no key or gives all to a sink.
    total = float(np.array(strips).sum())
    return _share(100 * float(table.ravel()[drawn].sum()) / total if total else 100)


def _strips(
    body: Layout,
    columns: Columns,
    side: Side,
    table: np.ndarray,
    stripe: float,
    colors: Sequence[str],
    palette: Palette,
) -> None:
    """Beside the tokens, how much each gets of every head."""
    column, count = columns[side], table.shape[1]
    if table.size <= _RECTS:
        for sheet, color in enumerate(colors):
            body.rect(*(sheet * stripe, 0, stripe, column.ends[-1]), fill=color, opacity=_TRACE)
            for at in range(count):
                if table[sheet, at] < _FAINTEST:
                    continue
                place = sheet * stripe, column.ends[at] + 1, stripe, column.height(at) - 2
                body.rect(*place, fill=color, opacity=float(table[sheet, at]) ** 0.75)
        return
    bounds = pooled_bounds(count, _STRIP_ROWS)
    largest = np.maximum.reduceat(table, bounds[:-1], axis=1)
    pixels = "".join(
        mixed(palette.background, color, max(_TRACE, float(largest[sheet, row]) ** 0.75))
        for row in range(len(bounds) - 1)
        for sheet, color in enumerate(colors)
    )
    body.cells(0, 0, stripe * len(colors), column.ends[-1], len(colors), pixels)


def _share(percent: float) -> str:
    # What is left of the sum's rounding is none of the attention.
    return "" if percent > 99.9999 else f"{share(percent)} of attention drawn"
