"""Figures of what a widget shows, as SVG, PDF or PNG: `shown.py` has its choices."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, Literal, get_args
from xml.sax.saxutils import escape

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from attnwidget.arguments import real

from .axes import PLAIN, Size, font_points, grown
from .colors import DARK
from .fonts import fonts_for
from .grid_plot import grid, grid_size
from .head_plot import draw_head, head_size
from .image_plot import draw_image
from .map_plot import map as draw_map
from .map_plot import map_size
from .matrix_plot import draw_matrix, matrix_size
from .model_plot import model, model_size
from .neuron_plot import draw_neuron, neuron_size
from .notes import clean
from .ranking_plot import ranking, ranking_size
from .shown import Shown
from .text_plot import draw_text, text_size

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
PanelName = Literal["head", "matrix", "model", "neuron", "map", "text", "grid"]
_NAMES: tuple[PanelName, ...] = get_args(PanelName)

PRINT_DPI = 240.0
# The largest picture, as matplotlib and most memories allow.
_LONGEST_SIDE, _MOST_PIXELS = 2**16 - 1, 2**28

# Text stays text, fonts are embedded as TrueType, and the same figure is the same file.
_SETTINGS = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "attnwidget"}


def _panel(name: PanelName, shown: Shown) -> tuple[Size, Callable[..., object]]:
    """The size of a part of a view in inches; what draws it into `ax`, with a `caption` or not."""
    if name == "matrix":
        return matrix_size(shown.attention), partial(draw_matrix, attention=shown.attention)
    if name == "neuron":
        return neuron_size(shown.attention), partial(draw_neuron, attention=shown.attention)
    if name == "grid":
        return grid_size(shown.shown_grid), partial(grid, shown.shown_grid)
    if name == "map":
        return map_size(), partial(draw_map, shown.heads, color=shown.color, **shown.places)
    if name == "text":
        if shown.prose is None:
            raise ValueError("the text view has no answer: it is drawn in the browser alone")
        return text_size(shown.prose), partial(draw_text, prose=shown.prose)
    if name == "head":
        if shown.shows_image:
            return grown(0), partial(draw_image, attention=shown.attention)
        lines = partial(draw_head, attention=shown.attention, arcs=shown.stack_arcs)
        return head_size(shown.attention), lines
    if shown.choices["ranking"]:
        # Without an order, heads are ranked by their colour, or by the first metric.
        names = [shown.choices["sort"], shown.color, *shown.heads.metrics]
        by = next(name for name in names if name in shown.heads.metrics)
        return ranking_size(shown.heads), partial(ranking, shown.heads, by, color=shown.color)
    style = {"color": shown.color, "segments": shown.choices["segments"], **shown.included}
    rows = shown.heads.order(**shown.included)
    return model_size(rows), partial(model, shown.heads, lens=shown.lens_by_head, **style)


def _panels(shown: Shown) -> list[PanelName]:
    """The panels of the view."""
    if shown.view == "head":
        return ["head", "matrix"]
    if shown.view == "model" and shown.choices["opened"] and not shown.choices["ranking"]:
        return ["model", "head", "matrix"]
    return [name for name in _NAMES if name == shown.view]


def kind_of(path: str | PathLike[str]) -> FigureKind:
    """The kind of figure that belongs to a file name's suffix.

    Raises:
        ValueError: the suffix is that of no figure.
    """
    suffix = PurePath(fspath(path)).suffix.lower()
    kinds = {f".{kind}": kind for kind in KINDS}
    if suffix not in kinds:
        ends = ", ".join(kinds)
        raise ValueError(f"a figure's name ends in one of {ends}, not in {suffix or 'nothing'!r}")
    return kinds[suffix]


def figure_bytes(
    shown: Shown,
    kind: FigureKind,
    *,
    panel: PanelName | None = None,
    size: Size | None = None,
    dpi: float | None = None,
    caption: bool = True,
    description: str = "",
) -> bytes:
    """Draw the view, or a panel of it, and return the file's bytes.

    Args:
        kind: "svg" (text stays text), "pdf" (fonts embedded, as TrueType) or "png".
        panel, size, dpi, caption: as in `AttentionWidget.figure`.
        description: what it shows in words, for those who do not see it.

    Raises:
        TypeError, ValueError: there is no such panel, size or resolution, or no such difference.
    """
    if size is not None:
        size = _checked_size(size)
    dpi = real("pixels per inch above 0, as 300", above=True, none=True)("dpi", dpi) or PRINT_DPI
    title = clean(f"Attention of {shown.record.model}" if shown.record.model else "Attention")
    said = clean(description)
    metadata: dict[str, Any] = {"Title": title} | ({"Date": None} if kind == "svg" else {})
    metadata |= {"Subject" if kind == "pdf" else "Description": said} if said else {}
    with _style(shown):
        figure = draw_figure(shown, panel, size, caption=caption)
        width, height = (float(side) * dpi for side in figure.get_size_inches())
        if kind == "png" and (max(width, height) > _LONGEST_SIDE or width * height > _MOST_PIXELS):
            raise ValueError(
                f"a figure of {width:,.0f} x {height:,.0f} pixels is too large for a PNG; ask for "
                "fewer dpi or a smaller size, or save an .svg or .pdf"
            )
        out = io.BytesIO()
        with warnings.catch_warnings():
            if kind == "svg":
                # Text stays text: a reader has the font that this machine lacks.
                warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            figure.savefig(out, format=kind, metadata=metadata, dpi=dpi)
    drawn = out.getvalue()
    if kind == "svg" and said:
        # Screen readers read this element, not the metadata.
        drawn = drawn.replace(b"</title>", f"</title>\n <desc>{escape(said)}</desc>".encode(), 1)
    return drawn


def draw_figure(
    shown: Shown,
    panel: PanelName | None = None,
    size: Size | None = None,
    *,
    caption: bool = True,
) -> Figure:
    """Draw the view's panels side by side, or one of them, with the model's name below.

    Args:
        size: in inches; fitting the tokens if None.
        caption: False to leave out small print, and the model's name.

    Raises:
        ValueError: the view has no such panel, or no such difference.
    """
    names = _panels(shown)
    if panel is not None and panel not in names:
        raise ValueError(_no_panel(shown.view, panel, names))
    drawn = names if panel is None else [panel]
    shown.check_difference(*drawn)
    sizes, draws = zip(*(_panel(name, shown) for name in drawn), strict=True)
    widths, heights = zip(*sizes, strict=True)
    figure = Figure(size or (sum(widths), max(heights)), layout="constrained")
    if caption and shown.record.model:
        style: dict[str, Any] = {"fontsize": font_points("font.size", 0.7), "alpha": 0.7, **PLAIN}
        figure.supxlabel(clean(shown.record.model), x=0.01, ha="left", **style)
    axes = figure.subplots(1, len(drawn), width_ratios=widths, squeeze=False)
    for ax, draw in zip(axes[0], draws, strict=True):
        draw(ax=ax, caption=caption)
    return figure


def _no_panel(view: str, panel: str, panels: Sequence[str]) -> str:
    """The message for a panel that the view does not have."""
    message = f"the {view} view has no panel {panel!r}; it has {' and '.join(map(repr, panels))}"
    if view == "model" and panel in ("head", "matrix"):
        return f"{message}, and 'head' and 'matrix' with an opened head (opened = True)"
    if panel in _NAMES:
        return f"{message} (choose view = {'head' if panel == 'matrix' else panel!r} first)"
    return message


def _checked_size(size: Any) -> Size:
    try:
        width, height = (float(side) for side in size)
    except (TypeError, ValueError):
        raise TypeError(
            f"size is {size!r}; expected width and height in inches, as (6, 4)"
        ) from None
    if not (0 < width < np.inf and 0 < height < np.inf):
        raise ValueError(f"size is {size!r}; expected two numbers of inches above 0, as (6, 4)")
    return width, height


@contextmanager
def _style(shown: Shown) -> Iterator[None]:
    """Draw with the session's settings, the widget's theme, and fonts for all characters."""
    stack = shown.record.stack(shown.stack)
    labels = *stack.queries.labels, *stack.keys.labels, shown.record.model
    style: dict[Any, Any] = {
        **_SETTINGS,
        "font.family": fonts_for(map(clean, labels)),
    }
    if shown.choices["theme"] == "dark":
        backgrounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
        inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
        style |= dict.fromkeys(backgrounds, DARK.background) | dict.fromkeys(inks, DARK.text)
    with matplotlib.rc_context(style):
        yield
