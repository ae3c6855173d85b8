"""Colours, light and dark: those of `js/src/styles/theme.ts`, `head-colors.ts` and `ramp.ts`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    dark: bool
    background: str
    panel: str
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
    panel="#f4f6f9",
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
    panel="#1e2126",
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
    *("#4e79a7", "#d9760f", "#59a14f", "#e15759", "#3e989d", "#b08b18"),
    *("#b07aa1", "#e8607a", "#9c755f", "#79706e", "#6d8bf0", "#329f7f"),
)
_MORE_LIGHT = (
    *("#002400", "#0c009c", "#6c0048", "#006000", "#9030c0", "#a81800", "#304860"),
    *("#3048d8", "#c00078", "#241848", "#c060f0", "#603000", "#542490", "#48000c"),
    *("#843c6c", "#607800", "#845400", "#186c60", "#e448b4", "#48549c"),
)
_MORE_DARK = (
    *("#c0f0f0", "#a8e400", "#fca8fc", "#fcc06c", "#00ccfc", "#9c48d8", "#00d89c"),
    *("#a8b4a8", "#cc78fc", "#cc309c", "#fc9c9c", "#006cf0", "#008400", "#a8b4fc"),
    *("#78fcb4", "#c0b400", "#fce424", "#60c000", "#fccccc", "#fc6ccc"),
)
_FAMILY_RANGE = 0.45

_GOLDEN_ANGLE = 137.508
_LAYER_LIGHT = (0.5, 0.6, 0.4, 0.55)
_LAYER_DARK = (0.72, 0.85, 0.64, 0.79)


def rgb(color: str) -> RGB:
    value = int(color[1:], 16)
    return value >> 16, (value >> 8) & 255, value & 255


def mixed(below: str, above: str, share: float) -> str:
    """The first colour with so much of the second."""
    pairs = zip(rgb(below), rgb(above), strict=True)
    return "#" + "".join(f"{_byte(a + (b - a) * share):02x}" for a, b in pairs)


def _byte(value: float) -> int:
    return math.floor(value + 0.5)


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
    """Black or white, whichever reads better on this colour."""

    def linear(part: int) -> float:
        return part / 3294.6 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4

    r, g, b = map(linear, rgb(color))
    return "#000000" if 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 else "#ffffff"


def ramp(share: float, dark: bool) -> str:
    """From the lowest (0) to the highest (1): blue over violet to warm."""
    t = min(max(share, 0), 1)
    ends = (0.6, 0.93, 0.14, 0.09, 250, 440) if dark else (0.63, 0.33, 0.11, 0.14, 220, 380)
    return _oklch(*(a + t * (b - a) for a, b in zip(ends[::2], ends[1::2], strict=True)))


def diverging_ramp(share: float, palette: Palette) -> str:
    """From the most negative (0) over grey (0.5) to the most positive (1)."""
    end = palette.negative if share < 0.5 else palette.positive
    return mixed(palette.neutral, end, min(1, abs(2 * share - 1)))


def layer_color(index: int, dark: bool) -> str:
    shades = _LAYER_DARK if dark else _LAYER_LIGHT
    return _oklch(shades[index % len(shades)], 0.13, 255 + index * _GOLDEN_ANGLE)


def _oklch(lightness: float, chroma: float, degrees: float) -> str:
    hue = math.radians(degrees)
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    l_ = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    linear = (
        4.0767416621 * l_ - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l_ + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l_ - 0.7034186147 * m + 1.707614701 * s,
    )
    return "#" + "".join(f"{_byte(255 * min(max(_encoded(c), 0), 1)):02x}" for c in linear)


def _encoded(c: float) -> float:
    return 12.92 * c if c <= 0.0031308 else float(1.055 * c ** (1 / 2.4) - 0.055)
