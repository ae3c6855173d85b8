"""What a widget shows as a figure for a publication: SVG, PDF or PNG."""

from __future__ import annotations

import io
import logging
import struct
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from . import needs_matplotlib
from .colors import DARK, LIGHT, Palette, head_colors, rgb
from .shown import Shown
from .text import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
FigureQuality = Literal["preview", "print"]

# CSS pixels to an inch, and pixels of a PNG per CSS pixel.
_PER_INCH = 96
SHARPNESS: dict[FigureQuality, float] = {"preview": 1, "print": 2.5}
# Of a preview: those that mean something, those of many pixels, and some more.
_COLORS = 160
_FLAT = 112

_FONTS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")
_LOOK = {
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 10.5,
    "font.size": 9.5,
    # Pictures stay small, and their cells sharp at every size.
    "image.interpolation": "none",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "attnwidget",
}

# Pixels of its width and height, 32 bits each, follow the names of file and chunk.
_SIZE = slice(16, 24)


@dataclass(frozen=True, repr=False)
class Figure:
    """A picture of print quality that a notebook displays, at the size that it has in CSS pixels.

    Attributes:
        png: the file.
    """

    png: bytes

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = struct.unpack(">II", self.png[_SIZE])
        sizes = {"width": width, "height": height}
        return self.png, {name: round(n / SHARPNESS["print"]) for name, n in sizes.items()}

    def __repr__(self) -> str:
        width, height = struct.unpack(">II", self.png[_SIZE])
        return f"<Figure of {width} x {height} pixels>"


def kind_of(path: str | PathLike[str]) -> FigureKind:
    """The kind of figure that a file of this name holds.

    Raises:
        ValueError: no figure ends so.
    """
    suffix = PurePath(fspath(path)).suffix.lower()
    for kind in KINDS:
        if suffix == f".{kind}":
            return kind
    there = ", ".join(f".{kind}" for kind in KINDS)
    raise ValueError(f"a figure's name ends in one of {there}, and not in {suffix or 'nothing'!r}")


def figure_bytes(shown: Shown, kind: FigureKind, quality: FigureQuality = "print") -> bytes:
    """The view as a file.

    Args:
        kind: "svg" (text stays text), "pdf" (fonts embedded, as TrueType) or "png".
        quality: of a PNG: "preview" (one pixel per CSS pixel, 160 colours: small enough to be
            kept in a notebook) or "print" (2.5 pixels, all colours).

    Raises:
        ValueError: there is no such kind.
        ImportError: matplotlib is not installed.
    """
    if kind not in KINDS:
        raise ValueError(f"no figure {kind!r}; there are {', '.join(KINDS)}")
    needs_matplotlib()
    import matplotlib

    model = shown.record.model
    # A context of its own: what the reader's session has set stays, and has no effect here.
    with matplotlib.rc_context(), _quiet():
        matplotlib.rcdefaults()
        palette = DARK if shown.theme == "dark" else LIGHT
        look: dict[Any, Any] = {**_LOOK, **_colors(palette), "font.family": _fonts()}
        matplotlib.rcParams.update(look)
        figure = picture(shown)
        out = io.BytesIO()
        if kind == "png":
            return _png(figure, shown, palette, quality)
        metadata: dict[str, str | None] = {
            "Title": clean(f"Attention of {model}" if model else "Attention")
        }
        if kind == "svg":
            # The same figure is the same file.
            metadata["Date"] = None
        figure.savefig(out, format=kind, metadata=metadata, dpi=_PER_INCH * SHARPNESS["print"])
        return out.getvalue()


def picture(shown: Shown) -> Picture:
    """A matplotlib figure of the view: of the head view, lines and a matrix."""
    from matplotlib.figure import Figure

    from .axes import PLAIN
    from .head_plot import draw_head, pictured_matrix, titled
    from .matrix_plot import draw_matrix
    from .model_plot import draw_model
    from .neuron_plot import draw_neuron
    from .sizes import (
        head_and_matrix_size,
        head_size,
        matrix_size,
        model_size,
        neuron_size,
    )

    def head_and_matrix(place: Any, shown: Shown) -> None:
        sizes = [head_size(shown), matrix_size(shown)]
        if shown.horizontal:
            ratios = {"height_ratios": [height for _, height in sizes]}
            first, second = place.subplots(2, 1, **ratios)
        else:
            first, second = place.subplots(1, 2, width_ratios=[width for width, _ in sizes])
        matrix = pictured_matrix(shown)
        draw_head(first, shown)
        draw_matrix(second, shown, matrix, titled(shown, matrix.name))
        second.set_anchor("NW")

    muted = (DARK if shown.theme == "dark" else LIGHT).muted

    def new(size: tuple[float, float]) -> Picture:
        figure = Figure(size, layout="constrained")
        if shown.record.model:
            look = {"fontsize": "x-small", "ha": "left", "x": 0.01, "color": muted, **PLAIN}
            figure.supxlabel(clean(shown.record.model), **look)
        return figure

    if shown.view == "neuron":
        figure = new(neuron_size(shown))
        draw_neuron(figure.subplots(), shown)
    elif shown.view == "model":
        width, height = model_size(shown)
        opened = replace(shown, heads=[shown.head], combine="none", orientation="vertical")
        if shown.opened and _is_included(shown):
            across, down = head_and_matrix_size(opened)
            figure = new((max(width, across), height + down))
            parts: Any = figure.subfigures(2, 1, height_ratios=[height, down])
            draw_model(parts[0].subplots(), shown, marked=True)
            head_and_matrix(parts[1], opened)
        else:
            figure = new((width, height))
            axes = figure.subplots()
            axes.set_anchor("NW")
            draw_model(axes, shown, marked=True)
    else:
        figure = new(head_and_matrix_size(shown))
        head_and_matrix(figure, shown)
    return figure


def _is_included(shown: Shown) -> bool:
    """Whether the current head is among those of the model view."""
    from .coloring import layer_rows

    return any(
        row.layer is shown.current_layer and shown.head in row.heads for row in layer_rows(shown)
    )


def _colors(palette: Palette) -> dict[str, str]:
    """matplotlib's settings for this theme."""
    grounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    inks = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(grounds, palette.background),
        **dict.fromkeys(inks, palette.text),
        "axes.edgecolor": palette.border,
    }


def _png(figure: Picture, shown: Shown, palette: Palette, quality: FigureQuality) -> bytes:
    """In few colours, among them those that mean something, or in all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    dpi = _PER_INCH * SHARPNESS[quality]
    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    rgba = Image.frombuffer("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
    image = rgba.convert("RGB")
    if quality == "preview":
        own = [color for color in vars(palette).values() if isinstance(color, str)]
        heads = head_colors(shown.current_layer.num_heads, palette.dark)
        image = _in_few_colors(image, [rgb(color) for color in (*own, *heads[: _FLAT // 2])])
    out = io.BytesIO()
    image.save(out, "png", dpi=(dpi, dpi))
    return out.getvalue()


def _in_few_colors(image: Any, own: Sequence[tuple[int, int, int]]) -> Any:
    """Every pixel in the nearest of a few colours: a quarter of the bytes."""
    from PIL import Image

    shifts = np.array([16, 8, 0])
    pixels = (np.asarray(image).astype(np.int32) << shifts).sum(axis=2)
    packed, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    colors = packed[:, None] >> shifts & 255
    flat = np.concatenate([own, colors[np.argsort(-counts, kind="stable")]])[:_FLAT]
    others = image.quantize(_COLORS - len(flat), method=Image.Quantize.MEDIANCUT).getpalette()
    table = np.concatenate([flat, np.array(others, np.int64).reshape(-1, 3)])[:_COLORS]
    # The nearest has the largest product, less half of its own square.
    products = colors @ table.T.astype(np.float64) - (table**2).sum(axis=1) / 2
    nearest = products.argmax(axis=1).astype(np.uint8)[places].reshape(pixels.shape)
    reduced = Image.fromarray(nearest)
    reduced.putpalette(table.astype(np.uint8).tobytes())
    return reduced


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of signs that no font of this machine has: they are drawn as boxes."""
    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            yield
    finally:
        fonts.setLevel(level)


@cache
def _fonts() -> list[str]:
    """Those of this machine, so that matplotlib does not complain of the others."""
    from matplotlib import font_manager

    known = {entry.name for entry in font_manager.fontManager.ttflist}
    wide = sorted(name for name in known if name.startswith(("Noto Sans", "Droid Sans Fallback")))
    return [name for name in (*_FONTS, *wide) if name in known]
