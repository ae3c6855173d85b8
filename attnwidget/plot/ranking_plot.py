"""The heads of all layers with the highest numbers, as bars."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from attnwidget.corpus import HeadProfile
from attnwidget.record import AttentionRecord

from .axes import PLAIN, Size, add_caption, add_legend, grown, new_axes
from .colors import palette_of
from .heads import Heads, head_inks, metric_title

# The most heads that are drawn.
_MAX_HEADS = 60


def ranking(
    record: AttentionRecord | HeadProfile,
    metric: str,
    *,
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each of the 60 heads with the highest numbers, from the highest on.

    Args:
        record: a record; or a profile, for its means over texts. The range of 95% of its null is
            grey.
        metric: the name of a metric, as of `model`.
        stack, caption, ax: as in `head`.

    Returns:
        The Axes; `ax.patches` are the bars.

    Raises:
        ValueError: there is no such metric.
        KeyError, ImportError: as in `head`.
    """
    heads = Heads.of(record, stack)
    heads.metric(metric)
    ax = new_axes(ranking_size(heads)) if ax is None else ax
    draw_ranking(ax, heads, metric, caption=caption)
    return ax


def ranking_size(heads: Heads) -> Size:
    """The size of the bars and their labels, in inches."""
    return grown(min(len(heads.names), _MAX_HEADS))


def draw_ranking(
    axes: Axes, heads: Heads, metric: str, color: str = "pattern", *, caption: bool = True
) -> None:
    """Draw a bar per head, as long as its number.

    Args:
        color, caption: as in `heads.head_inks` and `ranking`.
    """
    palette, by = palette_of(axes), heads.metrics[metric]
    colors = head_inks(heads, color, palette)
    values = heads.values(by)[heads.exist]
    order = np.argsort(-values, kind="stable")
    drawn = [at for at in order if not np.isnan(values[at])][:_MAX_HEADS]
    axes.barh(range(len(drawn)), values[drawn], color=colors.rgba[heads.exist][drawn])
    axes.set_yticks(range(len(drawn)), labels=[heads.names[at] for at in drawn], fontsize="small")
    axes.set(ylim=(len(drawn) - 0.5, -0.5), ylabel="layer-head")
    axes.set_xlabel(metric_title(by), **PLAIN)
    handles = list(colors.handles)
    null = heads.null_range(by)
    if null is not None:
        style = {"color": palette.muted, "alpha": 0.35, "linewidth": 0, "zorder": 3}
        axes.axvspan(*null, **style)
        handles.append(Patch(**style, label=f"95% of {by['null']['label']}"))
    if colors.mappable is not None and color != metric:
        colors.explain(axes)
        handles = handles[len(colors.handles) :]
    if handles:
        add_legend(axes, handles)
    notes = [f"the {len(drawn)} highest of {len(values)} heads" if len(drawn) < len(values) else ""]
    if heads.num_texts is not None:
        notes.append(f"means of {heads.num_texts:,} texts")
    if caption:
        add_caption(axes, notes, palette, axes.xaxis.label)
