"""The lines of heads between the tokens of queries and keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.path import Path

from attnwidget.analysis import Lens
from attnwidget.arguments import whole_numbers
from attnwidget.record import AttentionRecord, Floats
from attnwidget.wire import SentArc

from .attention import Attention, Viewed
from .axes import (
    PLAIN,
    Size,
    add_caption,
    add_legend,
    grown,
    label_tokens,
    new_axes,
    set_title,
    size_in_points,
)
from .colors import Palette, palette_of
from .curves import Numbers, curves_of, rows_of
from .image_plot import draw_image, on_grid, on_image
from .notes import clean

_LEGEND_COLUMNS = 6
_MAX_ARC_LABELS = 24


def head(
    record: AttentionRecord | Viewed,
    layer: int,
    heads: int | Iterable[int] | None = None,
    *,
    query: SupportsIndex | str | None = None,
    lens: str | Lens = "attention",
    segments: str = "all",
    picture: bool = True,
    grid: int | None = None,
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw lines between tokens, as strong as the attention weight, each head in its colour.

    Args:
        record: a record, or a widget, for the record it shows.
        heads: the head, or the heads, drawn; all of the layer if None.
        query: a query, its position or the words of its token, to draw its attention alone; None
            for all queries. Of more than 2,000 lines, the strongest are drawn.
        lens: the numbers of the lines: one of `attnwidget.analysis.LENSES` or its name, such as
            "scores", before the softmax, or "values", for value-weighted norms as shares of each
            row. Numbers with a sign, as the coefficients of a layer without a softmax, are blue
            above zero and orange below.
        segments: "content" to leave special tokens out; of a pair, "ab" for the attention from the
            first text to the second, likewise "aa", "ba" and "bb"; "content ab" for both.
        picture: True to draw the attention of one head from one query on the image that a model
            read, if the record has it; False for lines.
        grid: the number of the grid of patches, from 0, where there are several; None for the
            whole image, or else the first.
        stack: the name of a stack; the record's first if None.
        caption: False to leave out the small print on what is not drawn.
        ax: the Axes to draw into; those of a new figure if None.

    Returns:
        The Axes. Lines are its first collection, with a width and an opacity for each; on an image,
        `ax.images` are the image and the veil over it, with the weight of every patch.

    Raises:
        IndexError: there is no such layer, head, query or grid.
        KeyError: there is no such stack.
        TypeError: `record` is none, or `query` neither a position nor a text.
        ValueError: `heads` is empty, there are no such segments, no token or several with the words
            of the query, or the record does not have the lens; the message says why.
        ImportError: matplotlib is not installed.
    """
    numbers = whole_numbers("heads", heads)
    chosen = [numbers] if isinstance(numbers, int) else numbers and list(dict.fromkeys(numbers))
    attention = Attention.of(
        record, layer, chosen, stack=stack, lens=lens, segments=segments, query=query
    )
    if picture and query is not None and len(attention.drawn) == 1 and on_image(attention):
        attention = on_grid(attention, grid)
        ax = new_axes(grown(0)) if ax is None else ax
        draw_image(ax, attention, caption=caption)
    else:
        ax = new_axes(head_size(attention)) if ax is None else ax
        draw_head(ax, attention, caption=caption)
    return ax


def head_size(attention: Attention) -> Size:
    """The size of lines and labels, in inches: a column of text is narrow."""
    width, height = grown(max(len(attention.queries), len(attention.keys)))
    return 0.75 * width, height


def draw_head(
    ax: Axes, attention: Attention, arcs: Sequence[SentArc] = (), *, caption: bool = True
) -> None:
    """Draw the lines of the chosen heads, or those of the locked tokens.

    Args:
        arcs: annotated links, drawn over the lines.
    """
    palette, size = palette_of(ax), size_in_points(ax)
    rows, places = rows_of(attention)
    curves = curves_of(attention, size, palette)
    _draw_curves(ax, curves.starts, curves.ends, curves.colors, curves.widths)
    handles: list[Artist] = [
        Line2D([], [], color=color, linewidth=3, label=name) for name, color in curves.legend
    ]
    handles += _draw_arcs(ax, attention, arcs, places, palette) if arcs else []
    ax.set(xlim=(0, 1), ylim=(rows, 0), xticks=[])
    right, notes = ax.secondary_yaxis("right"), list(curves.notes)
    sides = attention.queries, attention.keys
    for axis, side, at in zip((ax.yaxis, right.yaxis), sides, places, strict=True):
        locked = side.indices(attention.locked) if side is attention.locked_side else []
        room = 2 * at[0] * size[1] / rows
        notes.append(label_tokens(axis, side, at.tolist(), room, palette, locked))
    for each in (ax, right):
        each.spines[:].set_visible(False)
    set_title(ax, attention.title(*attention.drawn))
    legend = None
    if len(handles) > 1:
        title = attention.measure if attention.signed else "head"
        legend = add_legend(ax, handles, title=title, columns=min(len(handles), _LEGEND_COLUMNS))
    if caption:
        add_caption(ax, notes, palette, legend)


def _draw_curves(
    axes: Axes, starts: Numbers, ends: Numbers, colors: Any, widths: Any, **style: Any
) -> None:
    """Draw curves from the left side to the right one, level at both."""
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [
        Path([(0, start), (1 / 3, start), (2 / 3, end), (1, end)], codes)
        for start, end in zip(starts, ends, strict=True)
    ]
    curves = PathCollection(paths, facecolors="none", edgecolors=colors, linewidths=widths, **style)
    axes.add_collection(curves, autolim=False)


def _draw_arcs(
    axes: Axes,
    attention: Attention,
    arcs: Sequence[SentArc],
    places: Sequence[Numbers],
    palette: Palette,
) -> list[Line2D]:
    """Draw annotated links whose tokens are shown: solid if the head finds them, else dashed.

    Args:
        places: as in `rows_of`.

    Returns:
        Their entries in a legend, which count them.
    """
    # Numbers with a sign do not say where a head attends.
    numbers = None if attention.signed else attention.numbers(attention.current)
    ends: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for arc in arcs:
        indices = [
            side.indices(range(*span))
            for side, span in ((attention.queries, arc["query"]), (attention.keys, arc["key"]))
        ]
        if not all(indices):
            continue
        start, end = (float(at[each].mean()) for at, each in zip(places, indices, strict=True))
        ends[numbers is not None and finds(attention, numbers, arc)].append((start, end))
        if len(arcs) <= _MAX_ARC_LABELS:
            # The curves of several arcs are apart near the side that decides.
            x, way = (0.2, 0.104) if arc["by"] == "query" else (0.8, 0.896)
            box = {"facecolor": palette.background, "alpha": 0.85, "edgecolor": "none", "pad": 1}
            text = axes.text(x, start + way * (end - start), clean(arc["label"]), **PLAIN)
            text.set(fontsize="x-small", ha="center", va="center", bbox=box)
    handles, count = [], sum(map(len, ends.values()))
    styles: list[tuple[bool, Any]] = [(True, "-"), (False, "--")]
    for found, style in styles:
        if ends[found]:
            starts, stops = np.array(ends[found]).T
            _draw_curves(axes, starts, stops, colors=palette.text, widths=1.4, linestyles=style)
            label = f"{len(ends[found])} of {count} links" + (" found" if found else "")
            handles.append(Line2D([], [], color=palette.text, linestyle=style, label=label))
    return handles


def finds(attention: Attention, numbers: Floats, arc: SentArc) -> bool:
    """True if the largest weight of the side that decides lies on the arc."""
    near, far = (
        list(dict.fromkeys(map(side.place, range(*span))))
        for side, span in ((attention.queries, arc["query"]), (attention.keys, arc["key"]))
    )
    side = attention.keys
    if arc["by"] == "key":
        near, far, numbers, side = far, near, numbers.T, attention.queries
    row = numbers[near].mean(axis=0)
    # Special tokens do not count, nor, in self-attention, does the token itself.
    same = attention.stack.queries == attention.stack.keys
    row[[*side.tokens.special, *(near if same else ())]] = 0
    largest = int(row.argmax())
    return bool(row[largest] > 0) and largest in far
