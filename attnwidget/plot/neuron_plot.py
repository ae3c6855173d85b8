"""The neuron view as a plot: query, key, their products, q.k and softmax of one query."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_rgba
from matplotlib.patches import Patch, Rectangle

from .axes import (
    LETTER,
    add_legend,
    font_size,
    hide_frame,
    label_tokens,
    locked_box,
    palette_of,
    size_in_points,
)
from .bars import draw_bars
from .colors import Palette, diverging, head_colors, mixed
from .column_headers import column_headers
from .explanation import HeadExplanation
from .lines import LineRoom, Points, Series, add_curves, all_lines, curve, locked_lines
from .neuron_columns import MAX_ROWS, NeuronColumns, columns_of, rows_of
from .shown import Shown, Side
from .text import PLAIN, number, shorten
from .weights import head_matrix

_FADED = 0.62
_FAINT = 0.4
_FAINTEST = 0.01
# The height of the marks above the neurons, in rows.
_MARKS = 0.7
WEIGHTS_ALONE = (
    "This layer was recorded as attention weights alone. This view needs its query and key "
    "vectors, too."
)


def draw_neuron(axes: Axes, shown: Shown) -> None:
    """Draw how the query and key vectors of the current head make the weights of one query."""
    palette = palette_of(axes)
    axes.set_title(f"Layer {shown.layer} · Head {shown.head}")
    hide_frame(axes)
    if shown.current_layer.queries is None:
        axes.set(xticks=[], yticks=[])
        axes.text(0, 1, WEIGHTS_ALONE, va="top", color=palette.muted, wrap=True)
        return
    head = HeadExplanation(shown)
    width, height = size_in_points(axes)
    first, end = rows_of(head)
    row = height / (end - first + _MARKS)
    columns = columns_of(head, shown.expanded, width, font_size(row) * LETTER)

    if shown.expanded:
        _draw_vectors(axes, head, columns, row, palette)
        _mark(axes, head, columns, palette)
    draw_bars(axes, head, columns, row, palette)
    if shown.expanded or len(head.axes.key.shown) > MAX_ROWS:
        _curves(axes, head, columns, palette)
    else:
        _draw_lines(axes, head, columns, row, palette)
    _label_tokens(axes, head, columns, row, palette)
    axes.set(xlim=(0, columns.width), ylim=(end, first - _MARKS))

    headers = column_headers(head, columns, shown.expanded)
    size = font_size(name="xtick.labelsize")
    texts = [header.text(size * LETTER) for header in headers]
    axes.xaxis.tick_top()
    axes.set_xticks([h.left for h in headers], labels=texts, ha="left", fontsize=size, **PLAIN)
    for header, label in zip(headers, axes.get_xticklabels(), strict=True):
        label.set_color(palette.negative if header.altered else palette.muted)
    handles, notes = [], _notes(head, columns, shown.expanded)
    if shown.expanded:
        vector, product = head.scales()
        handles = [
            Patch(facecolor=palette.positive, label="positive"),
            Patch(facecolor=palette.negative, label="negative"),
        ]
        notes.insert(0, f"strongest colour ±{number(vector)} (q, k), ±{number(product)} (q × k)")
    add_legend(axes, handles, notes, palette, width)


def _draw_vectors(
    axes: Axes, head: HeadExplanation, columns: NeuronColumns, row_height: float, palette: Palette
) -> None:
    """Draw the vectors of the visible rows, with a coloured cell per neuron."""
    vector, product = head.scales()
    queries = [position for _, position in columns.tokens(head.axes.query)]
    keys = [position for _, position in columns.tokens(head.axes.key)]
    explained = head.explained
    chosen = [1.0 if q in [row.query for row in explained] else _FAINT for q in queries]
    seen = [1.0 if any(row.sees(key) for row in explained) else _FAINT for key in keys]
    # Two compared queries share every row, half of it each.
    products = [
        head.queries[row.query] * head.keys[key] if row.sees(key) else np.full(head.dim, np.nan)
        for key in keys
        for row in explained
    ]
    for left, vectors, alpha, scale, per_row in (
        (columns.queries, head.queries[queries], chosen, vector, 1),
        (columns.keys, head.keys[keys], seen, vector, 1),
        (columns.products, np.array(products), [1.0] * len(products), product, len(explained)),
    ):
        if not len(vectors):
            continue
        bottom = columns.first + len(vectors) / per_row
        right = left + columns.strip
        values = np.ma.masked_invalid(vectors[:, head.order])
        axes.imshow(
            values,
            cmap=diverging(palette, palette.background),
            norm=Normalize(-scale, scale),
            alpha=np.broadcast_to(np.array(alpha)[:, None], values.shape),
            extent=(left, right, bottom, columns.first),
            aspect="auto",
            interpolation="none",
            zorder=0,
        )
        gaps = np.arange(columns.first, bottom + 1 / per_row, 1 / per_row)
        widths = [0.28 * row_height if n % per_row == 0 else 1 for n in range(len(gaps))]
        axes.hlines(gaps, left, right, color=palette.background, linewidth=widths, zorder=0.5)


def _mark(axes: Axes, head: HeadExplanation, columns: NeuronColumns, palette: Palette) -> None:
    """Mark neurons (rotary pairs, muted and deciding ones) and the explained queries."""
    top, cell = columns.first, columns.strip / head.dim
    sides = head.axes.query, head.axes.key, head.axes.key
    lefts = columns.queries, columns.keys, columns.products
    bottoms = [min(len(side.shown), columns.end) for side in sides]
    rotary = head.layer.rotary
    if rotary is not None and head.order == list(range(head.dim)):
        end = rotary.start + rotary.dims
        borders = [n for n in (rotary.start, end) if 0 < n < head.dim]
        if rotary.pairs == "halves":
            borders.append(rotary.start + rotary.dims // 2)
        for left, bottom in zip(lefts, bottoms, strict=True):
            places = [left + n * cell for n in borders]
            axes.vlines(places, top, bottom, color=palette.muted, linewidth=0.75)
            if rotary.pairs != "halves":
                pairs = np.arange(rotary.start, end, 2) * cell + left
                starts, ends = pairs + 0.2 * cell, pairs + 1.8 * cell
                axes.hlines([top] * len(pairs), starts, ends, color=palette.muted, linewidth=1)
    for n in head.muted:
        for left, bottom in zip(lefts, bottoms, strict=True):
            corner = left + head.order.index(n) * cell, top
            faded = to_rgba(palette.background, 0.7)
            hatched = Rectangle(corner, cell, bottom - top, hatch="//////", linewidth=0)
            hatched.set(facecolor=faded, edgecolor=palette.muted)
            axes.add_patch(hatched)
    for numbers in head.explained:
        row = head.axes.query.places[numbers.query]
        if columns.first <= row < columns.end:
            style = "--" if numbers is head.comparison else "-"
            box = Rectangle((columns.queries, row), columns.strip, 1, linestyle=style)
            box.set(facecolor="none", edgecolor=palette.accent, linewidth=1.5, clip_on=False)
            axes.add_patch(box)
    deciding = [head.order.index(n) for n in head.deciding or ()]
    middles = columns.products + (np.array(deciding) + 0.5) * cell
    size = min(5.0, 0.9 * cell)
    height = [top - _MARKS / 2] * len(deciding)
    axes.plot(middles, height, "v", color=palette.text, markersize=size, markeredgewidth=0)


def _curves(axes: Axes, head: HeadExplanation, columns: NeuronColumns, palette: Palette) -> None:
    """Draw curves from the query to each key, as opaque as the weight; dashed if compared."""
    left, right = columns.curves

    def middle(row: int) -> float:
        return max(columns.first - 1, min(columns.end, row)) + 0.5

    for numbers in head.explained:
        start = head.axes.query.places[numbers.query]
        paths, colors = [], []
        for end, key in enumerate(head.axes.key.shown):
            value = float(numbers.shown.weights[key])
            visible = any(columns.first <= row < columns.end for row in (start, end))
            if value >= _FAINTEST and visible:
                paths.append(curve((left, middle(start)), (right, middle(end)), bend=1 / 2))
                colors.append(to_rgba(palette.positive, min(1.0, value)))
        style = (0, (2, 1.6)) if numbers is head.comparison else "-"
        add_curves(axes, paths, colors, 1.9, linestyles=[style])


def _draw_lines(
    axes: Axes,
    head: HeadExplanation,
    columns: NeuronColumns,
    row: float,
    palette: Palette,
) -> None:
    """Draw the lines of all queries, or of the locked one, in place of vectors."""
    shown, tokens = head.shown, head.axes
    edges: dict[Side, Points] = {
        "query": np.arange(len(tokens.query.shown) + 1.0),
        "key": np.arange(len(tokens.key.shown) + 1.0),
    }
    left, right = columns.curves
    room = LineRoom(edges, left, right, right - left, row)
    matrix = head_matrix(shown, shown.head)
    colors = [head_colors(head.layer.num_heads, palette.dark)[shown.head]]
    locked = tokens.query.units(shown.locked("query")[:1])
    if locked:
        series = [Series(colors[0], locked, matrix.weights()[locked])]
        locked_lines(axes, room, tokens, "query", series)
    else:
        all_lines(axes, room, tokens, [matrix], colors)


def _label_tokens(
    axes: Axes,
    head: HeadExplanation,
    columns: NeuronColumns,
    row: float,
    palette: Palette,
) -> None:
    """Label queries with ticks at the left, and keys within the Axes."""
    size = font_size(row)
    queries, keys = head.axes.query, head.axes.key
    explained = [numbers.query for numbers in head.explained]
    colors = [
        mixed(palette.background, palette.text, 1 if query in explained else _FADED)
        for query in range(len(queries.labels))
    ]
    rows = [row for row, _ in columns.tokens(queries)]
    positions = (np.arange(len(queries.shown)) + 0.5).tolist()
    locked = head.shown.locked("query")
    label_tokens(
        axes.yaxis,
        queries,
        positions,
        rows,
        size=size,
        locked=locked,
        colors=colors,
        palette=palette,
        boxed=True,
    )
    max_letters = columns.labels / (size * LETTER) - 1.5
    x = columns.key_labels + size / 2
    for place, position in columns.tokens(keys):
        label = shorten(keys.labels[position], max_letters)
        text = axes.text(x, place + 0.5, label, fontsize=size, va="center", **PLAIN)
        text.set_color(palette.muted if position in keys.special else palette.text)
        if position in head.shown.locked("key"):
            text.set(color=palette.text, fontweight="bold", bbox=locked_box(palette))
    last = len(keys.shown)
    if head.sink is not None and columns.first <= last < columns.end:
        axes.text(x, last + 0.5, "sink", fontsize=size, va="center", color=palette.muted)
    if head.focus_key is not None and columns.first <= keys.places[head.focus_key] < columns.end:
        corner = columns.key_labels, keys.places[head.focus_key]
        box = Rectangle(corner, columns.width - corner[0], 1)
        box.set(facecolor="none", edgecolor=palette.accent, linewidth=1.2)
        axes.add_patch(box)


def _notes(head: HeadExplanation, columns: NeuronColumns, expanded: bool) -> list[str]:
    notes, axes, rotary = [], head.axes, head.layer.rotary
    total = max(len(axes.query.shown), len(axes.key.shown))
    if total > MAX_ROWS:
        last = min(columns.end, total) - 1
        notes.append(f"rows {columns.first}–{last} of {total}")
    if head.muted:
        notes.append("hatched: muted, outlined: the model’s own")
    if head.comparison:
        notes.append("hatched bars: compared query")
    if rotary is not None and expanded:
        pairs = f"n pairs with n + {rotary.dims // 2}"
        notes.append(f"rotary: {pairs if rotary.pairs == 'halves' else 'neighbours are pairs'}")
    if head.layer.program is None:
        notes.append("kept as weights")
    return notes
