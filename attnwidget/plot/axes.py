"""What all plots do with matplotlib's Axes: their colours, sizes, token labels and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb, to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from numpy.typing import NDArray

from .colors import DARK, LIGHT, Palette, mixed
from .shown import TokenAxis
from .text import shorten

# Of a font's size: the mean width of a letter, and the distance of lines that do not touch.
LETTER = 0.55
_LINE = 1.15
_SMALLEST_FONT = 5.0
_LONGEST_LABEL = 20

FontSetting = Literal["xtick.labelsize", "ytick.labelsize", "legend.fontsize"]

# Labels are data: neither formulas nor TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


def palette_of(axes: Axes) -> Palette:
    """The colours that read well on the background of these Axes."""
    faces = [to_rgba(part.get_facecolor()) for part in (axes, axes.figure)]
    background = next((to_hex(face[:3]) for face in faces if face[3] > 0), "#ffffff")
    red, green, blue = to_rgb(background)
    palette = DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5 else LIGHT
    if background == palette.background:
        return palette
    return replace(palette, background=background, paper=mixed(background, palette.text, 0.03))


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Width and height. A layout that runs when the figure is drawn may still change them."""
    box = axes.get_window_extent()
    dpi = axes.figure.dpi
    return box.width * 72 / dpi, box.height * 72 / dpi


def font_size(room: float = 1000, name: FontSetting = "ytick.labelsize") -> float:
    """The session's size of such texts in points, smaller where lines are as low as `room`."""
    usual = float(FontProperties(size=matplotlib.rcParams[name]).get_size_in_points())
    return max(_SMALLEST_FONT, min(usual, room / _LINE))


def to_ink(palette: Palette, ink: str) -> LinearSegmentedColormap:
    """From the background to a colour."""
    return LinearSegmentedColormap.from_list("weights", [palette.background, ink])


def diverging(palette: Palette) -> LinearSegmentedColormap:
    """From negative over the background to positive."""
    colors = [palette.negative, palette.background, palette.positive]
    return LinearSegmentedColormap.from_list("signed", colors)


def named_places(count: int, apart: float, first: Iterable[int] = ()) -> list[int]:
    """The places whose labels have room, so far apart: some first, then as many as fit evenly."""
    if apart <= 1:
        return list(range(count))
    chosen: list[int] = []
    for at in (*first, *range(0, count, max(1, round(apart)))):
        if all(abs(at - other) >= apart for other in chosen):
            chosen.append(at)
    return sorted(chosen)


def name_tokens(
    axis: Axis,
    tokens: TokenAxis,
    positions: Sequence[float] | NDArray[np.float64],
    places: Sequence[int],
    *,
    size: float,
    locked: Sequence[int],
    colors: Sequence[str],
    palette: Palette,
    most: float = _LONGEST_LABEL,
    rotation: float = 0,
    boxed: bool = False,
) -> None:
    """Tick labels of the tokens at some places; those that are locked stand out.

    Args:
        positions: of every place.
        colors: of every unit.
    """
    units = [tokens.shown[place] for place in places]
    labels = [shorten(tokens.labels[unit], most) for unit in units]
    axis.set_ticks([positions[place] for place in places], labels=labels, fontsize=size, **PLAIN)
    axis.set_tick_params(length=0, labelrotation=rotation)
    for unit, label in zip(units, axis.get_ticklabels(), strict=True):
        label.set_color(colors[unit])
        if unit in locked:
            label.set_color(palette.text)
            label.set_fontweight("bold")
            if boxed:
                label.set_bbox(locked_box(palette))


def locked_box(palette: Palette) -> dict[str, Any]:
    """The look of the box around the label of a locked token."""
    look = {"facecolor": palette.highlight, "edgecolor": palette.accent, "linewidth": 1}
    return {**look, "boxstyle": "round,pad=0.2,rounding_size=0.3"}


def hide_frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.grid(visible=False)


def add_note(axes: Axes | Any, notes: Iterable[str], palette: Palette, width: float) -> None:
    """Small print below: what is left out, and how to read what is there.

    Args:
        width: of the room, in points.
    """
    axes.set_xlabel(
        _wrapped(notes, width), fontsize="x-small", color=palette.muted, loc="left", **PLAIN
    )


def add_legend(
    axes: Axes, handles: Sequence[Patch], notes: Iterable[str], palette: Palette, width: float
) -> None:
    """Below the plot: its small print, and what the colours mean."""
    note = _wrapped(notes, width)
    if not handles and not note:
        return
    letters = max((len(str(handle.get_label())) for handle in handles), default=1) + 4
    per_row = int(width / (letters * LETTER * font_size(name="legend.fontsize")))
    legend = axes.legend(
        handles=list(handles),
        title=note,
        ncols=max(1, min(per_row, len(handles))),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        alignment="left",
        labelcolor=palette.muted,
        fontsize="small",
        title_fontsize="x-small",
        borderaxespad=0.3,
        borderpad=0,
        handlelength=0.8,
        handleheight=0.8,
        frameon=False,
    )
    legend.get_title().set_color(palette.muted)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _wrapped(notes: Iterable[str], width: float) -> str:
    size = float(FontProperties(size="x-small").get_size_in_points())
    return fill(" · ".join(filter(None, notes)), max(24, int(width / (size * LETTER))))
