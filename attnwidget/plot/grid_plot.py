"""A grid of numbers over layers, heads and positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnwidget.analysis import GridScores
from attnwidget.analysis.head_scores import null_range
from attnwidget.counted import with_minus
from attnwidget.record import Tokens

from .attention import Side
from .axes import (
    Size,
    add_caption,
    add_colorbar,
    grown,
    label_tokens,
    labels_inches,
    new_axes,
    set_title,
    size_in_points,
)
from .colors import palette_of
from .heads import metric_scale


def grid(
    scores: GridScores,
    *,
    colorbar: bool = True,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a grid as a matrix: rows are layers or heads, columns positions or heads.

    Numbers above zero are blue, and those below orange. With a null, dots are on the cells whose
    number lies outside of 95% of the null's.

    Args:
        scores: as of `attnwidget.patch_scan`.
        colorbar: False to leave the colour bar out.
        caption, ax: as in `head`.

    Returns:
        The Axes. `ax.images[0]` has the numbers.

    Raises:
        TypeError: `scores` are no GridScores.
        ImportError: as in `head`.
    """
    if not isinstance(scores, GridScores):
        raise TypeError(
            f"scores is {type(scores).__name__}; expected GridScores, as attnwidget.patch_scan "
            "returns them"
        )
    ax = new_axes(grid_size(scores)) if ax is None else ax
    palette, values = palette_of(ax), scores.values
    rows, columns = values.shape
    norm, colors = metric_scale(values, True, palette)
    shown = np.ma.masked_invalid(values)
    extent = (0, columns, rows, 0)
    style: dict[str, Any] = {"cmap": colors, "norm": norm, "extent": extent, "aspect": "auto"}
    image = ax.imshow(shown, interpolation="none", **style)
    notes = [scores.description, f"of {scores.measured_on}" if scores.measured_on else ""]
    ends = null_range(scores.null)
    if ends is not None:
        low, high = ends
        at, across = np.nonzero((values < low) | (values > high))
        dots: dict[str, Any] = {"s": 8, "color": palette.background, "edgecolors": palette.text}
        ax.scatter(across + 0.5, at + 0.5, linewidths=0.5, zorder=3, **dots)
        null = scores.null_label or "the null"
        lowest, highest = (with_minus(end, ".2g") for end in ends)
        notes.append(f"95% of {null} lie from {lowest} to {highest}: dots are outside")
    set_title(ax, f"{scores.name} at {scores.site}" if scores.site else scores.name)
    ax.grid(visible=False)
    of_rows, of_columns = scores.axes
    ax.set(xlabel=of_columns, ylabel=of_rows)
    width, height = size_in_points(ax)
    for axis, side, room in (
        (ax.yaxis, _side(scores.rows), height / rows),
        (ax.xaxis, _side(scores.columns), width / columns),
    ):
        label_tokens(axis, side, np.arange(0.5, len(side)).tolist(), room, palette)
    if of_columns != "position":
        ax.tick_params(axis="x", labelrotation=0)
    if colorbar:
        add_colorbar(ax, image, f"{scores.name} ({scores.unit})" if scores.unit else scores.name)
    if caption:
        add_caption(ax, notes, palette, ax.xaxis.label)
    return ax


def grid_size(scores: GridScores) -> Size:
    """The size of the grid, its labels and its colour bar, in inches."""
    width, height = grown(len(scores.rows), 2 * len(scores.columns))
    return width, height + labels_inches(_side(scores.columns))


def _side(labels: tuple[str, ...]) -> Side:
    return Side("key", Tokens(labels), range(len(labels)))
