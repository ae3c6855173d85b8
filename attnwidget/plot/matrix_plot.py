"""A head's weights as a matrix, with the names of its rows and columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from attnwidget.record import Floats

from .colors import Palette, rgb
from .content import Axes, Axis, Content, pooled_bounds
from .scene import Layout
from .text import shorten, text_width

_ROOM = 470
_LARGEST_CELL = 26
# Names of all need cells at least this large; else there are places, this far apart at least.
_NAMES_FROM = 10
_TICKS_APART = 24
_LABELS = 80
_PLACES = 48
_TITLE = 14
_TOP = 26
# Cells along a side of the picture, at the most.
_MOST_CELLS = 400


def matrix(
    layout: Layout,
    content: Content,
    axes: Axes,
    weights: Floats,
    title: str,
    looked: Mapping[str, Sequence[int]],
) -> tuple[float, float]:
    """Draws it from a place on; returns the width and height that it takes."""
    palette = content.palette
    rows, columns = len(axes.query.shown), len(axes.key.shown)
    cell = min(_LARGEST_CELL, _ROOM / max(rows, columns))
    room = _LABELS if cell >= _NAMES_FROM else _PLACES
    across, down = columns * cell, rows * cell
    layout.text(0, _TITLE / 2, title, _TITLE, palette.text, bold=True)
    tops, lefts = pooled_bounds(rows, _MOST_CELLS), pooled_bounds(columns, _MOST_CELLS)
    note = "rows: queries · columns: keys · shade: √weight"
    if max(rows, columns) > _MOST_CELLS:
        group = math.ceil(max(rows, columns) / _MOST_CELLS)
        note += f" · each cell the largest of up to {group} × {group}"
    layout.text(0, _TOP + 4, note, 12, palette.muted)

    cells = layout.at(room, _TOP + 16 + room)
    shown = weights[np.ix_(axes.query.shown, axes.key.shown)]
    largest = np.maximum.reduceat(shown, tops[:-1], axis=0)
    largest = np.maximum.reduceat(largest, lefts[:-1], axis=1)
    cells.cells(0, 0, across, down, len(lefts) - 1, shades(np.sqrt(largest), palette))
    for at in axes.query.borders:
        cells.rect(0, at * cell - 0.5, across, 1, fill=palette.muted)
    for at in axes.key.borders:
        cells.rect(at * cell - 0.5, 0, 1, down, fill=palette.muted)
    cells.rect(-0.5, -0.5, across + 1, down + 1, stroke=palette.border)
    _names(cells, axes.query, cell, room, palette)
    _names(cells, axes.key, cell, room, palette)
    line = 1 if cell < 6 else 2
    for unit in looked["query"]:
        top = axes.query.places[unit] * cell
        cells.rect(0, top, across, cell, stroke=palette.accent, line=line)
    for unit in looked["key"]:
        left = axes.key.places[unit] * cell
        cells.rect(left, 0, cell, down, stroke=palette.accent, line=line)
    width = max(room + across, text_width(note, 12), text_width(title, _TITLE, bold=True))
    return width, _TOP + 16 + room + down


def shades(shares: Floats, palette: Palette) -> str:
    """Cells from the background (0) to the ink (1)."""
    below, above = (np.array(rgb(c), np.float64) for c in (palette.background, palette.ink))
    # Weights that were only recorded may exceed 1.
    mixed = below + (above - below) * np.minimum(shares, 1).astype(np.float64)[..., None]
    return np.floor(mixed + 0.5).astype(np.uint8).tobytes().hex()


def _names(cells: Layout, axis: Axis, cell: float, room: float, palette: Palette) -> None:
    """The name of every row or column, or the places of some."""
    every = 1 if cell >= _NAMES_FROM else round_step(_TICKS_APART / cell)
    size = min(12, cell * 0.85) if cell >= _NAMES_FROM else 11
    for at, unit in enumerate(axis.shown):
        if every > 1 and unit % every:
            continue
        name = f"{unit}" if every > 1 else shorten(axis.labels[unit], room - 10, size)
        middle = (at + 0.5) * cell
        if axis.side == "query":
            cells.text(-6, middle, name, size, palette.muted, anchor="end")
        else:
            cells.text(middle, -6, name, size, palette.muted, turned=True)


def round_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is not less."""
    power = 10 ** math.floor(math.log10(least)) if least > 1 else 1
    return next(int(power * n) for n in (1, 2, 5, 10) if power * n >= least)
