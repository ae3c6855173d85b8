"""Shared drawing on matplotlib's Axes: colours, sizes, token labels, notes and legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex, to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from numpy.typing import NDArray

from .colors import DARK, LIGHT, Palette, mixed, text_on
from .shown import TokenAxis
from .text import PLAIN, shorten
from .tick_labels import AxisLabels, Label

# The mean width of a letter and the distance of two lines of text, in font sizes.
LETTER = 0.55
_LINE = 1.15
_SMALLEST_FONT = 5.0
_LONGEST_LABEL = 20

FontSetting = Literal["xtick.labelsize", "ytick.labelsize", "legend.fontsize"]


def palette_of(axes: Axes) -> Palette:
    """The colours that read well on the background of these Axes."""
    faces = [to_rgba(artist.get_facecolor()) for artist in (axes, axes.figure)]
    background = next((to_hex(face[:3]) for face in faces if face[3] > 0), "#ffffff")
    palette = DARK if text_on(background) == "#ffffff" else LIGHT
    if background == palette.background:
        return palette
    return replace(palette, background=background, paper=mixed(background, palette.text, 0.03))


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Width and height; the figure's layout may still change them when it is drawn."""
    box = axes.get_window_extent()
    dpi = axes.figure.dpi
    return box.width * 72 / dpi, box.height * 72 / dpi


def font_size(room: float = 1000, name: FontSetting = "ytick.labelsize") -> float:
    """The rcParams' font size in points, reduced to fit lines of `room` points."""
    usual = float(FontProperties(size=matplotlib.rcParams[name]).get_size_in_points())
    return max(_SMALLEST_FONT, min(usual, room / _LINE))


def spaced_places(count: int, distance: float, preferred: Iterable[int] = ()) -> list[int]:
    """Places at least `distance` apart whose labels have room: preferred ones, then even ones."""
    if distance <= 1:
        return list(range(count))
    chosen: list[int] = []
    for place in (*preferred, *range(0, count, max(1, round(distance)))):
        if all(abs(place - other) >= distance for other in chosen):
            chosen.append(place)
    return sorted(chosen)


def label_tokens(
    axis: Axis,
    tokens: TokenAxis,
    positions: Sequence[float] | NDArray[np.float64],
    places: Sequence[int],
    *,
    size: float,
    locked: Sequence[int],
    colors: Sequence[str],
    palette: Palette,
    max_letters: float = _LONGEST_LABEL,
    rotation: float = 0,
    boxed: bool = False,
) -> None:
    """Label the tokens at some places, and emphasize the locked ones.

    Args:
        positions: the coordinate of every place.
        places: the places to label.
        locked: the locked units.
        colors: the label colour of every unit.
        boxed: True to draw a box around locked labels.
    """
    labels = []
    for place in places:
        unit = tokens.shown[place]
        text, is_locked = shorten(tokens.labels[unit], max_letters), unit in locked
        color = palette.text if is_locked else colors[unit]
        labels.append(Label(float(positions[place]), text, color, is_locked))
    AxisLabels(axis, labels, size, rotation, locked_box(palette) if boxed else None).add()


def locked_box(palette: Palette) -> dict[str, Any]:
    """The style of the box around the label of a locked token."""
    return {
        "facecolor": palette.highlight,
        "edgecolor": palette.accent,
        "linewidth": 1,
        "boxstyle": "round,pad=0.2,rounding_size=0.3",
    }


def hide_frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.grid(visible=False)


def add_note(axes: Axes | Any, notes: Iterable[str], palette: Palette, width: float) -> None:
    """Add notes in small print below the plot, wrapped at `width` points."""
    axes.set_xlabel(
        _wrapped(notes, width), fontsize="x-small", color=palette.muted, loc="left", **PLAIN
    )


def add_legend(
    axes: Axes,
    handles: Sequence[Patch],
    notes: Iterable[str],
    palette: Palette,
    width: float,
    *,
    below: float = 0,
) -> None:
    """Add notes and a legend of the colours below the plot.

    Args:
        width: the room, in points.
        below: the distance from the plot as a share of its height.
    """
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
        bbox_to_anchor=(0, -below),
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
