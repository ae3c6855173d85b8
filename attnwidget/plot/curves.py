"""The lines of heads between tokens: where they lie, how strong they are, what is left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .attention import Attention
from .colors import Palette, head_colors, rgb
from .notes import magnitude, share_note

# Both sides of a text of more tokens get the same length.
_SHORT = 64
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
    lengths = [rows if rows > _SHORT else len(side) for side in sides]
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
    chosen = [
        np.array(locked if locked and side is attention.locked_side else range(len(side)))
        for side in sides
    ]
    units = [np.array(side.shown)[at] for side, at in zip(sides, chosen, strict=True)]
    total, found = 0.0, []
    for head in attention.drawn:
        numbers = attention.numbers(head)
        total += magnitude(numbers[:, units[1]] if attention.side == "key" else numbers[units[0]])
        here = numbers[np.ix_(*units)]
        found += [_strongest(part) for part in ([here, -here] if attention.signed else [here])]
    part = np.repeat(np.arange(len(found)), len(found[0][0]))
    row, column, weights = map(np.concatenate, zip(*found, strict=True))
    # Numbers with a scale of their own are drawn up to the largest.
    peak = 1.0 if attention.has_shares else float(weights.max()) or 1.0
    weights = weights.astype(np.float64) / peak
    # The strongest are on top.
    order = np.argsort(-weights, kind="stable")[:_MAX_LINES][::-1]
    order = order[weights[order] >= _FAINTEST]
    part, row, column, weights = part[order], row[order], column[order], weights[order]
    drawn = peak * float(weights.sum())
    weights = np.minimum(weights, 1)

    width, height = size
    # The lines of a token stand side by side in its row.
    spread = _SPREAD * 2 * min(at[0] for at in places)
    shift = ((part + 0.5) / len(found) - 0.5) * spread
    starts, ends = (at[of][n] for at, of, n in zip(places, chosen, (row, column), strict=True))
    widths = _THINNEST + _THICKER * weights
    if locked:
        widest = min(_WIDEST, spread * height / num_rows / len(found))
        widths = np.maximum(_THINNEST, widest * weights)
    lengths = np.hypot(width, (ends - starts) * height / num_rows)
    ink = float((widths * weights * lengths).sum())
    # The strongest line is opaque, unless there are too many.
    opacity = min(1 / weights.max(initial=0.01), _DENSEST * width * height / (ink or 1))
    alphas = weights**0.75 if locked else weights * opacity
    legend = _legend(attention, palette)
    inks = np.array([rgb(color) for _, color in legend])[part % len(legend)]

    notes = [share_note(drawn, total, attention.measure, "drawn")]
    if not attention.has_shares:
        notes.append(f"the strongest stands for {peak:.3g}")
    colors = np.column_stack([inks, alphas])
    return Curves(starts + shift, ends + shift, colors, widths, legend, notes)


def _strongest(numbers: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """(rows, columns, numbers) of the largest of a matrix, in no order."""
    count = min(_MAX_LINES, numbers.size)
    largest = np.argpartition(-numbers, count - 1, axis=None)[:count]
    row, column = np.unravel_index(largest, numbers.shape)
    return row, column, numbers[row, column]


def _legend(attention: Attention, palette: Palette) -> list[tuple[str, str]]:
    """The names and colours of lines: of heads, or of both signs."""
    if attention.signed:
        words = ["above 0", "below 0"] if attention.other is None else ["more in B", "less in B"]
        return list(zip(words, [palette.positive, palette.negative], strict=True))
    known = head_colors(attention.stack.layer(attention.layer).num_heads, dark=palette.dark)
    drawn = attention.drawn
    return [(f"{head}", palette.ink if head is None else known[head]) for head in drawn]
