"""Colours of plots: those of the front end, light and dark."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, to_hex, to_rgb
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Palette:
    dark: bool
    background: str
    border: str
    text: str
    muted: str
    accent: str
    highlight: str
    ink: str
    paper: str
    positive: str
    negative: str
    neutral: str
    patterns: Sequence[str]


# The front end has the same file.
_COLORS = json.loads((Path(__file__).parent.parent / "colors.json").read_text(encoding="utf-8"))


def _palette(name: str) -> Palette:
    colors = _COLORS[name]
    known = {field.name: colors[field.name] for field in fields(Palette) if field.name in colors}
    return Palette(**known, dark=name == "dark")


LIGHT, DARK = _palette("light"), _palette("dark")

_FEW = tuple(_COLORS["heads"]["few"])
_MORE_LIGHT = tuple(_COLORS["heads"]["moreLight"])
_MORE_DARK = tuple(_COLORS["heads"]["moreDark"])
# The share of white or black in the last shade of a family.
_FAMILY_RANGE = 0.45

_GOLDEN_ANGLE = 137.508
_LAYER_LIGHTNESS_LIGHT = (0.5, 0.6, 0.4, 0.55)
_LAYER_LIGHTNESS_DARK = (0.72, 0.85, 0.64, 0.79)

# From Oklab to linear RGB: bottosson.github.io/posts/oklab.
_LAB_TO_LMS = np.array(
    [
        [1, 0.3963377774, 0.2158037573],
        [1, -0.1055613458, -0.0638541728],
        [1, -0.0894841775, -1.291485548],
    ]
)
_LMS_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.707614701],
    ]
)


def mixed(below: str, above: str, share: float) -> str:
    """Mix two colours; `share` is that of the second."""
    return _to_hex((1 - share) * np.array(to_rgb(below)) + share * np.array(to_rgb(above)))


def head_colors(count: int, dark: bool) -> Sequence[str]:
    """A colour per head of a layer; with more than 32, neighbours are shades of one family."""
    distinct = (*_FEW, *(_MORE_DARK if dark else _MORE_LIGHT))
    if count <= len(distinct):
        return distinct[:count]
    size = math.ceil(count / len(_FEW))
    end = "#ffffff" if dark else "#000000"
    return [
        mixed(_FEW[head // size], end, _FAMILY_RANGE * (head % size) / (size - 1))
        for head in range(count)
    ]


def text_on(color: str) -> str:
    """Black or white, whichever reads better on this colour (the WCAG's relative luminance)."""
    encoded = np.array(to_rgb(color))
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return "#000000" if linear @ [0.2126, 0.7152, 0.0722] > 0.179 else "#ffffff"


def ramp(dark: bool) -> Colormap:
    """Colormap from low to high numbers: blue over violet to warm."""
    ends = (0.6, 0.93, 0.14, 0.09, 250, 440) if dark else (0.63, 0.33, 0.11, 0.14, 220, 380)
    lightness, chroma, hue = np.linspace(ends[::2], ends[1::2], 256).T
    return ListedColormap(_oklch(lightness, chroma, hue))


def diverging(palette: Palette, middle: str) -> Colormap:
    """Colormap from negative to positive numbers, with the colour of zero."""
    colors = [palette.negative, middle, palette.positive]
    return LinearSegmentedColormap.from_list("signed", colors)


def layer_color(index: int, dark: bool) -> str:
    shades = _LAYER_LIGHTNESS_DARK if dark else _LAYER_LIGHTNESS_LIGHT
    return _to_hex(_oklch(shades[index % len(shades)], 0.13, 255 + index * _GOLDEN_ANGLE))


def _oklch(lightness: ArrayLike, chroma: ArrayLike, degrees: ArrayLike) -> NDArray[np.float64]:
    """RGB [..., 3] from 0 to 1."""
    hue = np.radians(degrees)
    lab = np.stack([np.asarray(lightness), chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    linear = np.clip((lab @ _LAB_TO_LMS.T) ** 3 @ _LMS_TO_RGB.T, 0, 1)
    encoded = 1.055 * linear ** (1 / 2.4) - 0.055
    rgb: NDArray[np.float64] = np.where(linear <= 0.0031308, 12.92 * linear, encoded)
    return rgb


def _to_hex(rgb: NDArray[np.float64]) -> str:
    return to_hex((rgb[0], rgb[1], rgb[2]))
