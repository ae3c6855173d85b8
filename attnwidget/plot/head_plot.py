"""The head view as a plot: tokens, the lines between them, and a swatch per head."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from attnwidget.record import Floats, runs
from attnwidget.view_state import combination

from .arcs import draw_arcs, drawn_arcs
from .axes import (
    add_note,
    font_size,
    hide_frame,
    label_tokens,
    palette_of,
    size_in_points,
    spaced_places,
)
from .colors import Palette, head_colors, mixed, text_on
from .lines import MAX_SINGLE_TOKENS, LineRoom, Points, Series, all_lines, locked_lines
from .shown import SIDES, Shown, Side, TokenAxes, TokenAxis
from .text import PLAIN, clean, num_letters
from .weights import (
    SUFFIXES,
    AttentionMatrix,
    head_matrix,
    locked_weights,
    shown_matrices,
    signed_parts,
)

_FADED = 0.62
# Letters of the shortest and of the longest horizontal token, and the padding of each.
_LETTERS = (2, 20)
_PADDING = 2
# The smallest and the largest distance of two swatches, in points.
_SWATCHES = (13, 24)


def draw_head(axes: Axes, shown: Shown) -> None:
    """Draw the lines of the visible heads, or of the locked tokens, between both sides."""
    palette, tokens, horizontal = palette_of(axes), shown.token_axes, shown.horizontal
    locked: dict[Side, list[int]] = {side: tokens[side].units(shown.locked(side)) for side in SIDES}
    named = matrices = shown_matrices(shown)
    by_head = head_colors(shown.current_layer.num_heads, palette.dark)
    colors = [palette.ink if matrix.head is None else by_head[matrix.head] for matrix in matrices]
    signed = named[0].signed
    if signed:
        matrices = signed_parts(named)
        colors = [palette.positive, palette.negative] * len(named)

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
        units = locked[side]
        weights = locked_weights(matrices, side, units)
        strips = [each.sum(axis=0) for each in weights]
        if len(matrices) == 1 and len(units) > 1:
            # The unit locked first is the last; it has the first colour, as in the browser.
            by_unit = head_colors(len(units), palette.dark)[::-1]
            rows = zip(by_unit, units, weights[0], strict=True)
            series = [Series(color, [unit], row[None]) for color, unit, row in rows]
        else:
            by_matrix = zip(colors, weights, strict=True)
            series = [Series(color, units, each) for color, each in by_matrix]
        notes = locked_lines(axes, room, tokens, side, series)
    if shown.arcs_shown and shown.stack_arcs:
        matrix = matrix_beside_lines(shown)
        same = shown.current_stack.queries == shown.current_stack.keys
        weights_of_head = None if signed else matrix.weights()
        arcs = drawn_arcs(shown.stack_arcs, tokens, weights_of_head, same=same)
        notes += draw_arcs(axes, shown, room, arcs, matrix.name, palette)

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
    for axis_side, axis in zip(SIDES, sides, strict=True):
        here, received = locked[axis_side], strips if axis_side != side else None
        emphasis = None if strips is None else _emphasis(tokens[axis_side], received)
        notes += _label_side(axis, tokens[axis_side], room, here, emphasis, palette)
    swatches: Axis = axes.yaxis if horizontal else axes.xaxis
    if len(matrices) > 1 and not signed:
        notes += _swatches(swatches, matrices, colors, across)
    else:
        swatches.set_ticks([])
    several = SUFFIXES[named[0].measure]
    if signed:
        of, meaning = (
            ("the scores", "blue: above 0, orange: below")
            if named[0].measure == "score"
            else ("the difference", "blue: more in B, orange: less")
        )
        notes = [meaning, *(note.replace("of attention", f"of {of}") for note in notes)]
        several = f"heads {runs(shown.drawn_heads)}, {several}"
    name = named[0].name if len(named) == 1 else several
    axes.set_title(clean(attention_title(shown, name)), parse_math=False)
    # Horizontal keys have their labels below the plot, and the note follows these.
    add_note(keys if horizontal else axes, notes, palette, width)


def attention_title(shown: Shown, name: str) -> str:
    """The title of attention in a layer, or in all layers."""
    combined = combination(shown.combine)
    of_all = shown.lens == "rollout" or (combined is not None and combined.over == "layers")
    layer = "" if of_all else f"Layer {shown.layer}"
    stack = shown.stack if shown.several_stacks else ""
    return " · ".join(filter(None, (stack, layer, name)))


def matrix_beside_lines(shown: Shown) -> AttentionMatrix:
    """The matrix beside the lines: the combined one, or that of the current head."""
    if combination(shown.combine) is None and shown.lens != "rollout":
        return head_matrix(shown, shown.head)
    return shown_matrices(shown)[0]


def _edges(tokens: TokenAxes, horizontal: bool) -> dict[Side, Points]:
    """The start of every token and the end of the last: in rows, or in letters if horizontal."""
    edges: dict[Side, Points] = {}
    for side in SIDES:
        sizes = np.ones(len(tokens[side].shown))
        if horizontal:
            letters = [num_letters(tokens[side].labels[unit]) for unit in tokens[side].shown]
            sizes = np.clip(letters, *_LETTERS).astype(np.float64) + _PADDING
        edges[side] = np.concatenate([[0.0], np.cumsum(sizes)])
    if max(len(tokens[side].shown) for side in SIDES) > MAX_SINGLE_TOKENS:
        # Both sides of a long text get the same length.
        length = max(edges[side][-1] for side in SIDES)
        edges = {side: edges[side] * (length / edges[side][-1]) for side in SIDES}
    return edges


def _emphasis(tokens: TokenAxis, received: Sequence[Floats] | None) -> Points:
    """The emphasis of every unit, from 0 to 1: the largest weight that it receives.

    Args:
        received: weights to every unit, by head; None on the side of the locked tokens.
    """
    if received is None:
        return np.zeros(len(tokens.labels))
    emphasis: Points = np.asarray(received, np.float64).max(axis=0).clip(max=1)
    return emphasis


def _label_side(
    axis: Axis,
    tokens: TokenAxis,
    room: LineRoom,
    locked: Sequence[int],
    emphasis: Points | None,
    palette: Palette,
) -> list[str]:
    """Label the tokens of a side.

    Args:
        emphasis: of every unit, from 0 to 1; None if no token is locked.

    Returns:
        Notes on what is left out.
    """
    count = len(tokens.shown)
    preferred = list(locked)
    if emphasis is None:
        units = range(len(tokens.labels))
        colors = [palette.muted if unit in tokens.special else palette.text for unit in units]
    else:
        colors = [
            mixed(palette.background, palette.text, _FADED + (1 - _FADED) * float(share))
            for share in emphasis
        ]
        if emphasis.any():
            preferred += sorted(tokens.shown, key=lambda unit: -emphasis[unit])
    row = room.along * float(np.diff(room.edges[tokens.side]).min())
    if room.horizontal:
        # A horizontal unit is about as wide as a letter.
        size = font_size(room.along * 2)
        distance = 1.0 if count <= MAX_SINGLE_TOKENS else 8 * size / row
    else:
        size = font_size(row)
        distance = size / row
    places = spaced_places(count, distance, [tokens.places[unit] for unit in preferred])
    label_tokens(
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
    plural = "queries" if tokens.side == "query" else "keys"
    return [] if len(places) == count else [f"{len(places)} of {count} {plural} are named"]


def _swatches(
    axis: Axis, matrices: Sequence[AttentionMatrix], colors: Sequence[str], length: float
) -> list[str]:
    """Label every head with its number on its colour, as tick labels.

    Returns:
        Notes on what is left out.
    """
    count = len(matrices)
    smallest, largest = _SWATCHES
    distance = min(largest, length / count)
    step = math.ceil(smallest / distance)
    labelled = range(0, count, step)
    # A space is half as wide as a digit, so that all swatches are about equally wide.
    labels = [f"{matrices[n].head:^3}" for n in labelled]
    size = font_size(0.8 * distance * step)
    positions = [(n + 0.5) * distance / length for n in labelled]
    axis.set_ticks(positions, labels=labels, fontsize=size, **PLAIN)
    axis.set_tick_params(length=0)
    for n, label in zip(labelled, axis.get_ticklabels(), strict=True):
        label.set_color(text_on(colors[n]))
        label.set_bbox({"facecolor": colors[n], "edgecolor": "none", "boxstyle": "round,pad=0.25"})
    return [] if step == 1 else [f"{len(labelled)} of {count} heads are named"]
