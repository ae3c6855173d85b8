"""Parts that plots share: new Axes, sizes, labels of tokens, colour bars, legends and captions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch

from .attention import Side
from .colors import Palette
from .heads import HeadColors
from .notes import clean, shorten

Size = tuple[float, float]
"""Width and height in inches."""

# Labels are data: neither formulas nor TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

# The mean width of a letter and the distance of two lines of text, in font sizes.
_LETTER, _LINE = 0.55, 1.3
_SMALLEST_FONT = 5.0
# The most that a figure grows for labels, in inches.
_LONGEST = 9.0


def new_axes(size: Size) -> Axes:
    """Axes of a new figure of this size, whose layout leaves room for labels."""
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return axes


def grown(rows: int, columns: int = 0) -> Size:
    """The size of figures in the rcParams, grown so that rows and columns can be labelled."""
    width, height = matplotlib.rcParams["figure.figsize"]
    line = font_points("ytick.labelsize") * _LINE / 72
    around = 2.0
    return (
        max(width, min(columns * line, _LONGEST) + around),
        max(height, min(rows * line, _LONGEST) + around),
    )


def font_points(param: str, share: float = 1.0) -> float:
    """A share of a font size of the rcParams, in points."""
    params: Any = matplotlib.rcParams
    return share * float(FontProperties(size=params[param]).get_size_in_points())


def labels_inches(side: Side) -> float:
    """The length of the longest label of tokens, in inches."""
    longest = max(len(shorten(label)) for label in side.labels)
    return longest * font_points("ytick.labelsize") * _LETTER / 72


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Width and height; the figure's layout may still change them when it is drawn."""
    box = axes.get_window_extent()
    return box.width * 72 / axes.figure.dpi, box.height * 72 / axes.figure.dpi


def lay_out(axes: Axes) -> None:
    """Find the places that parts of the figure have so far, where this is no subfigure."""
    found = getattr(axes.figure, "draw_without_rendering", None)
    if found is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they come when the figure is drawn
            found()


def set_title(axes: Axes, title: str, pad: float | None = None) -> None:
    """Set a title that is no formula, some points above what is below it."""
    axes.set_title(clean(title), pad=pad, **PLAIN)


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
    usual = font_points("xtick.labelsize" if across else "ytick.labelsize")
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


def add_colorbar(axes: Axes | Sequence[Axes], mappable: Any, *label: str, **style: Any) -> None:
    """Add a colour bar beside the Axes, as high as what is drawn in them.

    Args:
        label: its lines, which are broken where they are longer than the Axes are high.
    """
    if isinstance(axes, Axes) and axes.get_aspect() != "auto" and axes.get_adjustable() == "box":
        # The layout knows the room of these Axes, of which they use a part.
        style = {**style, "cax": axes.inset_axes((1.04, 0, 0.05, 1))}
    else:
        style = {**style, "ax": axes}
    first = axes if isinstance(axes, Axes) else axes[0]
    letters = int(size_in_points(first)[1] / (font_points("axes.labelsize") * _LETTER))
    lines = "\n".join(fill(clean(line), max(16, letters)) for line in label)
    first.figure.colorbar(mappable, **style).set_label(lines, **PLAIN)


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
        handlelength=1,
        columnspacing=1,
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set(parse_math=False, usetex=False)
    return legend


def patches_of(legend: Iterable[tuple[str, str]]) -> list[Artist]:
    """The entries of a legend for colours with their names."""
    return [Patch(color=color, label=name) for color, name in legend]


def explain(axes: Axes, inks: HeadColors, beside: Iterable[Artist] = ()) -> None:
    """Add the colour bar or the legend of heads' colours, and further entries of a legend."""
    if inks.mappable is not None:
        add_colorbar(axes, inks.mappable, inks.label)
    if entries := [*patches_of(inks.legend.items()), *beside]:
        add_legend(axes, entries)


def add_caption(
    axes: Axes, notes: Iterable[str], palette: Palette, below: Artist | None = None
) -> None:
    """Add notes in small print below the plot, and below its legend or the title of its axis."""
    size = font_points("font.size", 0.7)
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
