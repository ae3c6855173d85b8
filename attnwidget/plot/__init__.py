"""Plots of attention with matplotlib: each function draws into Axes and returns them.

    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    attnwidget.plot.head(record, layer=2, heads=[3, 9], query=11, ax=left)
    attnwidget.plot.matrix(record, layer=2, head=9, ax=right)

Colours follow the background of the Axes, light or dark, and fonts the session's rcParams. A note
below each plot says what it leaves out. Without Axes, a plot opens a new figure of a fitting size.

The first plot imports matplotlib: `pip install 'attnwidget[figures]'`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnwidget.analysis import norms_need, score_refusal
from attnwidget.corpus import HeadProfile
from attnwidget.record import AttentionRecord
from attnwidget.view_state import NO_SIZE
from attnwidget.wire import (
    Metrics,
    encode_overview,
    encode_own_metrics,
    encode_profile,
    heads_alone,
)

from .shown import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_PANELS_IN_A_ROW = 4

__all__ = ["head", "map", "matrices", "matrix", "model", "neuron", "ranking"]


def head(
    record: AttentionRecord,
    layer: int,
    heads: Iterable[int] | None = None,
    *,
    query: int | None = None,
    lens: str = "attention",
    picture: bool = True,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the head view: tokens, and lines between them as strong as the attention weight.

    Args:
        heads: the heads drawn, each in its colour; all of the layer if None.
        query: a query position, to draw its attention alone, with every head's share beside the
            keys; None for all queries. Over 64 tokens, neighbours then share a line.
        lens: "attention"; "scores" before the softmax, blue above zero and orange below; "values"
            for value-weighted norms as shares of each row; or "rollout" of all layers up to this
            one. See `attnwidget.analysis`.
        picture: True to draw the attention of one head from one query on the image of a vision
            model, if the record has it; False for lines.
        stack: the name of a stack; the record's first if None.
        ax: the Axes to draw into; those of a new figure if None.

    Returns:
        The Axes. Lines are its first collection, with a width and an opacity for each; on an image,
        `ax.images` are the image and the veil over it.

    Raises:
        IndexError: there is no such layer, head or query.
        KeyError: there is no such stack.
        ValueError: `heads` is empty, or the record does not have the lens; the message says why.
        ImportError: matplotlib is not installed.
    """
    require_matplotlib()
    from .head_plot import draw_head
    from .picture_plot import draw_picture, on_picture
    from .sizes import head_size, picture_size

    chosen = None if heads is None else list(dict.fromkeys(heads))
    if chosen == []:
        raise ValueError("heads is empty; give at least one, or None for all")
    shown = Shown(
        record, layer=layer, heads=chosen, query=query, lens=lens, picture=picture, stack=stack
    )
    shown.check()
    if query is not None and len(shown.drawn_heads) == 1 and on_picture(shown):
        shown = replace(shown, head=shown.drawn_heads[0])
        ax = ax or _new_axes(picture_size(shown))
        draw_picture(ax, shown)
        return ax
    ax = ax or _new_axes(head_size(shown))
    draw_head(ax, shown)
    return ax


def matrix(
    record: AttentionRecord,
    layer: int,
    head: int,
    *,
    lens: str = "attention",
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights of a head as a matrix: rows are queries, columns are keys.

    Args:
        lens, stack, ax: as in `head`. A rollout is of all heads.

    Returns:
        The Axes. `ax.images[0]` has the weights, for a colour bar; with more than 400 tokens, or
        more than the Axes have points, a cell is the largest weight of several.

    Raises:
        IndexError, KeyError, ValueError, ImportError: as in `head`.
    """
    require_matplotlib()
    from .head_plot import attention_title, matrix_beside_lines
    from .matrix_plot import draw_matrix
    from .sizes import matrix_size

    shown = Shown(record, layer=layer, head=head, lens=lens, stack=stack)
    shown.check()
    ax = ax or _new_axes(matrix_size(shown))
    attention = matrix_beside_lines(shown)
    draw_matrix(ax, shown, attention, attention_title(shown, attention.name))
    return ax


def matrices(
    records: Mapping[str, AttentionRecord],
    layer: int,
    head: int,
    *,
    lens: str = "attention",
    stack: str | None = None,
) -> list[Axes]:
    """Draw a head over several texts, checkpoints or models: a matrix each, with one scale.

        attnwidget.plot.matrices({"step 0": start, "step 1000": later, "step 2000": end}, 2, 8)

    Args:
        records: the records by the titles of their panels.
        lens, stack: as in `head`. A rollout is of all heads.

    Returns:
        The Axes of a new figure, in the order of the records.

    Raises:
        ValueError: there are no records; or as in `head`.
        IndexError, KeyError, ImportError: as in `head`.
    """
    require_matplotlib()
    import matplotlib.pyplot as plt

    from .head_plot import matrix_beside_lines
    from .matrix_plot import draw_matrix
    from .sizes import matrix_size
    from .weights import finite

    if not isinstance(records, Mapping) or not records:
        raise ValueError(
            f"records is {records!r:.100}; expected records by the titles of their panels, as "
            '{"step 0": record}'
        )
    panels = {
        title: Shown(record, layer=layer, head=head, lens=lens, stack=stack)
        for title, record in records.items()
    }
    for shown in panels.values():
        shown.check()
    drawn = {title: matrix_beside_lines(shown) for title, shown in panels.items()}
    most = max(float(np.abs(finite(matrix.weights())).max()) for matrix in drawn.values())
    columns = min(len(panels), _PANELS_IN_A_ROW)
    rows = math.ceil(len(panels) / columns)
    sizes = [matrix_size(shown) for shown in panels.values()]
    width, height = (max(sides) for sides in zip(*sizes, strict=True))
    figure = plt.figure(figsize=(columns * width, rows * height), layout="constrained")
    axes = []
    for number, (title, shown) in enumerate(panels.items(), 1):
        ax = figure.add_subplot(rows, columns, number)
        draw_matrix(ax, shown, drawn[title], title, most=most)
        axes.append(ax)
    return axes


def model(
    record: AttentionRecord | HeadProfile,
    *,
    metric: str | ArrayLike | None = None,
    lens: Literal["attention", "scores", "values"] = "attention",
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw every head of every layer: its thumbnail in its pattern's colour, or a metric.

    Args:
        record: a record; or a profile, for its means over texts, mean thumbnails and words.
        metric: a number per head, drawn as a heat map with a colour bar: the name of a metric of
            `attnwidget.analysis.METRICS`, such as "entropy", or of the profile; or an array
            [layers, heads] (NaN where a layer has fewer heads). Negative numbers get colours that
            diverge from zero. None for thumbnails.
        lens: the numbers in thumbnails, as in `head`; layers without scores or norms of values
            keep those of attention, and the note says so. A profile has those of attention alone.
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.images[0]` has the thumbnails as one picture, or the numbers.

    Raises:
        ValueError: the record has no such metric, or the array has another shape.
        KeyError, ImportError: as in `head`.
    """
    require_matplotlib()
    from .model_plot import draw_metric, draw_model, metric_table
    from .sizes import model_size

    if lens not in ("attention", "scores", "values"):
        raise ValueError(f"lens is {lens!r}; heads have 'attention', 'scores' and 'values'")
    shown = _shown(record, view="model", lens=lens, stack=stack)
    shown = replace(shown, layer=shown.current_stack.numbers[0])
    lacks = score_refusal if lens == "scores" else norms_need
    if all(lacks(layer) for layer in shown.current_stack.layers):
        shown.check_lens()
    if metric is None:
        ax = ax or _new_axes(model_size(shown))
        draw_model(ax, shown)
        return ax
    table = metric_table(shown, metric)
    ax = ax or _new_axes(None)
    draw_metric(ax, shown, *table)
    return ax


def ranking(
    record: AttentionRecord | HeadProfile,
    metric: str,
    *,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each of the 60 heads with the highest numbers, from the highest on.

    Args:
        record: a record; or a profile, for its means over texts. The range of 95% of its null is
            grey.
        metric: the name of a metric, as of `model`.
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.patches` are the bars.

    Raises:
        ValueError: there is no such metric.
        KeyError, ImportError: as in `head`.
    """
    require_matplotlib()
    from .ranking_plot import draw_ranking
    from .sizes import ranking_size

    shown = _shown(record, view="model", stack=stack, sort=metric, ranking=True)
    if metric not in shown.stack_metrics:
        raise ValueError(f"no metric {metric!r}; there are {', '.join(shown.stack_metrics)}")
    ax = ax or _new_axes(ranking_size(shown))
    draw_ranking(ax, shown)
    return ax


def map(
    record: AttentionRecord | HeadProfile,
    *,
    x: str = "distance",
    y: str = "entropy",
    color: str = "pattern",
    size: str | None = None,
    metrics: Metrics | None = None,
    stack: str | None = None,
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
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.collections[0]` has the points, the large ones first.

    Raises:
        ValueError: there is no such metric, or `metrics` are of another shape.
        TypeError: `metrics` are no dict of arrays.
        KeyError, ImportError: as in `head`.
    """
    require_matplotlib()
    from .map_plot import draw_map
    from .sizes import map_size

    shown = _shown(
        record,
        view="map",
        stack=stack,
        color=color,
        map_x=x,
        map_y=y,
        map_size=NO_SIZE if size is None else size,
    )
    own = encode_own_metrics(shown.record, {} if metrics is None else metrics)
    shown = replace(shown, metrics=own)
    known = shown.stack_metrics
    defaults = (("x", x, "distance"), ("y", y, "entropy"), ("size", size, None))
    for name, chosen, default in (*defaults, ("color", color, "pattern")):
        if chosen not in (*known, default, *(["layer"] if name == "color" else [])):
            raise ValueError(f"{name} is {chosen!r}; there are {', '.join(known)}")
    ax = ax or _new_axes(map_size())
    draw_map(ax, shown)
    return ax


def neuron(
    record: AttentionRecord,
    layer: int,
    head: int,
    query: int,
    *,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the weights of one query come about: q, k, q × k, q·k and the softmax.

    Args:
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.images` are the queries, the keys and their products in the visible rows.

    Raises:
        ValueError: the layer was recorded as weights alone.
        IndexError, KeyError, ImportError: as in `head`.
    """
    require_matplotlib()
    from .neuron_plot import draw_neuron
    from .sizes import neuron_size

    shown = Shown(record, view="neuron", layer=layer, head=head, query=query, stack=stack)
    shown.check()
    shown.current_layer.head_queries(head)  # raises a ValueError if there are none
    ax = ax or _new_axes(neuron_size(shown))
    draw_neuron(ax, shown)
    return ax


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install if matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'attnwidget[figures]'"
        ) from error


def _shown(record: AttentionRecord | HeadProfile, **choices: Any) -> Shown:
    """A record with choices; a profile with heads alone."""
    if not isinstance(record, HeadProfile):
        return Shown(record, **choices)
    heads = heads_alone(record)
    return Shown(heads, overview=encode_overview(heads, encode_profile(record, heads)), **choices)


def _new_axes(size: tuple[float, float] | None) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
