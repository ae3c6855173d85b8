"""The heads of all layers with the highest numbers, as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .axes import (
    PLAIN,
    Size,
    add_caption,
    add_legend,
    explain,
    font_points,
    grown,
    new_axes,
    size_in_points,
)
from .colors import palette_of
from .heads import Heads, HeadSource, head_inks, metric_title

# The most heads that are drawn.
_MAX_HEADS = 60


def ranking(
    record: HeadSource,
    metric: str,
    *,
    color: str = "pattern",
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each of the heads with the highest numbers, from the highest on.

    They are at most 60, and as many as the Axes have room for with their names.

    Args:
        record: a record; or a profile, for its means over texts. The range of 95% of its null is
            grey.
        metric: the name of a metric, as of `model`.
        color, stack, caption, ax: as in `model`.

    Returns:
        The Axes; `ax.patches` are the bars.

    Raises:
        ValueError: there is no such metric.
        TypeError, KeyError, ImportError: as in `head`.
    """
    heads = Heads.of(record, stack)
    by = heads.metric(metric)
    ax = new_axes(ranking_size(heads)) if ax is None else ax
    palette = palette_of(ax)
    colors = head_inks(heads, color, palette)
    values = heads.values(by)[heads.exist]
    order = np.argsort(-values, kind="stable")
    room = int(size_in_points(ax)[1] / font_points("ytick.labelsize"))
    drawn = order[~np.isnan(values[order])][: min(_MAX_HEADS, max(1, room))]
    ax.barh(range(len(drawn)), values[drawn], color=colors.rgba[heads.exist][drawn])
    ax.set_yticks(range(len(drawn)), labels=[heads.names[at] for at in drawn])
    ax.set(ylim=(len(drawn) - 0.5, -0.5), ylabel="layer-head")
    ax.set_xlabel(metric_title(by), **PLAIN)
    handles: list[Artist] = []
    null = heads.null_range(by)
    if null is not None:
        style: dict[str, Any] = {"color": palette.muted, "alpha": 0.35, "linewidth": 0}
        ax.axvspan(*null, zorder=3, **style)
        handles.append(Patch(label=f"95% of {by['null']['label']}", **style))
    if color != metric:
        explain(ax, colors, handles)
    elif handles:
        add_legend(ax, handles)
    if caption:
        left_out = len(drawn) < len(values)
        notes = [f"the {len(drawn)} highest of {len(values)} heads" if left_out else ""]
        add_caption(ax, [*notes, heads.of_what], palette, ax.xaxis.label)
    return ax


def ranking_size(heads: Heads) -> Size:
    """The size of the bars and their labels, in inches."""
    return grown(min(len(heads.names), _MAX_HEADS))
