"""Annotated links over the lines of the head view, and whether a head finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from attnwidget.record import Floats
from attnwidget.wire import SentArc

from .colors import Palette
from .lines import LineRoom, add_curves
from .shown import SIDES, Shown, Side, TokenAxes, other_side
from .text import PLAIN, clean

_WIDTH = 1.4
# The dashes of an arc that the head misses, in line widths.
_DASHES = (0, (4, 2.5))
# The place of a label on the way from the side that decides.
_LABEL_AT = 0.2
_MAX_LABELS = 24


class DrawnArc(NamedTuple):
    """An arc whose tokens are shown.

    Attributes:
        units: its units by side.
        hit: True if the head's largest weight lies on it; None in a difference.
    """

    label: str
    by: Side
    units: dict[Side, list[int]]
    hit: bool | None


def drawn_arcs(
    arcs: Sequence[SentArc], tokens: TokenAxes, weights: Floats | None, *, same: bool
) -> list[DrawnArc]:
    """The arcs whose tokens are shown, with what a head makes of them.

    Args:
        weights: of the head, [query units, key units]; None of a difference, whose largest change
            is not where a head attends.
        same: True if queries and keys are the same tokens.
    """
    drawn = []
    for arc in arcs:
        ranges: dict[Side, range] = {"query": range(*arc["query"]), "key": range(*arc["key"])}
        units = {side: tokens[side].units(list(ranges[side])) for side in SIDES}
        if not all(units.values()):
            continue
        by = arc["by"]
        hit = None if weights is None else _hits(units, by, tokens, weights, same)
        drawn.append(DrawnArc(arc["label"], by, units, hit))
    return drawn


def _hits(
    units: dict[Side, list[int]], by: Side, tokens: TokenAxes, weights: Floats, same: bool
) -> bool:
    far = other_side(by)
    rows = weights[units[by]] if by == "query" else weights[:, units[by]].T
    row = rows.mean(axis=0)
    row[[*tokens[far].special, *(units[by] if same else ())]] = 0
    largest = int(row.argmax())
    return bool(row[largest] > 0) and largest in units[far]


def draw_arcs(
    axes: Axes, shown: Shown, room: LineRoom, arcs: Sequence[DrawnArc], name: str, palette: Palette
) -> list[str]:
    """Draw arcs over the lines: solid if the head finds them, else dashed.

    Args:
        name: of the head.

    Returns:
        Notes on them.
    """
    if not arcs:
        return []
    across: dict[Side, float] = {"query": room.query, "key": room.key}
    for hit in (True, False):
        paths = [
            room.curve(
                (room.query, _along(arc, "query", shown, room)),
                (room.key, _along(arc, "key", shown, room)),
            )
            for arc in arcs
            if bool(arc.hit) is hit
        ]
        style = {} if hit else {"linestyles": [_DASHES]}
        add_curves(axes, paths, palette.text, _WIDTH, **style)
    for arc in arcs if len(arcs) <= _MAX_LABELS else ():
        far = other_side(arc.by)
        start, end = (_along(arc, side, shown, room) for side in (arc.by, far))
        place = across[arc.by] + _LABEL_AT * (across[far] - across[arc.by])
        # A curve is level at both ends, so that it has gone a tenth of the way there.
        x, y = room.point(place, start + 0.104 * (end - start))
        axes.text(
            x,
            y,
            clean(arc.label),
            color=palette.text,
            fontsize=7,
            ha="center",
            va="center",
            **PLAIN,
            bbox={
                "facecolor": palette.background,
                "alpha": 0.85,
                "edgecolor": "none",
                "boxstyle": "round,pad=0.15",
            },
        )
    known = [arc.hit for arc in arcs if arc.hit is not None]
    note = f"{name} finds {sum(known)} of {len(known)} annotated links (solid)"
    return [note if known else "dashed: annotated links"]


def _along(arc: DrawnArc, side: Side, shown: Shown, room: LineRoom) -> float:
    places = [shown.token_axes[side].places[unit] for unit in arc.units[side]]
    return float(np.mean(room.middles(side)[places]))
