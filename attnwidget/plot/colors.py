"""The colours of plots: those of the view, on light and on dark backgrounds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import (
    Colormap,
    LinearSegmentedColormap,
    Normalize,
    PowerNorm,
    to_hex,
    to_rgb,
    to_rgba,
)


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
    faces = [to_rgba(artist.get_facecolor()) for artist in (axes, axes.figure)]
    background = next((to_hex(face[:3]) for face in faces if face[3] > 0), "#ffffff")
    encoded = np.array(to_rgb(background))
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    # White letters read better than black ones (the WCAG's relative luminance).
    dark = float(linear @ [0.2126, 0.7152, 0.0722]) <= 0.179
    return replace(
        DARK if dark else LIGHT,
        background=background,
        text=to_hex(matplotlib.rcParams["text.color"]),
    )


def mixed(below: str, above: str, share: float) -> str:
    """Mix two colours; `share` is that of the second."""
    red, green, blue = (1 - share) * np.array(to_rgb(below)) + share * np.array(to_rgb(above))
    return to_hex((red, green, blue))


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
    return Normalize(-most, most) if signed else PowerNorm(0.5, 0, most)
