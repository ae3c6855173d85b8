"""The map as a plot: every head as a point, placed by two metrics or by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from attnwidget.view_state import SIMILARITY
from attnwidget.wire import SentMetric
from attnwidget.wire.metrics import HeadNumbers

from .axes import add_legend, font_size, palette_of, size_in_points
from .coloring import all_layers, head_inks
from .colors import Palette
from .shown import Shown
from .text import PLAIN, clean

# The areas of points in square points: of equal ones, and of the smallest and largest of others.
_EQUAL = 36.0
_AREAS = (8.0, 260.0)
_OPACITY = 0.65
# The most labels of notable points, and the height of one in points.
_MAX_LABELS = 14
_LABEL_HEIGHT = 11.0
_LETTER = 5.5
# The shares of the null's heads that lie below its range, and below its upper end.
NULL_ENDS = (2.5, 97.5)

Range = tuple[float, float]


@dataclass(frozen=True)
class Placing:
    """The places of heads.

    Attributes:
        places: [heads, 2], NaN for a head without a value.
        nulls: those of the null, [heads, 2]; none without one.
        axes: the metrics on the axes; None for places by similarity.
        ranges: of 95% of the null's heads on either axis; None where there is no null.
        null_label: the name of the null; "" for none.
    """

    places: NDArray[np.float64]
    nulls: NDArray[np.float64]
    axes: tuple[SentMetric, SentMetric] | None
    ranges: tuple[Range | None, Range | None]
    null_label: str


def placing(shown: Shown) -> Placing:
    """The chosen places: a metric that the stack does not have is replaced by its first other."""
    similarity = shown.similarity
    if (
        shown.map_x == SIMILARITY
        and similarity is not None
        and shown.stack_name in similarity["places"]
    ):
        null = similarity.get("null")
        return Placing(
            np.concatenate([np.array(row) for row in similarity["places"][shown.stack_name]]),
            np.zeros((0, 2))
            if null is None
            else np.concatenate([np.array(row) for row in null["places"][shown.stack_name]]),
            None,
            (None, None),
            "" if null is None else null["label"],
        )
    metrics = list(shown.stack_metrics.values())
    chosen_x, chosen_y = (shown.stack_metrics.get(name) for name in (shown.map_x, shown.map_y))
    x = chosen_x or _other(metrics, chosen_y)
    y = chosen_y or _other(metrics, x)
    nulls = np.zeros((0, 2))
    if "null" in x and "null" in y:
        pairs = [_flat(metric["null"]["values"], shown) for metric in (x, y)]
        nulls = np.stack(pairs, axis=1)
    label = next((metric["null"]["label"] for metric in (x, y) if "null" in metric), "")
    places = np.stack([_flat(metric["values"], shown) for metric in (x, y)], axis=1)
    return Placing(places, nulls, (x, y), (null_range(x, shown), null_range(y, shown)), label)


def null_range(metric: SentMetric, shown: Shown) -> Range | None:
    """The range of 95% of the null's heads; None where there is no null."""
    if "null" not in metric:
        return None
    numbers = _flat(metric["null"]["values"], shown)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return None
    low, high = np.percentile(known, NULL_ENDS)
    return float(low), float(high)


def _other(metrics: Sequence[SentMetric], metric: SentMetric | None) -> SentMetric:
    return next((each for each in metrics if each is not metric), metrics[0])


def _flat(values: HeadNumbers, shown: Shown) -> NDArray[np.float64]:
    """The number of every head, layer by layer; NaN for no value."""
    rows = values.get(shown.stack_name, [])
    return np.array([np.nan if value is None else value for row in rows for value in row])


def draw_map(axes: Axes, shown: Shown, *, marked: bool = False) -> None:
    """Draw every head as a point, with the null beside them.

    Args:
        marked: True to ring the current head.
    """
    palette = palette_of(axes)
    rows = all_layers(shown)
    names = [f"{row.layer.number}-{head}" for row in rows for head in row.heads]
    inks, legend = head_inks(shown, rows, palette)
    if shown.color == "layer":
        # No number of a row has its colour here.
        ends = {0: rows[0], len(rows) - 1: rows[-1]}
        legend = [(inks[at][0], f"layer {row.layer.number}") for at, row in ends.items()]
    colors = np.array([ink for row in inks for ink in row])
    placed = placing(shown)
    areas = _areas(shown)
    x, y = placed.places.T
    there: NDArray[np.bool_] = np.asarray(np.isfinite(placed.places).all(axis=1))
    # Small points stay visible on large ones.
    order = [at for at in np.argsort(-areas, kind="stable") if there[at]]
    axes.set_axisbelow(True)
    axes.scatter(
        x[order],
        y[order],
        s=areas[order],
        c=colors[order],
        alpha=_OPACITY,
        edgecolors=palette.background,
        linewidths=0.5,
        zorder=3,
    )
    _draw_null(axes, placed, palette)
    _draw_frame(axes, shown, placed, palette)
    current = names.index(f"{shown.layer}-{shown.head}") if marked else None
    if current is not None and there[current]:
        ring = (np.sqrt(areas[current]) + 6) ** 2
        style: dict[str, Any] = {"facecolors": "none", "edgecolors": palette.accent}
        axes.scatter(x[current], y[current], s=ring, linewidths=2, zorder=4, **style)
    _label(axes, names, placed.places, areas, order, current, palette)
    null = clean(placed.null_label)
    notes = [f"{null}: +" if len(placed.nulls) else ""]
    if any(placed.ranges):
        notes.append(f"{null}, 95% in grey")
    metric = shown.stack_metrics.get(shown.map_size)
    if metric is not None:
        notes.append(f"size: |{clean(metric['label'])}|")
    if shown.num_texts is not None:
        notes.append(f"means of {shown.num_texts:,} texts")
    missing = int(np.count_nonzero(~there))
    if missing:
        notes.append(f"{missing} without a value")
    handles = [Patch(facecolor=ink, label=label) for ink, label in legend]
    width, _ = size_in_points(axes)
    # Below the title of the axis.
    add_legend(axes, handles, notes, palette, width, below=0.12 if placed.axes else 0)


def _areas(shown: Shown) -> NDArray[np.float64]:
    count = sum(layer.num_heads for layer in shown.current_stack.layers)
    metric = shown.stack_metrics.get(shown.map_size)
    if metric is None:
        return np.full(count, _EQUAL)
    magnitudes = np.nan_to_num(np.abs(_flat(metric["values"], shown)))
    least, most = _AREAS
    return least + (most - least) * magnitudes / (magnitudes.max() or 1)


def _draw_null(axes: Axes, placed: Placing, palette: Palette) -> None:
    """Draw the null's heads, and on either axis the range of 95% of them."""
    nulls = placed.nulls[np.isfinite(placed.nulls).all(axis=1)]
    if len(nulls):
        x, y = nulls.T
        axes.scatter(x, y, marker="+", s=18, c=palette.muted, linewidths=0.7, zorder=2)
    # The outline of a very narrow range is seen.
    style: dict[str, Any] = {"color": palette.muted, "alpha": 0.15, "linewidth": 1, "zorder": 1}
    across, up = placed.ranges
    if across is not None:
        axes.axvspan(*across, **style)
    if up is not None:
        axes.axhspan(*up, **style)


def _draw_frame(axes: Axes, shown: Shown, placed: Placing, palette: Palette) -> None:
    if placed.axes is not None:
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0, labelcolor=palette.muted)
        axes.grid(visible=True, color=palette.border, linewidth=0.5)
        x, y = placed.axes
        axes.set_xlabel(axis_title(x), **PLAIN)
        axes.set_ylabel(axis_title(y), **PLAIN)
        return
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    assert shown.similarity is not None
    note = f"near each other: alike by {clean(shown.similarity['label'])}"
    kept = shown.similarity["kept"]
    if kept is not None:
        note += f" · two dimensions keep {kept:.0%}"
    axes.text(0.01, 0.01, note, transform=axes.transAxes, fontsize="small", color=palette.muted)


def axis_title(metric: SentMetric) -> str:
    """The metric with its unit, and with the directions of its sign."""
    title = ", ".join(filter(None, (clean(metric["label"]), metric["unit"])))
    directions = metric["directions"]
    return title + (f" (← {directions[0]}, {directions[1]} →)" if directions else "")


def _label(
    axes: Axes,
    names: Sequence[str],
    places: NDArray[np.float64],
    areas: NDArray[np.float64],
    order: Sequence[int],
    current: int | None,
    palette: Palette,
) -> None:
    """Label the largest points, or those farthest from the middle, where there is room."""
    if not order:
        return
    middle = places[order].mean(axis=0)
    spread = places[order].std(axis=0) + 1e-12
    distance = np.linalg.norm((places - middle) / spread, axis=1)
    importance = areas if np.ptp(areas) else distance
    notable = sorted(order, key=lambda at: (at != current, -importance[at]))
    # The final place of points in the figure is known once limits are set.
    axes.autoscale_view()
    scale = 72 / axes.figure.dpi
    points = axes.transData.transform(places) * scale
    radii = np.sqrt(areas) / 2
    size = font_size(name="legend.fontsize") * 0.85
    edge = axes.get_window_extent().x0 * scale
    boxes: list[tuple[float, float, float]] = []
    for at in notable:
        if len(boxes) == _MAX_LABELS:
            break
        width = len(names[at]) * _LETTER
        across = radii[at] + 4
        for left in (-across - width, across):
            box = points[at][0] + left, points[at][1], width
            free = _is_free(box, boxes, points[order], radii[order], points[at])
            # The current head has a label in any case.
            if (free and box[0] >= edge) or (at == current and left > 0):
                boxes.append(box)
                axes.annotate(
                    names[at],
                    places[at],
                    (left, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=size,
                    fontweight="bold" if at == current else "normal",
                    color=palette.text,
                    zorder=5,
                )
                break


def _is_free(
    box: tuple[float, float, float],
    boxes: Sequence[tuple[float, float, float]],
    points: NDArray[np.float64],
    radii: NDArray[np.float64],
    own: NDArray[np.float64],
) -> bool:
    """True if a label covers no other label, and no point but its own."""
    left, middle, width = box
    for other_left, other_middle, other_width in boxes:
        beside = left > other_left + other_width or other_left > left + width
        if not beside and abs(middle - other_middle) < _LABEL_HEIGHT:
            return False
    across = np.maximum(np.maximum(left - points[:, 0], points[:, 0] - left - width), 0)
    down = np.maximum(np.abs(points[:, 1] - middle) - _LABEL_HEIGHT / 2, 0)
    covered = np.hypot(across, down) < radii
    covered &= (points != own).any(axis=1)
    return not covered.any()
