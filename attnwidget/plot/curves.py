"""The lines of heads between tokens: where they lie, how strong they are, what is left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .attention import Attention
from .colors import Palette, head_colors, rgb
from .notes import group_bounds, magnitude, share_note

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

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Curves:
    """Lines from queries to keys, the strongest last.

    Attributes:
        starts, ends: the coordinates of their queries and keys.
        colors: with their opacities, [lines, 4].
        widths: in points.
        legend: the names of heads, or of both signs, and their colours.
        notes: on what is left out.
    """

    starts: Numbers
    ends: Numbers
    colors: Numbers
    widths: Numbers
    legend: list[tuple[str, str]]
    notes: list[str]


def rows_of(attention: Attention) -> tuple[int, list[Numbers]]:
    """(the number of rows; the middle of each query's row, and of each key's)."""
    sides = attention.queries, attention.keys
    rows = max(map(len, sides))
    # Both sides of a long text get the same length.
    lengths = [rows if rows > MAX_SINGLE_TOKENS else len(side) for side in sides]
    return rows, [
        (np.arange(len(side)) + 0.5) * length / len(side)
        for side, length in zip(sides, lengths, strict=True)
    ]


def curves_of(attention: Attention, size: tuple[float, float], palette: Palette) -> Curves:
    """A line of every head for each pair of tokens, those of a pair side by side.

    Args:
        size: width and height in points of the space between the tokens.
    """
    num_rows, places = rows_of(attention)
    sides = attention.queries, attention.keys
    locked = attention.locked_side.indices(attention.locked)
    units, bounds, middles = [], [], []
    for side, at in zip(sides, places, strict=True):
        chosen = np.array(locked if locked and side is attention.locked_side else range(len(side)))
        # Neighbours share a line, but not where a token is locked.
        bound = group_bounds(len(chosen), len(chosen) if locked else MAX_SINGLE_TOKENS)
        units.append(np.array(side.shown)[chosen])
        bounds.append(bound)
        middles.append(np.add.reduceat(at[chosen], bound[:-1]) / np.diff(bound))
    rows, columns = bounds
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

    width, height = size
    # The lines of a token stand side by side in its row.
    spread = _SPREAD * 2 * min(at[0] for at in places)
    shift = ((part + 0.5) / len(table) - 0.5) * spread
    starts, ends = middles[0][row], middles[1][column]
    widths = _THINNEST + _THICKER * weights
    if locked:
        widest = min(_WIDEST, spread * height / num_rows / len(table))
        widths = np.maximum(_THINNEST, widest * weights)
    lengths = np.hypot(width, (ends - starts) * height / num_rows)
    ink = float((widths * weights * lengths).sum())
    # The strongest line is opaque, unless there are too many.
    opacity = min(1 / weights.max(initial=0.01), _DENSEST * width * height / (ink or 1))
    alphas = weights**0.75 if locked else weights * opacity
    legend = _legend(attention, palette)
    inks = np.array([rgb(color) for _, color in legend])[part % len(legend)]

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
    colors = np.column_stack([inks, alphas])
    return Curves(starts + shift, ends + shift, colors, widths, legend, notes)


def _legend(attention: Attention, palette: Palette) -> list[tuple[str, str]]:
    """The names and colours of lines: of heads, or of both signs."""
    if attention.signed:
        words = ["above 0", "below 0"] if attention.other is None else ["more in B", "less in B"]
        return list(zip(words, [palette.positive, palette.negative], strict=True))
    known = head_colors(attention.stack.layer(attention.layer).num_heads, dark=palette.dark)
    drawn = attention.drawn
    return [(f"{head}", palette.ink if head is None else known[head]) for head in drawn]
