"""Parts that plots share: new Axes, sizes, labels of tokens, colour bars, legends and captions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray

from attnwidget.wire.text import sendable

from .attention import Side
from .colors import Palette

Size = tuple[float, float]
"""Width and height in inches."""

# Labels are data: neither formulas nor TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

# Characters that XML cannot hold, and the byte order mark, which is invisible and which
# matplotlib's PDF cannot write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

# The mean width of a letter and the distance of two lines of text, in font sizes.
_LETTER, _LINE = 0.55, 1.3
_SMALLEST_FONT = 5.0
# The most that a figure grows for labels, in inches.
_LONGEST = 9.0
_LONGEST_LABEL = 20


def new_axes(size: Size) -> Axes:
    """Axes of a new figure of this size, whose layout leaves room for labels."""
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return axes


def grown(rows: int, columns: int = 0) -> Size:
    """The size of figures in the rcParams, grown so that rows and columns can be labelled."""
    width, height = matplotlib.rcParams["figure.figsize"]
    line = font_points(matplotlib.rcParams["ytick.labelsize"]) * _LINE / 72
    around = 2.0
    return (
        max(width, min(columns * line, _LONGEST) + around),
        max(height, min(rows * line, _LONGEST) + around),
    )


def clean(text: str) -> str:
    """Remove the characters that a file cannot hold, and put the text on one line."""
    return re.sub("[\t\n\r]", " ", _UNWRITABLE.sub("", sendable(text)))


def shorten(label: str) -> str:
    """Shorten a label in the middle to 20 letters."""
    text, half = clean(label), _LONGEST_LABEL // 2
    return text if len(text) <= _LONGEST_LABEL else f"{text[:half]}…{text[1 - half :]}"


def font_points(size: str | float) -> float:
    """A font size of the rcParams in points."""
    return float(FontProperties(size=size).get_size_in_points())


def labels_inches(side: Side) -> float:
    """The length of the longest label of tokens, in inches."""
    return max(len(shorten(label)) for label in side.labels) * font_points("medium") * _LETTER / 72


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Width and height; the figure's layout may still change them when it is drawn."""
    box = axes.get_window_extent()
    return box.width * 72 / axes.figure.dpi, box.height * 72 / axes.figure.dpi


def label_tokens(
    axis: Axis,
    side: Side,
    positions: Sequence[float],
    room: float,
    palette: Palette,
    locked: Sequence[int] = (),
) -> str:
    """Label tokens with ticks, as many as have room; locked ones are bold, special ones muted.

    Args:
        positions: the coordinate of each.
        room: points between two of them.
        locked: the indices of those that are labelled in any case.

    Returns:
        A note on labels that are left out; "" for none.
    """
    across = isinstance(axis, XAxis)
    usual = font_points(matplotlib.rcParams["xtick.labelsize" if across else "ytick.labelsize"])
    size = min(usual, max(_SMALLEST_FONT, room / _LINE))
    count, step = len(side), max(1, round(size * _LINE / room))
    places = [*locked]
    for at in range(0, count, step):
        if all(abs(at - other) >= step for other in places):
            places.append(at)
    labels = [shorten(side.labels[at]) for at in places]
    axis.set_ticks([positions[at] for at in places], labels=labels, fontsize=size, **PLAIN)
    axis.set_tick_params(length=0, labelrotation=90 if across else 0)
    for at, label in zip(places, axis.get_ticklabels(), strict=True):
        if at in locked:
            label.set_fontweight("bold")
        elif side.shown[at] in side.tokens.special:
            label.set_color(palette.muted)
    named = "queries" if side.name == "query" else "keys"
    return "" if len(places) >= count else f"{len(places)} of {count} {named} are named"


def add_colorbar(axes: Axes, mappable: Any, label: str) -> None:
    """Add a colour bar beside the Axes."""
    axes.figure.colorbar(mappable, ax=axes).set_label(clean(label), **PLAIN)


def add_legend(axes: Axes, handles: Iterable[Artist], *, title: str = "", columns: int = 1) -> Any:
    """Add a legend at the right of the Axes; below them, if it has several columns."""
    entries = list(handles)
    legend = axes.legend(
        # matplotlib fills columns, and a reader reads rows.
        handles=[entry for column in range(columns) for entry in entries[column::columns]],
        title=title,
        ncols=columns,
        loc="upper center" if columns > 1 else "upper left",
        bbox_to_anchor=(0.5, 0) if columns > 1 else (1, 1),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        handlelength=1,
        columnspacing=1,
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set(parse_math=False, usetex=False)
    return legend


def add_caption(
    axes: Axes, notes: Iterable[str], palette: Palette, below: Artist | None = None
) -> None:
    """Add notes in small print below the plot, and below its legend or the title of its axis."""
    size = font_points("x-small")
    width = max(24, int(size_in_points(axes)[0] / (size * _LETTER)))
    text = fill(clean(" · ".join(filter(None, notes))), width)
    if text:
        caption = axes.annotate(
            text,
            (0, 0),
            (0, -4),
            xycoords="axes fraction" if below is None else ("axes fraction", below),
            textcoords="offset points",
            va="top",
            fontsize=size,
            color=palette.muted,
            **PLAIN,
        )
        caption.set_gid("caption")


def share_note(part: float, total: float, of: str, done: str = "shown") -> str:
    """Say "99.9% of attention shown", rounded down, so that 100% means all of it; "" for all."""
    percent = 100 * part / total if total else 100
    # The rounding of a sum is no attention that is left out.
    return "" if percent >= 99.9999 else f"{math.floor(percent * 10) / 10:g}% of {of} {done}"


def magnitude(numbers: NDArray[np.floating]) -> float:
    """The sum of all numbers without their signs."""
    return float(np.abs(numbers).sum(dtype=np.float64))


def group_bounds(count: int, max_groups: int) -> np.ndarray:
    """The starts of even groups of `count` neighbours, and the end of the last group."""
    groups = min(count, max_groups)
    return np.arange(groups + 1) * count // groups
