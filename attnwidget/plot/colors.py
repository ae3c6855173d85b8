"""The colours of plots: those of the view, on light and on dark backgrounds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

# matplotlib is imported where it is needed: the picture beside a widget is drawn without it.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize


@dataclass(frozen=True)
class Palette:
    """Colours that read well on a background.

    Attributes:
        background, text: those of the Axes and of the rcParams.
        ink: of the largest weight of a matrix.
        positive, negative: of numbers above and below zero.
        accent: of what is locked.
        patterns: of the patterns, in the order of `analysis.PATTERNS`.
    """

    dark: bool
    background: str
    text: str
    ink: str
    positive: str
    negative: str
    accent: str
    patterns: Sequence[str]

    @property
    def muted(self) -> str:
        """The colour of what is less important."""
        return mixed(self.background, self.text, 0.62)

    def colormap(self, *, signed: bool, middle: str | None = None) -> Colormap:
        """From the background to the full colour, or from negative over it to positive.

        Args:
            middle: the colour of zero, in place of the background's.
        """
        from matplotlib.colors import LinearSegmentedColormap

        zero = middle or self.background
        colors = [self.negative, zero, self.positive] if signed else [zero, self.ink]
        return LinearSegmentedColormap.from_list("attention", colors)


# Those of the view, from the same file.
_COLORS = json.loads(Path(__file__).parent.with_name("colors.json").read_text(encoding="utf-8"))


def _palette(name: str) -> Palette:
    colors = _COLORS[name]
    known = {field.name: colors[field.name] for field in fields(Palette) if field.name in colors}
    return Palette(**known, dark=name == "dark")


LIGHT, DARK = _palette("light"), _palette("dark")

_FEW = tuple(_COLORS["heads"]["few"])
# The share of white or black in the last shade of a family.
_FAMILY_RANGE = 0.45


def palette_of(axes: Axes) -> Palette:
    """The colours that read well on the background of these Axes."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex, to_rgba

    faces = [to_rgba(artist.get_facecolor()) for artist in (axes, axes.figure)]
    red, green, blue, _ = next((face for face in faces if face[3] > 0), (1, 1, 1, 1))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    return replace(
        DARK if dark else LIGHT,
        background=to_hex((red, green, blue)),
        text=to_hex(rcParams["text.color"]),
    )


def rgb(color: str) -> NDArray[np.float64]:
    """Red, green and blue from 0 to 1 of a colour as "#2357ad"."""
    return np.array(list(bytes.fromhex(color[1:]))) / 255


def mixed(below: str, above: str, share: float) -> str:
    """Mix two colours; `share` is that of the second."""
    parts = 255 * ((1 - share) * rgb(below) + share * rgb(above))
    return f"#{bytes(parts.round().astype(np.uint8)).hex()}"


def head_colors(count: int, *, dark: bool) -> Sequence[str]:
    """A colour per head of a layer; with more than 32, neighbours are shades of one family."""
    distinct = (*_FEW, *_COLORS["heads"]["moreDark" if dark else "moreLight"])
    if count <= len(distinct):
        return distinct[:count]
    size = math.ceil(count / len(_FEW))
    end = "#ffffff" if dark else "#000000"
    return [
        mixed(_FEW[head // size], end, _FAMILY_RANGE * (head % size) / (size - 1))
        for head in range(count)
    ]


def shade(most: float, *, signed: bool) -> Normalize:
    """The scale of shades up to a number: √(weight ÷ most), because most weights are small."""
    from matplotlib.colors import Normalize, PowerNorm

    return Normalize(-most, most) if signed else PowerNorm(0.5, 0, most)
