"""The ranking of the model view as a plot: the heads of all layers with the highest numbers."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .axes import add_legend, hide_frame, palette_of, size_in_points
from .coloring import brief, head_inks, layer_rows, metric_values, valid_choices
from .map_plot import null_range
from .shown import Shown
from .text import PLAIN, clean

# The most heads that are drawn.
_MAX_HEADS = 60

RankedHead = tuple[str, float, str]
"""The name of a head, as "24-4", its number, and its colour."""


def ranked_heads(shown: Shown, inks: list[list[str]] | None = None) -> list[RankedHead]:
    """The heads with the highest numbers, from the highest to the lowest."""
    sort, _, metric = valid_choices(shown)
    by = shown.stack_metrics.get(sort, metric)
    rows = layer_rows(shown)
    heads = [
        (f"{row.layer.number}-{head}", value, inks[n][at] if inks else "")
        for n, row in enumerate(rows)
        for at, (head, value) in enumerate(
            zip(row.heads, metric_values(by, row, shown), strict=True)
        )
        if not math.isnan(value)
    ]
    return sorted(heads, key=lambda head: -head[1])[:_MAX_HEADS]


def draw_ranking(axes: Axes, shown: Shown) -> None:
    """Draw a bar per head, as long as its number."""
    palette, rows = palette_of(axes), layer_rows(shown)
    sort, _, metric = valid_choices(shown)
    by = shown.stack_metrics.get(sort, metric)
    inks, legend = head_inks(shown, rows, palette)
    heads = ranked_heads(shown, inks)
    places = range(len(heads))
    axes.barh(places, [value for _, value, _ in heads], color=[ink for _, _, ink in heads])
    null = null_range(by, shown)
    if null is not None:
        axes.axvspan(*null, color=palette.muted, alpha=0.35, linewidth=0, zorder=3)
    hide_frame(axes)
    axes.set(ylim=(len(heads) - 0.5, -0.5), xticks=[])
    axes.set_yticks(places, labels=[name for name, _, _ in heads], fontsize="small")
    for place, (_, value, _) in enumerate(heads):
        axes.annotate(
            brief(by, value),
            (value, place),
            (4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize="small",
            color=palette.muted,
        )
    axes.margins(x=0.08)
    unit = f", {by['unit']}" if by["unit"] else ""
    axes.set_title(f"{clean(by['label'])}{unit}", **PLAIN)
    count = sum(len(row.heads) for row in rows)
    notes = [f"the {len(heads)} highest of {count} heads" if len(heads) < count else ""]
    if null is not None:
        notes.append(f"{clean(by['null']['label'])}, 95% in grey")
    if shown.num_texts is not None:
        notes.append(f"means of {shown.num_texts:,} texts")
    handles = [Patch(facecolor=ink, label=label) for ink, label in legend]
    add_legend(axes, handles, notes, palette, size_in_points(axes)[0])
