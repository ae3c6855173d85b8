"""Lines between tokens: those of heads, and annotated links over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba_array
from matplotlib.lines import Line2D
from matplotlib.path import Path
from numpy.typing import NDArray

from attnwidget.record import Floats
from attnwidget.wire import SentArc

from .attention import Attention
from .axes import PLAIN, clean, group_bounds, magnitude, share_note, size_in_points
from .colors import Palette, head_colors

MAX_SINGLE_TOKENS = 64
"""With more tokens than this, neighbours share a line."""

# Smaller shares of 1, or of the largest number, are not drawn; of the others, so many of the
# largest.
_FAINTEST, _MAX_LINES = 0.0005, 2000
# Widths of lines in points: of a weight of 0, what a weight of 1 adds, and the widest of locked
# tokens.
_THINNEST, _THICKER, _WIDEST = 0.7, 1.3, 5.0
# The largest mean opacity of all lines together, and the share of a row over which heads spread.
_DENSEST, _SPREAD = 0.5, 0.75
_MAX_ARC_LABELS = 24

Numbers = NDArray[np.float64]


def draw_lines(
    axes: Axes, attention: Attention, places: Sequence[Numbers], palette: Palette
) -> tuple[list[str], list[Line2D]]:
    """Draw a line of every head for each pair of tokens, those of a pair side by side.

    Args:
        places: the coordinates of the queries and of the keys.

    Returns:
        Notes on what is left out, and the entries of a legend.
    """
    sides = attention.queries, attention.keys
    locked = attention.locked_side.indices(attention.locked)
    chosen = [
        np.array(locked if locked and side is attention.locked_side else range(len(side)))
        for side in sides
    ]
    # Neighbours share a line, but not where a token is locked.
    bounds = [
        group_bounds(len(each), len(each) if locked else MAX_SINGLE_TOKENS) for each in chosen
    ]
    rows, columns = bounds
    starts, ends = (
        np.add.reduceat(at[indices], bound[:-1]) / np.diff(bound)
        for at, indices, bound in zip(places, chosen, bounds, strict=True)
    )
    names, colors = _legend(attention, palette)
    units = [np.array(side.shown)[at] for side, at in zip(sides, chosen, strict=True)]
    parts: list[Numbers] = []
    all_shown = total = 0.0
    for head in attention.drawn:
        numbers = attention.numbers(head).astype(np.float64)
        total += magnitude(numbers[:, units[1]] if attention.side == "key" else numbers[units[0]])
        here = numbers[np.ix_(*units)]
        all_shown += magnitude(here)
        sums = np.add.reduceat(here, rows[:-1], axis=0)
        means = np.add.reduceat(sums, columns[:-1], axis=1) / np.diff(rows)[:, None]
        parts += [np.maximum(means, 0), np.maximum(-means, 0)] if attention.signed else [means]
    table = np.stack(parts)
    # Numbers with a scale of their own are drawn up to the largest.
    peak = 1.0 if attention.has_shares else float(table.max()) or 1.0
    table /= peak
    # The strongest are on top.
    order = np.argsort(-table, axis=None, kind="stable")[:_MAX_LINES][::-1]
    part, row, column = np.unravel_index(order[table.flat[order] >= _FAINTEST], table.shape)
    weights = table[part, row, column]
    drawn = float((weights * np.diff(rows)[row]).sum())
    weights = np.minimum(weights, 1)

    width, height = size_in_points(axes)
    row_points = height / max(at[-1] + at[0] for at in places)
    # The lines of a token stand side by side in its row.
    spread = _SPREAD * 2 * min(at[0] for at in places)
    widths = _THINNEST + _THICKER * weights
    if locked:
        widest = min(_WIDEST, spread * row_points / len(table))
        widths = np.maximum(_THINNEST, widest * weights)
    lengths = np.hypot(width, (ends[column] - starts[row]) * row_points)
    ink = float((widths * weights * lengths).sum())
    most = _DENSEST * width * height
    # The strongest line is opaque, unless there are too many.
    opacity = min(1 / weights.max(initial=0.01), most / (ink or 1))
    alphas = weights**0.75 if locked else weights * opacity
    inks = to_rgba_array(colors)[part % len(colors)]
    inks[:, 3] = alphas
    shift = ((part + 0.5) / len(table) - 0.5) * spread
    _add_curves(axes, starts[row] + shift, ends[column] + shift, inks, widths)

    # In neighbours that share a line, signs cancel each other out.
    notes = [
        share_note(all_shown, total, attention.measure)
        if attention.signed
        else share_note(drawn * peak, total, attention.measure, "drawn")
    ]
    if not attention.has_shares:
        notes.append(f"the strongest stands for {peak:.3g}")
    if max(np.diff(bound).max() for bound in bounds) > 1:
        group = " × ".join(f"{np.diff(bound).max()}" for bound in bounds)
        notes.append(f"each line of up to {group} tokens")
    handles = [
        Line2D([], [], color=color, linewidth=3, label=name)
        for name, color in zip(names, colors, strict=True)
    ]
    return notes, handles


def _legend(attention: Attention, palette: Palette) -> tuple[list[str], list[str]]:
    """The names and colours of lines: of heads, or of both signs."""
    if attention.signed:
        words = ["above 0", "below 0"] if attention.other is None else ["more in B", "less in B"]
        return words, [palette.positive, palette.negative]
    count = attention.stack.layer(attention.layer).num_heads
    known = head_colors(count, dark=palette.dark)
    drawn = attention.drawn
    colors = [palette.ink if head is None else known[head] for head in drawn]
    return [f"{head}" for head in drawn], colors


def _add_curves(
    axes: Axes, starts: Numbers, ends: Numbers, colors: Any, widths: Any, **style: Any
) -> None:
    """Add curves from the left side to the right one, level at both."""
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [
        Path([(0, start), (1 / 3, start), (2 / 3, end), (1, end)], codes)
        for start, end in zip(starts, ends, strict=True)
    ]
    curves = PathCollection(paths, facecolors="none", edgecolors=colors, linewidths=widths, **style)
    axes.add_collection(curves, autolim=False)


def draw_arcs(
    axes: Axes,
    attention: Attention,
    arcs: Sequence[SentArc],
    places: Sequence[Numbers],
    palette: Palette,
) -> list[Line2D]:
    """Draw annotated links whose tokens are shown: solid if the head finds them, else dashed.

    Args:
        places: as in `draw_lines`.

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
            _add_curves(axes, starts, stops, colors=palette.text, widths=1.4, linestyles=style)
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
