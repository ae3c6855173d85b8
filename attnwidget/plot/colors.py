"""Colours, light and dark: those of `js/src/styles/theme.ts`, `head-colors.ts` and `ramp.ts`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
    patterns: tuple[str, ...]


LIGHT = Palette(
    dark=False,
    background="#ffffff",
    border="#dfe2e8",
    text="#1c2026",
    muted="#646b78",
    accent="#2f6fe0",
    highlight="#e2ecfd",
    ink="#2357ad",
    paper="#f9fafc",
    positive="#2166ac",
    negative="#cf6f0c",
    neutral="#878c95",
    patterns=("#2f8a35", "#0b7f8c", "#a04f99", "#2357ad", "#8a6800", "#6b6f76"),
)
DARK = Palette(
    dark=True,
    background="#16181c",
    border="#363a42",
    text="#e8eaed",
    muted="#9ca3ae",
    accent="#6ea5fd",
    highlight="#25385c",
    ink="#75a8ff",
    paper="#1b1e22",
    positive="#5b9fe8",
    negative="#f0983a",
    neutral="#777d87",
    patterns=("#62bd68", "#4fc1cc", "#cf84c8", "#75a8ff", "#d6b545", "#a3a8b0"),
)

_FEW = (
    "#4e79a7", "#d9760f", "#59a14f", "#e15759", "#3e989d", "#b08b18", "#b07aa1", "#e8607a",
    "#9c755f", "#79706e", "#6d8bf0", "#329f7f",
)  # fmt: skip
_MORE_LIGHT = (
    "#002400", "#0c009c", "#6c0048", "#006000", "#9030c0", "#a81800", "#304860", "#3048d8",
    "#c00078", "#241848", "#c060f0", "#603000", "#542490", "#48000c", "#843c6c", "#607800",
    "#845400", "#186c60", "#e448b4", "#48549c",
)  # fmt: skip
_MORE_DARK = (
    "#c0f0f0", "#a8e400", "#fca8fc", "#fcc06c", "#00ccfc", "#9c48d8", "#00d89c", "#a8b4a8",
    "#cc78fc", "#cc309c", "#fc9c9c", "#006cf0", "#008400", "#a8b4fc", "#78fcb4", "#c0b400",
    "#fce424", "#60c000", "#fccccc", "#fc6ccc",
)  # fmt: skip
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
