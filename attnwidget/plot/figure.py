"""Figures of a widget's view for a publication: SVG, PDF or PNG."""

from __future__ import annotations

import io
import logging
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, Literal, get_args

import matplotlib
from matplotlib.figure import Figure as MatplotlibFigure
from PIL import Image

from .axes import PLAIN
from .coloring import layer_rows
from .colors import DARK, LIGHT, Palette
from .fonts import advice, fonts_for
from .head_plot import attention_title, draw_head, matrix_beside_lines
from .matrix_plot import draw_matrix
from .model_plot import draw_model
from .neuron_plot import draw_neuron
from .picture_plot import draw_picture, on_picture
from .shown import Shown
from .sizes import (
    head_and_matrix_size,
    head_size,
    matrix_size,
    model_size,
    neuron_size,
    picture_size,
)
from .text import clean

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
FigureQuality = Literal["preview", "print"]

_CSS_PIXELS_PER_INCH = 96
# Pixels of a PNG per CSS pixel.
_PIXEL_RATIO: dict[FigureQuality, float] = {"preview": 1, "print": 2.5}
_PREVIEW_COLORS = 160

_STYLE = {
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 10.5,
    "font.size": 9.5,
    # Images keep one pixel per cell: files stay small, and cells sharp at every size.
    "image.interpolation": "none",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "attnwidget",
}


@dataclass(frozen=True, repr=False)
class Figure:
    """A PNG of print quality that a notebook displays at its size in CSS pixels.

    Attributes:
        png: the file's bytes.
    """

    png: bytes

    @property
    def _size(self) -> tuple[int, int]:
        """Width and height in pixels, from the file's header."""
        width, height = struct.unpack_from(">II", self.png, 16)
        return width, height

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = (round(side / _PIXEL_RATIO["print"]) for side in self._size)
        return self.png, {"width": width, "height": height}

    def __repr__(self) -> str:
        width, height = self._size
        return f"<Figure of {width} x {height} pixels>"


def kind_of(path: str | PathLike[str]) -> FigureKind:
    """The kind of figure that belongs to a file name's suffix.

    Raises:
        ValueError: the suffix is that of no figure.
    """
    suffix = PurePath(fspath(path)).suffix.lower()
    for kind in KINDS:
        if suffix == f".{kind}":
            return kind
    suffixes = ", ".join(f".{kind}" for kind in KINDS)
    raise ValueError(f"a figure's name ends in one of {suffixes}, not in {suffix or 'nothing'!r}")


def figure_bytes(shown: Shown, kind: FigureKind, quality: FigureQuality = "print") -> bytes:
    """Draw the view and return the file's bytes.

    Args:
        kind: "svg" (text stays text), "pdf" (fonts embedded, as TrueType) or "png".
        quality: of a PNG: "preview" (one pixel per CSS pixel, 160 colours: small enough to be
            kept in a notebook) or "print" (2.5 pixels, all colours).

    Warns:
        UserWarning: no font has some characters, of which a PDF or a PNG to print shows boxes.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no figure {kind!r}; there are {', '.join(KINDS)}")
    model = shown.record.model
    axes = shown.token_axes
    fonts, missing = fonts_for(map(clean, (model, *axes.query.labels, *axes.key.labels)))
    if missing and kind != "svg" and quality == "print":
        # Of the caller of `save_figure` or `figure`.
        warnings.warn(advice(missing), stacklevel=4)
    # The context restores the session's settings, which have no effect within it.
    with matplotlib.rc_context(), _without_glyph_warnings():
        matplotlib.rcdefaults()
        style: dict[Any, Any] = {**_STYLE, **_theme(_palette(shown)), "font.family": fonts}
        matplotlib.rcParams.update(style)
        figure = draw_figure(shown)
        metadata: dict[str, Any] = {
            "Title": clean(f"Attention of {model}" if model else "Attention")
        }
        if kind == "svg":
            # The same figure is the same file.
            metadata["Date"] = None
        out = io.BytesIO()
        dpi = _CSS_PIXELS_PER_INCH * _PIXEL_RATIO[quality if kind == "png" else "print"]
        figure.savefig(out, format=kind, metadata=metadata, dpi=dpi)
    if kind == "png" and quality == "preview":
        return _in_few_colors(out)
    return out.getvalue()


def draw_figure(shown: Shown) -> MatplotlibFigure:
    """Draw the view as a matplotlib figure: the head view as lines and a matrix, or on an image."""
    if shown.view == "neuron":
        figure = _new_figure(shown, neuron_size(shown))
        draw_neuron(figure.subplots(), shown)
    elif shown.view == "head" and on_picture(shown):
        width, height = picture_size(shown)
        figure = _new_figure(shown, (2 * width, height))
        queries, keys = figure.subplots(1, 2)
        draw_picture(queries, shown, "query")
        draw_picture(keys, shown, "key")
    elif shown.view == "head":
        figure = _new_figure(shown, head_and_matrix_size(shown))
        _draw_head_and_matrix(figure, shown)
    elif shown.opened and _includes_current_head(shown):
        width, height = model_size(shown)
        opened = replace(shown, heads=[shown.head], combine="none", orientation="vertical")
        opened_width, opened_height = head_and_matrix_size(opened)
        figure = _new_figure(shown, (max(width, opened_width), height + opened_height))
        subfigures: Any = figure.subfigures(2, 1, height_ratios=[height, opened_height])
        draw_model(subfigures[0].subplots(), shown, marked=True)
        _draw_head_and_matrix(subfigures[1], opened)
    else:
        figure = _new_figure(shown, model_size(shown))
        axes = figure.subplots()
        axes.set_anchor("NW")
        draw_model(axes, shown, marked=True)
    return figure


def _new_figure(shown: Shown, size: tuple[float, float]) -> MatplotlibFigure:
    """An empty figure, signed with the model's name."""
    figure = MatplotlibFigure(size, layout="constrained")
    if shown.record.model:
        figure.supxlabel(
            clean(shown.record.model),
            x=0.01,
            ha="left",
            fontsize="x-small",
            color=_palette(shown).muted,
            **PLAIN,
        )
    return figure


def _draw_head_and_matrix(figure: Any, shown: Shown) -> None:
    """Draw lines and matrix side by side, or below each other where tokens are horizontal."""
    sizes = [head_size(shown), matrix_size(shown)]
    if shown.horizontal:
        axes = figure.subplots(2, 1, height_ratios=[height for _, height in sizes])
    else:
        axes = figure.subplots(1, 2, width_ratios=[width for width, _ in sizes])
    lines, matrix_axes = axes
    matrix = matrix_beside_lines(shown)
    draw_head(lines, shown)
    draw_matrix(matrix_axes, shown, matrix, attention_title(shown, matrix.name))
    matrix_axes.set_anchor("NW")


def _includes_current_head(shown: Shown) -> bool:
    return any(
        row.layer is shown.current_layer and shown.head in row.heads for row in layer_rows(shown)
    )


def _palette(shown: Shown) -> Palette:
    return DARK if shown.theme == "dark" else LIGHT


def _theme(palette: Palette) -> dict[str, str]:
    """matplotlib's settings of the colours."""
    backgrounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    texts = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(backgrounds, palette.background),
        **dict.fromkeys(texts, palette.text),
        "axes.edgecolor": palette.border,
    }


def _in_few_colors(png: io.BytesIO) -> bytes:
    """The PNG with a palette: a quarter of the bytes."""
    out = io.BytesIO()
    with Image.open(png) as image:
        reduced = image.convert("RGB").quantize(_PREVIEW_COLORS, dither=Image.Dither.NONE)
        reduced.save(out, "png", dpi=(_CSS_PIXELS_PER_INCH, _CSS_PIXELS_PER_INCH))
    return out.getvalue()


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Do not warn of characters that no font of this machine has: they are drawn as boxes."""
    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            yield
    finally:
        fonts.setLevel(level)
