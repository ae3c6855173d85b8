"""Lines between tokens: those of heads, and annotated links over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.path import Path

from attnwidget.record import Floats
from attnwidget.wire import SentArc

from .attention import Attention
from .axes import PLAIN
from .colors import Palette
from .curves import Numbers
from .notes import clean

_MAX_ARC_LABELS = 24


def draw_curves(
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


def draw_arcs(
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
            draw_curves(axes, starts, stops, colors=palette.text, widths=1.4, linestyles=style)
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
