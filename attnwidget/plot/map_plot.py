"""Every head as a point, placed by two metrics or by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from attnwidget.corpus import HeadProfile
from attnwidget.record import AttentionRecord
from attnwidget.wire import Metrics, SentMetric, SentSimilarity

from .axes import PLAIN, Size, add_caption, add_legend, clean, font_points, grown, new_axes
from .colors import palette_of
from .heads import Heads, Numbers, head_inks, metric_title

# The areas of points in square points: of equal ones, and of the smallest and largest of others.
_EQUAL = 30.0
_AREAS = (8.0, 220.0)
_MAX_LABELS = 12


def map(
    record: AttentionRecord | HeadProfile,
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
        TypeError: `metrics` are no dict of arrays.
        KeyError, ImportError: as in `head`.
    """
    heads = Heads.of(record, stack, metrics)
    defaults = (("x", x, "distance"), ("y", y, "entropy"), ("size", size, None))
    for name, chosen, default in (*defaults, ("color", color, "pattern")):
        others = (default, "layer") if name == "color" else (default,)
        if chosen not in (*heads.metrics, *others):
            raise ValueError(f"{name} is {chosen!r}; there are {', '.join(heads.metrics)}")
    ax = new_axes(map_size()) if ax is None else ax
    draw_map(ax, heads, (x, y), color, size, caption=caption)
    return ax


def map_size() -> Size:
    """The size of the map and its legend, in inches."""
    width, height = grown(0)
    return 1.2 * width, height


def draw_map(
    axes: Axes,
    heads: Heads,
    on: tuple[str, str],
    color: str = "pattern",
    size: str | None = None,
    *,
    similarity: SentSimilarity | None = None,
    marked: str | None = None,
    caption: bool = True,
) -> None:
    """Draw every head as a point, with the null beside them.

    Args:
        on: the metrics on the axes.
        color, size, caption: as in `map`.
        similarity: as `wire.encode_similarity` returns it, for places by it; None for metrics.
        marked: the name of the head that is ringed.
    """
    palette, there = palette_of(axes), heads.exist
    colors = head_inks(heads, color, palette)
    by_similarity = _similar_places(heads, similarity)
    if by_similarity is None:
        x, y = _on_axes(heads, *on)
        places = np.stack([heads.values(metric)[there] for metric in (x, y)], axis=1)
        nulls = [heads.null(metric) for metric in (x, y)]
        null = next((each["null"]["label"] for each in (x, y) if "null" in each), "")
        null_places = (
            None
            if nulls[0] is None or nulls[1] is None
            else np.stack([nulls[0][there], nulls[1][there]], axis=1)
        )
    else:
        places, null_places, null = by_similarity
    metric = heads.metrics.get(size or "")
    areas = np.full(len(places), _EQUAL)
    if metric is not None:
        magnitudes = np.nan_to_num(np.abs(heads.values(metric)[there]))
        areas = _AREAS[0] + (_AREAS[1] - _AREAS[0]) * magnitudes / (magnitudes.max() or 1)
    known = np.isfinite(places).all(axis=1)
    # Small points stay visible on large ones.
    order = [at for at in np.argsort(-areas, kind="stable") if known[at]]
    axes.set_axisbelow(True)
    axes.scatter(
        *places[order].T,
        s=areas[order],
        c=colors.rgba[there][order],
        alpha=0.75,
        edgecolors=palette.background,
        linewidths=0.5,
        zorder=3,
    )
    handles: list[Any] = list(colors.handles)
    if null_places is not None:
        style: dict[str, Any] = {"marker": "+", "color": palette.muted}
        found = null_places[np.isfinite(null_places).all(axis=1)]
        axes.scatter(*found.T, s=18, linewidths=0.7, zorder=2, **style)
        handles.append(Line2D([], [], linestyle="", label=clean(null), **style))
    if by_similarity is None:
        spans = [(heads.null_range(m), span) for m, span in ((x, axes.axvspan), (y, axes.axhspan))]
        # The outline of a very narrow range is seen.
        style = {"color": palette.muted, "alpha": 0.15, "linewidth": 1, "zorder": 1}
        for ends, span in spans:
            if ends is not None:
                span(*ends, **style)
        if any(ends for ends, _ in spans):
            handles.append(Patch(**style, label=f"95% of {clean(null)}"))
        axes.set_xlabel(_axis_title(x), **PLAIN)
        axes.set_ylabel(_axis_title(y), **PLAIN)
    else:
        axes.set(xticks=[], yticks=[])
        axes.set_aspect("equal", adjustable="datalim")
    current = None if marked is None else heads.names.index(marked)
    if current is not None and known[current]:
        ring = (np.sqrt(areas[current]) + 6) ** 2
        ring_style: dict[str, Any] = {"facecolors": "none", "edgecolors": palette.accent}
        axes.scatter(*places[current], s=ring, linewidths=1.5, zorder=4, **ring_style)
    _name_points(axes, heads.names, places, areas, order, current)
    if colors.mappable is not None:
        colors.explain(axes)
    if handles:
        add_legend(axes, handles)
    if caption:
        notes = [] if metric is None else [f"size: |{metric['label']}|"]
        if by_similarity is not None and similarity is not None:
            kept = similarity["kept"]
            notes.append(f"near each other: alike by {similarity['label']}")
            notes.append("" if kept is None else f"two dimensions keep {kept:.0%}")
        if heads.num_texts is not None:
            notes.append(f"means of {heads.num_texts:,} texts")
        if not known.all():
            notes.append(f"{np.count_nonzero(~known)} without a value")
        add_caption(axes, notes, palette, axes.xaxis.label)


def _similar_places(
    heads: Heads, similarity: SentSimilarity | None
) -> tuple[Numbers, Numbers | None, str] | None:
    """(places, places of the null, its label) by similarity; None if the stack has none."""
    name = heads.stack_name
    if similarity is None or name not in similarity["places"]:
        return None
    places = np.concatenate([np.array(row) for row in similarity["places"][name]])
    null = similarity.get("null")
    if null is None:
        return places, None, ""
    return places, np.concatenate([np.array(row) for row in null["places"][name]]), null["label"]


def _on_axes(heads: Heads, x: str, y: str) -> tuple[SentMetric, SentMetric]:
    """The metrics on the axes: one that the stack does not have is replaced by its first other."""

    def known(name: str, other: str) -> SentMetric:
        others = (metric for each, metric in heads.metrics.items() if each != other)
        return heads.metrics.get(name) or next(others)

    first = known(x, y)
    return first, known(y, first["name"])


def _axis_title(metric: SentMetric) -> str:
    """The metric with its unit, and with the directions of its sign."""
    directions = metric["directions"]
    signs = f"\n← {directions[0]} · {directions[1]} →" if directions else ""
    return clean(metric_title(metric)) + signs


def _name_points(
    axes: Axes,
    names: Sequence[str],
    places: Numbers,
    areas: Numbers,
    order: Sequence[int],
    current: int | None,
) -> None:
    """Name the largest points, or those farthest from the middle, where there is room."""
    if not order:
        return
    shown = places[order]
    spread = shown.std(axis=0) + 1e-12
    distance = np.linalg.norm((places - shown.mean(axis=0)) / spread, axis=1)
    importance = areas if np.ptp(areas) else distance
    notable = sorted(order, key=lambda at: (at != current, -importance[at]))
    # The final place of points in the figure is known once limits are set.
    axes.autoscale_view()
    points = axes.transData.transform(places) * 72 / axes.figure.dpi
    size = font_points("small") * 0.9
    taken: list[NDArray[np.float64]] = []
    for at in notable:
        if len(taken) == _MAX_LABELS:
            break
        corner = points[at] + (np.sqrt(areas[at]) / 2 + 2, -size / 2)
        box = np.array([corner, corner + (0.6 * size * len(names[at]), size)])
        covered = ((points[order] > box[0] - 2) & (points[order] < box[1] + 2)).all(axis=1).any()
        overlaps = any((box[0] < o[1]).all() and (o[0] < box[1]).all() for o in taken)
        if at == current or not (covered or overlaps):
            taken.append(box)
            axes.annotate(
                names[at],
                places[at],
                tuple(corner - points[at]),
                textcoords="offset points",
                fontsize=size,
                fontweight="bold" if at == current else "normal",
                zorder=5,
            )
