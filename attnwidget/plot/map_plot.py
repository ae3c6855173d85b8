"""Every head as a point, placed by two metrics or by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import BboxBase

from attnwidget.view_state import NO_SIZE, SIMILARITY
from attnwidget.wire import Metrics, SentMetric

from .axes import PLAIN, Size, add_caption, explain, grown, lay_out, new_axes
from .colors import palette_of
from .heads import Heads, HeadSource, Numbers, head_inks, metric_title
from .notes import clean

# The areas of points in square points: of equal ones, and of the smallest and largest of others.
_EQUAL, _AREAS = 30.0, (8.0, 220.0)
_MAX_LABELS = 12


def map(
    record: HeadSource,
    *,
    x: str = "distance",
    y: str = "entropy",
    color: str = "pattern",
    size: str | None = None,
    metrics: Metrics | None = None,
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw every head as a point, placed by two metrics.

    Args:
        record: a record; or a profile, for its means over texts and words, beside its null.
        x, y: the metrics on the axes, by name: those of `attnwidget.analysis.METRICS` or of the
            profile, or of `metrics`. Where the stack does not have one of the defaults, its first
            other metric.
        color: "pattern", "layer", or the name of a metric.
        size: the metric whose magnitude is the size of the points; None for equal points.
        metrics: numbers of your own, as `AttentionWidget` takes them. A "null" of both axes is
            drawn as "+", with the range of 95% of it in grey.
        stack, caption, ax: as in `head`.

    Returns:
        The Axes; `ax.collections[0]` has the points, the large ones first.

    Raises:
        ValueError: there is no such metric, or `metrics` are of another shape.
        TypeError: `metrics` are no dict of arrays; or as in `head`.
        KeyError, ImportError: as in `head`.
    """
    heads = Heads.of(record, stack, metrics)
    similarity = heads.similarity if x == SIMILARITY else None
    defaults = {"x": "distance", "y": "entropy", "size": NO_SIZE}
    for name, chosen in {"x": x, "y": y, "size": size or NO_SIZE}.items():
        other = SIMILARITY if name == "x" and similarity is not None else None
        if chosen not in (*heads.metrics, defaults[name], other):
            raise ValueError(f"{name} is {chosen!r}; there are {', '.join(heads.metrics)}")
    ax = new_axes(map_size()) if ax is None else ax
    palette, there = palette_of(ax), heads.exist
    colors, metric = head_inks(heads, color, palette), heads.metrics.get(size or NO_SIZE)
    notes = [heads.of_what]
    places, on = heads.points(x, y)
    nulls, null = np.zeros((0, 2)), ""
    if similarity is not None:
        ax.set(xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
        notes.append(f"near each other: alike by {similarity['label']}")
        kept = similarity["kept"]
        notes.append("" if kept is None else f"two dimensions keep {kept:.0%}")
    else:
        nulls = np.stack([heads.null(each)[there] for each in on], axis=1)
        null = next((each["null"]["label"] for each in on if "null" in each), "")
        ax.set_xlabel(_axis_title(on[0]), **PLAIN)
        ax.set_ylabel(_axis_title(on[1]), **PLAIN)
    areas = np.full(len(places), _EQUAL)
    if metric is not None:
        notes.append(f"size: |{metric['label']}|")
        magnitudes = np.nan_to_num(np.abs(heads.values(metric)[there]))
        areas = _AREAS[0] + (_AREAS[1] - _AREAS[0]) * magnitudes / (magnitudes.max() or 1)
    known = np.asarray(np.isfinite(places).all(axis=1))
    if not known.all():
        notes.append(f"{np.count_nonzero(~known)} without a value")
    # Small points stay visible on large ones.
    order = [at for at in np.argsort(-areas, kind="stable") if known[at]]
    ax.set_axisbelow(True)
    style: dict[str, Any] = {"alpha": 0.75, "edgecolors": palette.background, "linewidths": 0.5}
    inks = colors.rgba[there][order]
    ax.scatter(places[order, 0], places[order, 1], s=areas[order], c=inks, zorder=3, **style)
    handles: list[Artist] = []
    found = nulls[np.isfinite(nulls).all(axis=1)]
    if len(found):
        style = {"marker": "+", "color": palette.muted}
        ax.scatter(found[:, 0], found[:, 1], s=18, linewidths=0.7, zorder=2, **style)
        handles.append(Line2D([], [], linestyle="", label=clean(null), **style))
    # The outline of a very narrow range is seen.
    style = {"color": palette.muted, "alpha": 0.15, "linewidth": 1, "zorder": 1}
    spans: list[Any] = [ax.axvspan, ax.axhspan]
    ranges = [heads.null_range(each) for each in on]
    for span, ends in zip(spans, ranges, strict=False):
        if ends is not None:
            span(*ends, **style)
    if any(ranges):
        handles.append(Patch(label=f"95% of {clean(null)}", **style))
    explain(ax, colors, handles)
    if caption:
        add_caption(ax, notes, palette, ax.xaxis.label)
    _name_points(ax, heads.names, places, areas, order)
    return ax


def map_size() -> Size:
    """The size of the map and its legend, in inches."""
    width, height = grown(0)
    return 1.2 * width, height


def _axis_title(metric: SentMetric) -> str:
    """The metric with its unit, and with the directions of its sign."""
    directions = metric["directions"]
    signs = f"\n← {directions[0]} · {directions[1]} →" if directions else ""
    return clean(metric_title(metric)) + signs


def _name_points(
    axes: Axes, names: Sequence[str], places: Numbers, areas: Numbers, order: Sequence[int]
) -> None:
    """Name the largest points, or those farthest from the middle, where there is room."""
    if not order:
        return
    shown = places[order]
    distance = np.linalg.norm((places - shown.mean(axis=0)) / (shown.std(axis=0) + 1e-12), axis=1)
    importance = areas if np.ptp(areas) else distance
    lay_out(axes)
    points = axes.transData.transform(shown)
    taken: list[BboxBase] = []
    for at in sorted(order, key=lambda at: -importance[at]):
        style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "zorder": 5}
        reach = np.sqrt(areas[at]) / 2 + 2
        name = axes.annotate(names[at], places[at], (reach, 0), fontsize="small", **style)
        if name.get_window_extent().x1 > axes.bbox.x1:
            name.set(position=(-reach, 0), ha="right")
        box = name.get_window_extent()
        if box.count_overlaps(taken) or box.count_contains(points):
            name.remove()
        else:
            taken.append(box)
        if len(taken) == _MAX_LABELS:
            break
