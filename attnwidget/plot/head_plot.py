"""The head view as a plot: tokens, the lines between them, and a swatch per head."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from attnwidget.record import Floats
from attnwidget.view_state import combination

from .axes import (
    PLAIN,
    add_note,
    font_size,
    hide_frame,
    name_tokens,
    named_places,
    palette_of,
    size_in_points,
)
from .colors import Palette, head_colors, mixed, text_on
from .lines import MOST_APART, LineRoom, Points, all_lines, locked_lines
from .shown import SIDES, Shown, Side, TokenAxes, TokenAxis
from .text import clean, num_letters
from .weights import ShownMatrix, head_matrix, locked_weights, shown_matrices

_FADED = 0.62
# Tokens side by side: letters of the shortest and of the longest, and room around each.
_LETTERS = (2, 20)
_PADDING = 2
# Points from one swatch to the next, at the least and at the most.
_SWATCHES = (13, 24)


def draw_head(axes: Axes, shown: Shown) -> None:
    """Lines of the heads shown, or of what is locked, between the tokens of both sides."""
    palette, tokens, horizontal = palette_of(axes), shown.token_axes, shown.horizontal
    locked: dict[Side, list[int]] = {side: tokens[side].units(shown.locked(side)) for side in SIDES}
    matrices = shown_matrices(shown)
    own = head_colors(shown.current_layer.num_heads, palette.dark)
    colors = [palette.ink if matrix.head is None else own[matrix.head] for matrix in matrices]

    edges = _edges(tokens, horizontal)
    length = float(max(edges["query"][-1], edges["key"][-1]))
    width, height = size_in_points(axes)
    across, along = (height, width) if horizontal else (width, height)
    room = LineRoom(edges, 0, 1, across, along / length, horizontal)
    side: Side | None = next((side for side in SIDES if locked[side]), None)
    strips: list[Floats] | None = None
    if side is None:
        notes = all_lines(axes, room, tokens, matrices, colors)
    else:
        strips = locked_weights(matrices, side, locked[side])
        notes = locked_lines(axes, room, tokens, side, locked[side], strips, colors)

    hide_frame(axes)
    axes.xaxis.tick_top()
    if horizontal:
        axes.set(xlim=(0, length), ylim=(1, 0))
        keys = axes.secondary_xaxis("bottom")
        sides: tuple[Axis, Axis] = (axes.xaxis, keys.xaxis)
    else:
        axes.set(xlim=(0, 1), ylim=(length, 0))
        keys = axes.secondary_yaxis("right")
        sides = (axes.yaxis, keys.yaxis)
    keys.spines[:].set_visible(False)
    for own_side, axis in zip(SIDES, sides, strict=True):
        met = strips if own_side != side else None
        notes += _name_side(axis, tokens[own_side], room, locked[own_side], strips, met, palette)
    swatches: Axis = axes.yaxis if horizontal else axes.xaxis
    if len(matrices) > 1:
        notes += _swatches(swatches, matrices, colors, across)
    else:
        swatches.set_ticks([])
    name = matrices[0].name if len(matrices) == 1 else ""
    axes.set_title(clean(titled(shown, name)), parse_math=False)
    # Below the keys, where these stand below.
    add_note(keys if horizontal else axes, notes, palette, width)


def titled(shown: Shown, name: str) -> str:
    """A title of what stands in a layer, or in all of them."""
    together = combination(shown.combine)
    layer = "" if together and together.over == "layers" else f"Layer {shown.layer}"
    stack = shown.stack if len(shown.record.stacks) > 1 else ""
    return " · ".join(filter(None, (stack, layer, name)))


def pictured_matrix(shown: Shown) -> ShownMatrix:
    """The matrix beside the lines: the combined one, else that of the current head."""
    if combination(shown.combine) is None:
        return head_matrix(shown, shown.head)
    return shown_matrices(shown)[0]


def _edges(tokens: TokenAxes, horizontal: bool) -> dict[Side, Points]:
    """Where each token begins and the last one ends: in rows, or in letters side by side."""
    edges: dict[Side, Points] = {}
    for side in SIDES:
        sizes = np.ones(len(tokens[side].shown))
        if horizontal:
            letters = [num_letters(tokens[side].labels[unit]) for unit in tokens[side].shown]
            sizes = np.clip(letters, *_LETTERS).astype(np.float64) + _PADDING
        edges[side] = np.concatenate([[0.0], np.cumsum(sizes)])
    if max(len(tokens[side].shown) for side in SIDES) > MOST_APART:
        # Both sides of a long text are as long.
        length = max(edges[side][-1] for side in SIDES)
        edges = {side: edges[side] * (length / edges[side][-1]) for side in SIDES}
    return edges


def _name_side(
    axis: Axis,
    tokens: TokenAxis,
    room: LineRoom,
    locked: Sequence[int],
    strips: Sequence[Floats] | None,
    met: Sequence[Floats] | None,
    palette: Palette,
) -> list[str]:
    """The tokens of a side; those that get attention stand out. Returns what is not named.

    Args:
        strips: the weights of what is locked, if anything is; met: those to this side.
    """
    count = len(tokens.shown)
    kept = np.ones(len(tokens.labels))
    if strips is not None:
        found = np.zeros(len(kept)) if met is None else np.max(met, axis=0)
        kept = _FADED + (1 - _FADED) * np.minimum(found, 1)
    colors = [mixed(palette.background, palette.text, float(part)) for part in kept]
    if strips is None:
        colors = [
            palette.muted if unit in tokens.special else color for unit, color in enumerate(colors)
        ]
    strongest = sorted(tokens.shown, key=lambda unit: -kept[unit]) if met is not None else []
    wanted = [tokens.places[unit] for unit in (*locked, *strongest)]
    row = room.along * float(np.diff(room.edges[tokens.side]).min())
    if room.horizontal:
        # Here a unit is about as wide as a letter.
        size = font_size(room.along * 2)
        apart = 1.0 if count <= MOST_APART else 8 * size / row
    else:
        size = font_size(row)
        apart = size / row
    places = named_places(count, apart, wanted)
    name_tokens(
        axis,
        tokens,
        room.middles(tokens.side),
        places,
        size=size,
        locked=locked,
        colors=colors,
        palette=palette,
        boxed=True,
    )
    what = "queries" if tokens.side == "query" else "keys"
    return [] if len(places) == count else [f"{len(places)} of {count} {what} are named"]


def _swatches(
    axis: Axis, matrices: Sequence[ShownMatrix], colors: Sequence[str], length: float
) -> list[str]:
    """The number of every head drawn on its colour, as tick labels; returns what is left out."""
    count = len(matrices)
    least, most = _SWATCHES
    apart = min(most, length / count)
    every = math.ceil(least / apart)
    named = range(0, count, every)
    # A space is half as wide as a digit, so that all swatches are about as wide.
    labels = [f"{matrices[n].head:^3}" for n in named]
    size = font_size(0.8 * apart * every)
    positions = [(n + 0.5) * apart / length for n in named]
    axis.set_ticks(positions, labels=labels, fontsize=size, **PLAIN)
    axis.set_tick_params(length=0)
    for n, label in zip(named, axis.get_ticklabels(), strict=True):
        label.set_color(text_on(colors[n]))
        look = {"facecolor": colors[n], "edgecolor": "none", "boxstyle": "round,pad=0.25"}
        label.set_bbox(look)
    return [] if every == 1 else [f"{len(named)} of {count} heads are named"]
