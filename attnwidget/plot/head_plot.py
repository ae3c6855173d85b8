"""The lines of heads between the tokens of queries and keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import SupportsIndex

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnwidget.analysis import Lens
from attnwidget.arguments import whole_numbers
from attnwidget.record import AttentionRecord
from attnwidget.wire import SentArc

from .attention import Attention, Viewed
from .axes import (
    Size,
    add_caption,
    add_legend,
    grown,
    label_tokens,
    new_axes,
    set_title,
    size_in_points,
)
from .colors import palette_of
from .curves import curves_of, rows_of
from .image_plot import draw_image, on_grid, on_image
from .lines import draw_arcs, draw_curves

_LEGEND_COLUMNS = 6


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
        TypeError: `query` is neither a position nor a text.
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
        caption: as in `head`.
    """
    palette, size = palette_of(ax), size_in_points(ax)
    rows, places = rows_of(attention)
    curves = curves_of(attention, size, palette)
    draw_curves(ax, curves.starts, curves.ends, curves.colors, curves.widths)
    handles: list[Artist] = [
        Line2D([], [], color=color, linewidth=3, label=name) for name, color in curves.legend
    ]
    handles += draw_arcs(ax, attention, arcs, places, palette) if arcs else []
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
