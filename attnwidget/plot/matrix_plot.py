"""A head's weights as a matrix, with the names of its rows and columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.patches import Rectangle

from .axes import (
    add_note,
    font_size,
    name_tokens,
    named_places,
    palette_of,
    size_in_points,
    to_ink,
)
from .shown import SIDES, Shown, group_bounds
from .text import clean
from .weights import ShownMatrix

# Cells along a side of the picture, at the most.
_MOST_CELLS = 400
_LONGEST_LABEL = 14


def draw_matrix(axes: Axes, shown: Shown, matrix: ShownMatrix, title: str) -> None:
    """Rows are queries, columns keys; the shade is the square root of the weight."""
    palette, tokens = palette_of(axes), shown.token_axes
    weights = matrix.weights()[np.ix_(tokens.query.shown, tokens.key.shown)]
    rows, columns = weights.shape
    width, height = size_in_points(axes)
    # A cell lower than a point could not be seen.
    most = int(min(_MOST_CELLS, max(width, height)))
    tops, lefts = group_bounds(rows, most), group_bounds(columns, most)
    largest = np.maximum.reduceat(weights, tops[:-1], axis=0)
    largest = np.maximum.reduceat(largest, lefts[:-1], axis=1)
    axes.imshow(
        largest,
        cmap=to_ink(palette, palette.ink),
        norm=PowerNorm(0.5, 0, 1),
        extent=(0, columns, rows, 0),
        interpolation="none",
    )
    axes.set_title(clean(title), parse_math=False)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_color(palette.border)

    axes.hlines(tokens.query.borders, 0, columns, color=palette.muted, linewidth=0.75)
    axes.vlines(tokens.key.borders, 0, rows, color=palette.muted, linewidth=0.75)
    locked = {side: tokens[side].units(shown.locked(side)) for side in SIDES}
    cell = min(width / columns, height / rows)
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": palette.accent}
    look |= {"linewidth": min(1.5, 0.5 + cell / 8), "clip_on": False, "zorder": 3}
    for unit in locked["query"]:
        axes.add_patch(Rectangle((0, tokens.query.places[unit]), columns, 1, **look))
    for unit in locked["key"]:
        axes.add_patch(Rectangle((tokens.key.places[unit], 0), 1, rows, **look))

    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.xaxis.tick_top()
    size = font_size(cell, "xtick.labelsize")
    for side, axis in zip(SIDES, (axes.yaxis, axes.xaxis), strict=True):
        units = tokens[side]
        places = [units.places[unit] for unit in locked[side]]
        name_tokens(
            axis,
            units,
            np.arange(0.5, len(units.shown)),
            named_places(len(units.shown), size / cell, places),
            size=size,
            locked=locked[side],
            colors=[palette.muted] * len(units.labels),
            palette=palette,
            most=_LONGEST_LABEL,
            rotation=90 if side == "key" else 0,
        )
    notes = ["rows: queries", "columns: keys", "shade: √weight"]
    if max(rows, columns) > most:
        group = math.ceil(max(rows, columns) / most)
        notes.append(f"each cell the largest of up to {group} × {group}")
    add_note(axes, notes, palette, width)
