"""Figures of a widget's view for a publication: SVG, PDF or PNG."""

from __future__ import annotations

import io
import logging
import math
import struct
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, Literal, get_args

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import FixedLocator
from PIL import Image

from .coloring import layer_rows
from .colors import DARK, LIGHT, Palette
from .fonts import advice, fonts_for
from .head_plot import attention_title, draw_head, matrix_beside_lines
from .map_plot import draw_map
from .matrix_plot import draw_matrix
from .model_plot import draw_model
from .neuron_plot import draw_neuron
from .picture_plot import draw_picture, on_picture
from .ranking_plot import draw_ranking
from .shown import Shown
from .sizes import (
    Size,
    head_size,
    map_size,
    matrix_size,
    model_size,
    neuron_size,
    picture_size,
    ranking_size,
)
from .text import PLAIN, clean, weight
from .tick_labels import settle, with_few_ticks

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
Panel = Literal["head", "matrix", "model", "neuron", "map"]

_CSS_PIXELS_PER_INCH = 96
PRINT_DPI = 240.0
# The largest picture, as matplotlib and most memories allow.
_LONGEST_SIDE = 2**16 - 1
_MOST_PIXELS = 2**28

# The room of the matrix's scale in inches, and its ticks as shares of the largest weight.
_SCALE = 0.6
_TICKS = (0, 0.1, 0.25, 0.5, 1)

_SETTINGS = {
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
    """A PNG that a notebook displays at its size in inches.

    Attributes:
        png: the file's bytes.
        dpi: its pixels per inch.
    """

    png: bytes
    dpi: float

    @property
    def _size(self) -> tuple[int, int]:
        """Width and height in pixels, from the file's header."""
        width, height = struct.unpack_from(">II", self.png, 16)
        return width, height

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = (round(side * _CSS_PIXELS_PER_INCH / self.dpi) for side in self._size)
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


def figure_bytes(
    shown: Shown,
    kind: FigureKind,
    *,
    panel: Panel | None = None,
    size: Size | None = None,
    dpi: float | None = None,
) -> bytes:
    """Draw the view, or a panel of it, and return the file's bytes.

    Args:
        kind: "svg" (text stays text), "pdf" (fonts embedded, as TrueType) or "png".
        panel, size, dpi: as in `AttentionWidget.figure`.

    Warns:
        UserWarning: no font has some characters, of which a PDF or a PNG shows boxes.

    Raises:
        TypeError, ValueError: there is no such kind, panel, size or resolution.
    """
    if kind not in KINDS:
        raise ValueError(f"no figure {kind!r}; there are {', '.join(KINDS)}")
    if size is not None:
        size = _checked_size(size)
    dpi = PRINT_DPI if dpi is None else _checked_dpi(dpi)
    model = shown.record.model
    fonts, missing = _fonts(shown)
    if missing and kind != "svg":
        # The frame of the caller of `save_figure` or `figure`.
        warnings.warn(advice(missing), stacklevel=4)
    with _style(shown, fonts):
        figure = draw_figure(shown, panel, size)
        if kind == "png":
            _check_pixels(figure, dpi)
        metadata: dict[str, Any] = {
            "Title": clean(f"Attention of {model}" if model else "Attention")
        }
        if kind == "svg":
            # The same figure is the same file.
            metadata["Date"] = None
        out = io.BytesIO()
        with _fitting_only(size):
            figure.savefig(out, format=kind, metadata=metadata, dpi=dpi)
    return out.getvalue()


def preview_bytes(shown: Shown) -> bytes:
    """Draw the view as a PNG that is small enough to be kept in a notebook: 96 dpi, 256 colours.

    It is drawn once; `savefig` draws twice.
    """
    fonts, _ = _fonts(shown)
    with _style(shown, fonts):
        with with_few_ticks():
            figure = draw_figure(shown)
        figure.set_dpi(_CSS_PIXELS_PER_INCH)
        canvas: Any = FigureCanvasAgg(figure)
        settle(figure, canvas.get_renderer())
        _lay_out_by_largest_labels(figure, canvas.get_renderer())
        canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    # The other methods merge the colours of heads where these are rare, or take much longer.
    reduced = image.quantize(method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    _keep_background(image, reduced)
    out = io.BytesIO()
    reduced.save(out, "png", dpi=(_CSS_PIXELS_PER_INCH, _CSS_PIXELS_PER_INCH))
    return out.getvalue()


def _lay_out_by_largest_labels(figure: MatplotlibFigure, renderer: Any) -> None:
    """Leave the tick labels that need no room of their own out of the layout.

    matplotlib measures every label in it a dozen times for one drawing. The first, last, widest
    and tallest of an axis need the same room as all, since labels do not overlap.
    """
    for axis in figure.findobj(Axis):
        labels = axis.get_ticklabels()
        # Ticks that matplotlib chooses itself change during the layout.
        if labels and isinstance(axis.get_major_locator(), FixedLocator):
            sizes = np.array([label.get_window_extent(renderer).size for label in labels])
            limits = {0, len(labels) - 1, *sizes.argmax(axis=0)}
            for index, label in enumerate(labels):
                label.set_in_layout(index in limits)


def _keep_background(image: Image.Image, reduced: Image.Image) -> None:
    """Set the palette's entry of the first pixel to the colour that it has in the image."""
    palette = np.reshape(np.asarray(reduced.getpalette(), np.uint8), (-1, 3))
    palette[np.asarray(reduced)[0, 0]] = np.asarray(image)[0, 0]
    reduced.putpalette(palette.tobytes())


def _fonts(shown: Shown) -> tuple[list[str], str]:
    """The fonts for a figure's text, and the characters that no font has."""
    axes = shown.token_axes
    return fonts_for(map(clean, (shown.record.model, *axes.query.labels, *axes.key.labels)))


@contextmanager
def _style(shown: Shown, fonts: list[str]) -> Iterator[None]:
    """Draw with our settings of matplotlib in place of the session's, which are restored."""
    with matplotlib.rc_context(), _without_glyph_warnings():
        matplotlib.rcdefaults()
        style: dict[Any, Any] = {**_SETTINGS, **_theme(_palette(shown)), "font.family": fonts}
        matplotlib.rcParams.update(style)
        yield


def draw_figure(
    shown: Shown, panel: Panel | None = None, size: Size | None = None
) -> MatplotlibFigure:
    """Draw the view, or a panel of it, as a matplotlib figure.

    Args:
        size: in inches; fitting the tokens if None.

    Raises:
        ValueError: the view has no such panel.
    """
    shown.check_difference(panel)
    panels = _panels(shown)
    if panel is not None and panel not in panels:
        raise ValueError(_no_panel(shown, panel, panels))
    lines = shown
    if shown.view == "model":
        # A rollout is of no single head.
        lens: str = "attention" if shown.lens == "rollout" else shown.lens
        lines = replace(
            shown, heads=[shown.head], combine="none", lens=lens, orientation="vertical"
        )
    drawn = panels if panel is None else (panel,)
    if shown.view == "head" and panel != "matrix" and on_picture(shown):
        width, height = picture_size(shown)
        figure = _new_figure(shown, size or (2 * width, height))
        queries, keys = figure.subplots(1, 2)
        draw_picture(queries, shown, "query")
        draw_picture(keys, shown, "key")
    elif drawn == ("neuron",):
        figure = _new_figure(shown, size or neuron_size(shown))
        draw_neuron(figure.subplots(), shown)
    elif drawn == ("map",):
        figure = _new_figure(shown, size or map_size())
        draw_map(figure.subplots(), shown, marked=True)
    elif drawn == ("head", "matrix"):
        figure = _new_figure(shown, size or _head_and_matrix_size(shown))
        _draw_head_and_matrix(figure, shown)
    elif drawn == ("head",):
        figure = _new_figure(shown, size or head_size(lines))
        draw_head(figure.subplots(), lines)
    elif drawn == ("matrix",):
        figure = _new_figure(shown, size or _scaled_matrix_size(lines))
        _draw_matrix(figure.subplots(), lines)
    elif drawn == ("model",) and shown.ranking:
        figure = _new_figure(shown, size or ranking_size(shown))
        draw_ranking(figure.subplots(), shown)
    elif drawn == ("model",):
        figure = _new_figure(shown, size or model_size(shown))
        axes = figure.subplots()
        axes.set_anchor("NW")
        draw_model(axes, shown, marked=True)
    else:
        width, height = model_size(shown)
        opened_width, opened_height = _head_and_matrix_size(lines)
        whole = max(width, opened_width), height + opened_height
        figure = _new_figure(shown, size or whole)
        subfigures: Any = figure.subfigures(2, 1, height_ratios=[height, opened_height])
        draw_model(subfigures[0].subplots(), shown, marked=True)
        _draw_head_and_matrix(subfigures[1], lines)
    return figure


def _panels(shown: Shown) -> tuple[Panel, ...]:
    """The panels of the view."""
    if shown.view == "neuron":
        return ("neuron",)
    if shown.view == "map":
        return ("map",)
    if shown.view == "head":
        return ("head", "matrix")
    opened = shown.opened and not shown.ranking and _includes_current_head(shown)
    return ("model", "head", "matrix") if opened else ("model",)


def _no_panel(shown: Shown, panel: str, panels: Sequence[Panel]) -> str:
    """The message for a panel that the view does not have."""
    has = " and ".join(map(repr, panels))
    message = f"the {shown.view} view has no panel {panel!r}; it has {has}"
    if shown.view == "model" and panel in ("head", "matrix"):
        return f"{message}, and 'head' and 'matrix' with an opened head (opened = True)"
    if panel in get_args(Panel):
        view = "head" if panel == "matrix" else panel
        return f"{message} (choose view = {view!r} first)"
    return message


def _checked_size(size: Any) -> Size:
    try:
        width, height = (float(side) for side in size)
    except (TypeError, ValueError):
        raise TypeError(
            f"size is {size!r}; expected width and height in inches, as (6, 4)"
        ) from None
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise ValueError(f"size is {size!r}; expected two numbers of inches above 0, as (6, 4)")
    return width, height


def _checked_dpi(dpi: Any) -> float:
    if isinstance(dpi, bool) or not isinstance(dpi, (int, float, np.number)):
        raise TypeError(f"dpi is {dpi!r}; expected pixels per inch, as 300")
    if not 0 < dpi < math.inf:
        raise ValueError(f"dpi is {dpi!r}; expected pixels per inch above 0, as 300")
    return float(dpi)


def _check_pixels(figure: MatplotlibFigure, dpi: float) -> None:
    width, height = (float(side) * dpi for side in figure.get_size_inches())
    if max(width, height) > _LONGEST_SIDE or width * height > _MOST_PIXELS:
        raise ValueError(
            f"a figure of {width:,.0f} x {height:,.0f} pixels is too large for a PNG; ask for "
            "fewer dpi or a smaller size, or save an .svg or .pdf"
        )
    if min(width, height) < 1:
        raise ValueError(
            f"a figure of {width:.2g} x {height:.2g} pixels is too small; ask for more dpi"
        )


@contextmanager
def _fitting_only(size: Size | None) -> Iterator[None]:
    """Raise a ValueError if labels and titles leave no room within a size that was asked for."""
    if size is None:
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            yield
        except UserWarning:
            width, height = size
            raise ValueError(
                f"{width:g} x {height:g} inches have no room for the labels; ask for a larger size"
            ) from None


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


def _scaled_matrix_size(shown: Shown) -> Size:
    """The size of a matrix and its scale."""
    width, height = matrix_size(shown)
    return width + _SCALE, height


def _head_and_matrix_size(shown: Shown) -> Size:
    """The size of lines with the matrix beside them, or below where they are horizontal."""
    (width, height), (matrix_width, matrix_height) = head_size(shown), _scaled_matrix_size(shown)
    if shown.horizontal:
        return max(width, matrix_width), height + matrix_height
    return width + matrix_width, max(height, matrix_height)


def _draw_head_and_matrix(figure: Any, shown: Shown) -> None:
    """Draw lines and matrix side by side, or below each other where tokens are horizontal."""
    sizes = [head_size(shown), _scaled_matrix_size(shown)]
    if shown.horizontal:
        axes = figure.subplots(2, 1, height_ratios=[height for _, height in sizes])
    else:
        axes = figure.subplots(1, 2, width_ratios=[width for width, _ in sizes])
    draw_head(axes[0], shown)
    _draw_matrix(axes[1], shown)


def _draw_matrix(axes: Axes, shown: Shown) -> None:
    """Draw the matrix with the scale of its shades at the right."""
    matrix = matrix_beside_lines(shown)
    draw_matrix(axes, shown, matrix, attention_title(shown, matrix.name))
    axes.set_anchor("NW")
    [image] = axes.images
    # Beside the matrix itself, which may be narrower than the room of its Axes.
    scale = axes.figure.colorbar(image, cax=axes.inset_axes((1.04, 0, 0.04, 1)))
    norm: Any = image.norm
    ticks = [share * float(norm.vmax) for share in _TICKS]
    if matrix.signed:
        digits = {"score": 1, "score difference": 2}.get(matrix.measure, 3)
        ticks = sorted({-tick for tick in ticks} | set(ticks))
        scale.set_ticks(ticks, labels=[f"{tick:+.{digits}f}" if tick else "0" for tick in ticks])
    else:
        scale.set_ticks(ticks, labels=[weight(tick) for tick in ticks])
    scale.set_label(matrix.measure, color=_palette(shown).muted)
    scale.outline.set_edgecolor(_palette(shown).border)
    scale.ax.tick_params(length=2, labelsize="x-small", labelcolor=_palette(shown).muted)


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
