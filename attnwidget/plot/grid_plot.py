"""A grid of numbers over layers, heads and positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from attnwidget.analysis import GridScores

from .axes import PLAIN, add_caption, add_colorbar, font_points, grown, new_axes, set_title
from .colors import palette_of, shade
from .notes import shorten


def grid(scores: GridScores, *, caption: bool = True, ax: Axes | None = None) -> Axes:
    """Draw a grid of numbers, as of `patch_scan`: rows are layers or heads.

    Args:
        caption: False to leave out what the grid is, and the range of its null.
        ax: the Axes to draw on; those of a new figure if None.

    Returns:
        The Axes. `ax.images[0]` has the numbers; one that is not known is empty.
    """
    rows, columns = scores.values.shape
    ax = new_axes(grown(rows, columns)) if ax is None else ax
    palette = palette_of(ax)
    known = scores.values[~np.isnan(scores.values)]
    most = float(np.abs(known).max()) if known.size else 1.0
    image = ax.imshow(
        scores.values,
        cmap=palette.colormap(signed=True),
        norm=shade(most or 1.0, signed=True),
        aspect="auto",
        interpolation="none",
    )
    set_title(ax, f"{scores.name} at {scores.site}")
    ax.grid(visible=False)
    of_rows, of_columns = scores.axes
    ax.set(xlabel=of_columns, ylabel=of_rows)
    _label(ax.yaxis, scores.rows)
    _label(ax.xaxis, scores.columns, turned=of_columns == "position")
    add_colorbar(ax, image, f"{scores.name} ({scores.unit})" if scores.unit else scores.name)
    if caption:
        notes = [scores.description]
        if scores.null is not None:
            low, high = np.nanpercentile(scores.null, [2.5, 97.5])
            notes.append(f"95% of {scores.null_label} lie from {low:.2g} to {high:.2g}")
        add_caption(ax, notes, palette, ax.xaxis.label)
    return ax


def _label(axis: Axis, labels: Sequence[str], *, turned: bool = False) -> None:
    """Name as many rows or columns as have room."""
    size = font_points("xtick.labelsize" if turned else "ytick.labelsize")
    step = max(1, round(len(labels) * size / 600))
    places = list(range(0, len(labels), step))
    axis.set_ticks(places, labels=[shorten(labels[at]) for at in places], **PLAIN)
    axis.set_tick_params(length=0, labelrotation=90 if turned else 0)
