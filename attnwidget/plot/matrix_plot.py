"""A head's weights as a matrix, with the names of its rows and columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import FuncNorm, LinearSegmentedColormap, Normalize, PowerNorm
from matplotlib.patches import Rectangle

from attnwidget.record import Floats

from .axes import (
    add_note,
    font_size,
    label_tokens,
    palette_of,
    size_in_points,
    spaced_places,
)
from .shown import SIDES, Shown, group_bounds
from .text import clean, weight
from .weights import AttentionMatrix, finite

# The most cells along a side of the image.
_MAX_CELLS = 400
_LONGEST_LABEL = 14
_DIFFERENCE = "|B − A|, blue: more in B, orange: less,"


def _signed_root(values: Floats) -> Floats:
    roots: Floats = np.sign(values) * np.sqrt(np.abs(values))
    return roots


def _signed_square(values: Floats) -> Floats:
    squares: Floats = np.sign(values) * np.square(values)
    return squares


def draw_matrix(
    axes: Axes, shown: Shown, matrix: AttentionMatrix, title: str, *, most: float | None = None
) -> None:
    """Draw a matrix with queries as rows; the shade is √(weight ÷ largest weight).

    A difference is blue where B has more, and orange where it has less; scores are blue above zero
    and orange below, and masked keys are blank.

    Args:
        most: the number that has the full shade; the matrix's largest if None.
    """
    palette, tokens = palette_of(axes), shown.token_axes
    weights = finite(matrix.weights())[np.ix_(tokens.query.shown, tokens.key.shown)]
    rows, columns = weights.shape
    width, height = size_in_points(axes)
    # A cell lower than a point would be invisible.
    max_cells = int(min(_MAX_CELLS, max(width, height)))
    tops, lefts = group_bounds(rows, max_cells), group_bounds(columns, max_cells)
    largest, least = (
        reduce.reduceat(reduce.reduceat(weights, tops[:-1], axis=0), lefts[:-1], axis=1)
        for reduce in (np.maximum, np.minimum)
    )
    signed = matrix.signed
    most = most or float(np.abs(weights).max()) or 1.0
    colors = [palette.background, palette.ink]
    norm: Normalize = PowerNorm(0.5, 0, most)
    if signed:
        colors = [palette.negative, palette.background, palette.positive]
        norm = FuncNorm((_signed_root, _signed_square), -most, most)
    axes.imshow(
        np.where(largest >= -least, largest, least),
        cmap=LinearSegmentedColormap.from_list("weights", colors),
        norm=norm,
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
    style: dict[str, Any] = {
        "facecolor": "none",
        "edgecolor": palette.accent,
        "linewidth": min(1.5, 0.5 + cell / 8),
        "clip_on": False,
        "zorder": 3,
    }
    for unit in locked["query"]:
        axes.add_patch(Rectangle((0, tokens.query.places[unit]), columns, 1, **style))
    for unit in locked["key"]:
        axes.add_patch(Rectangle((tokens.key.places[unit], 0), 1, rows, **style))

    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.xaxis.tick_top()
    size = font_size(cell, "xtick.labelsize")
    for side, axis in zip(SIDES, (axes.yaxis, axes.xaxis), strict=True):
        units = tokens[side]
        places = [units.places[unit] for unit in locked[side]]
        label_tokens(
            axis,
            units,
            np.arange(0.5, len(units.shown)),
            spaced_places(len(units.shown), size / cell, places),
            size=size,
            locked=locked[side],
            colors=[palette.muted] * len(units.labels),
            palette=palette,
            max_letters=_LONGEST_LABEL,
            rotation=90 if side == "key" else 0,
        )
    measure = {
        "difference": _DIFFERENCE,
        "score difference": _DIFFERENCE,
        "score": "|score|, blue: above 0, orange: below,",
    }.get(matrix.measure, matrix.measure)
    notes = ["rows: queries", "columns: keys", f"shade: √{measure} up to {weight(most)}"]
    if max(rows, columns) > max_cells:
        group = math.ceil(max(rows, columns) / max_cells)
        notes.append(f"each cell the largest of up to {group} × {group}")
    add_note(axes, notes, palette, width)
