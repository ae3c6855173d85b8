"""Figures of what a widget shows: SVG, PDF or PNG, drawn by the plots.

Figures have the choices that matter on paper: stack, layer, head, heads, lens, locked tokens,
segments, words, combined heads, arcs, the record or the difference of a comparison; metrics, order,
colours and included heads; the theme. They leave out those about the screen, or for a moment:
orientation, line thumbnails, muted and sorted neurons, folded columns, what is switched off.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, get_args

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from attnwidget.analysis import ATTENTION, Lens
from attnwidget.arguments import real
from attnwidget.view_state import NO_SIZE, PAIR, SIMILARITY, ShownRecord
from attnwidget.wire import SentArc, SentMetric, partner_stacks

from .attention import Attention, SideName
from .axes import PLAIN, Size, clean, grown
from .colors import DARK
from .fonts import fonts_for
from .head_plot import draw_head, head_size
from .heads import Heads
from .image_plot import draw_image, on_image
from .map_plot import map as draw_map
from .map_plot import map_size
from .matrix_plot import draw_matrix, matrix_size
from .model_plot import model, model_size
from .neuron_plot import draw_neuron, neuron_size
from .ranking_plot import ranking, ranking_size

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
PanelName = Literal["head", "matrix", "model", "neuron", "map"]

PRINT_DPI = 240.0
# The picture beside a widget, in inches: small, with few labels, since each display draws it.
_PREVIEW, _PREVIEW_DPI = (5.6, 4.2), 96.0
# The largest picture, as matplotlib and most memories allow.
_LONGEST_SIDE, _MOST_PIXELS = 2**16 - 1, 2**28

# Text stays text, fonts are embedded as TrueType, and the same figure is the same file.
_SETTINGS = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "attnwidget"}


class Shown(ShownRecord):
    """A record and the choices of its widget, as plots take them."""

    @property
    def view(self) -> str:
        return str(self.choices["view"])

    @property
    def stack(self) -> str:
        """The name of the stack that is shown: in a comparison, that of A or B."""
        chosen = str(self.choices["stack"])
        return self._partners[chosen] if self.choices["compared"] == "b" else chosen

    @property
    def lens(self) -> Lens:
        return next(each for each in self.lenses if each.name == self.choices["lens"])

    @cached_property
    def attention(self) -> Attention:
        """The attention that the head view shows; in the model view, that of the opened head."""
        choices, opened = self.choices, self.view == "model"
        by_key = choices["query"] is None and choices["key"] is not None
        side: SideName = "key" if by_key else "query"
        position = choices[side]
        return Attention(
            self.record,
            self.stack,
            choices["layer"],
            [choices["head"]] if opened else choices["heads"],
            choices["head"],
            self.lens,
            combine="none" if opened else choices["combine"],
            words=choices["words"],
            segments=choices["segments"],
            side=side,
            locked=() if position is None else (position, *choices["also"]),
            other=self._partners[self.stack] if choices["compared"] == "difference" else None,
            # Those of B are no choice.
            several=len(self.record.stacks) > (2 if self._partners else 1),
        )

    @property
    def shows_image(self) -> bool:
        return bool(self.choices["picture"]) and on_image(self.attention)

    @property
    def stack_arcs(self) -> list[SentArc]:
        """The arcs of the stack, if they are shown. Those of a comparison's A are of B, too."""
        stacks = self.stack, self.choices["stack"]
        return [arc for arc in self.arcs if self.choices["arcs_shown"] and arc["stack"] in stacks]

    @cached_property
    def heads(self) -> Heads:
        query, key = self.choices["query"], self.choices["key"]
        of_pair = self.choices["sort"] == PAIR and query is not None and key is not None
        own = [self._pair_metric(query, key)] if of_pair else []
        near = self.similarity
        similarity = near if near is not None and self.stack in near["places"] else None
        return Heads(
            self.record,
            self.stack,
            (self.manifest, self.overview),
            [*self.metrics, *own],
            similarity,
        )

    @property
    def color(self) -> str:
        """The colours of heads: their patterns, where the stack lacks the chosen metric."""
        chosen = str(self.choices["color"])
        return chosen if chosen in ("layer", *self.heads.metrics) else "pattern"

    @property
    def included(self) -> dict[str, Any]:
        """The order and the inclusion of heads."""
        return {name: self.choices[name] for name in ("sort", "include_layers", "include_heads")}

    @cached_property
    def _partners(self) -> dict[str, str]:
        return partner_stacks(self.manifest)

    def _pair_metric(self, query: int, key: int) -> SentMetric:
        """The weight of a pair of tokens in every head."""
        stack, row = self.record.stack(self.stack), np.array([query])
        values: list[list[float | None]] = [
            [float(layer.head_weights(head, row)[0, key]) for head in range(layer.num_heads)]
            for layer in stack.layers
        ]
        return {
            "name": PAIR,
            "label": f"weight {stack.queries.labels[query]} → {stack.keys.labels[key]}",
            "unit": "",
            "digits": 3,
            "signed": False,
            "directions": None,
            "description": "",
            "values": {self.stack: values},
        }


class _Panel(NamedTuple):
    """A part of a view: its size in inches, and the drawing of it into Axes."""

    size: Callable[[Shown], Size]
    draw: Callable[[Axes, Shown], object]


def _draw_head(axes: Axes, shown: Shown) -> None:
    if shown.shows_image:
        draw_image(axes, shown.attention)
    else:
        draw_head(axes, shown.attention, shown.stack_arcs)


def _draw_model(axes: Axes, shown: Shown) -> None:
    if shown.choices["ranking"]:
        # Without an order, heads are ranked by their colour, or by the first metric.
        names = [shown.choices["sort"], shown.color, *shown.heads.metrics]
        by = next(name for name in names if name in shown.heads.metrics)
        ranking(shown.heads, by, color=shown.color, ax=axes)
    else:
        segments = shown.choices["segments"]
        style: dict[str, Any] = {"color": shown.color, "segments": segments, **shown.included}
        # As the view, with attention where a lens is of whole layers.
        lens = shown.lens if shown.lens.by_head else ATTENTION
        model(shown.heads, lens=lens, ax=axes, **style)


def _draw_map(axes: Axes, shown: Shown) -> None:
    known = {"distance", "entropy", NO_SIZE, *shown.heads.metrics}
    known |= {SIMILARITY} if shown.heads.similarity is not None else set()
    chosen = {"x": "map_x", "y": "map_y", "size": "map_size"}
    places = {name: shown.choices[choice] for name, choice in chosen.items()}
    # Where the stack lacks a metric, the default stands in.
    places = {name: value for name, value in places.items() if value in known}
    draw_map(shown.heads, color=shown.color, ax=axes, **places)


_PANELS: dict[PanelName, _Panel] = {
    "head": _Panel(
        lambda shown: grown(0) if shown.shows_image else head_size(shown.attention), _draw_head
    ),
    "matrix": _Panel(
        lambda shown: matrix_size(shown.attention),
        lambda axes, shown: draw_matrix(axes, shown.attention),
    ),
    "model": _Panel(
        lambda shown: (
            ranking_size(shown.heads)
            if shown.choices["ranking"]
            else model_size(shown.heads.order(**shown.included))
        ),
        _draw_model,
    ),
    "neuron": _Panel(
        lambda shown: neuron_size(shown.attention),
        lambda axes, shown: draw_neuron(axes, shown.attention),
    ),
    "map": _Panel(lambda shown: map_size(), _draw_map),
}


def _panels(shown: Shown) -> list[PanelName]:
    """The panels of the view."""
    if shown.view == "head":
        return ["head", "matrix"]
    if shown.view == "model" and shown.choices["opened"] and not shown.choices["ranking"]:
        return ["model", "head", "matrix"]
    return [name for name in _PANELS if name == shown.view]


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
    panel: PanelName | None = None,
    size: Size | None = None,
    dpi: float | None = None,
) -> bytes:
    """Draw the view, or a panel of it, and return the file's bytes.

    Args:
        kind: "svg" (text stays text), "pdf" (fonts embedded, as TrueType) or "png".
        panel, size, dpi: as in `AttentionWidget.figure`.

    Raises:
        TypeError, ValueError: there is no such panel, size or resolution, or no such difference.
    """
    if size is not None:
        size = _checked_size(size)
    dpi = real("pixels per inch above 0, as 300", above=True, none=True)("dpi", dpi) or PRINT_DPI
    title = clean(f"Attention of {shown.record.model}" if shown.record.model else "Attention")
    metadata: dict[str, Any] = {"Title": title} | ({"Date": None} if kind == "svg" else {})
    with _style(shown):
        figure = draw_figure(shown, panel, size)
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
    return out.getvalue()


def preview_bytes(shown: Shown) -> bytes:
    """Draw the first panel as a PNG that is small enough to be kept in a notebook.

    It has 96 dpi and 256 colours, and is drawn once; `savefig` draws twice.
    """
    with _style(shown), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure = draw_figure(shown, _panels(shown)[0], _PREVIEW)
        # A constrained layout measures every label several times.
        figure.set_layout_engine("tight")
        figure.set_dpi(_PREVIEW_DPI)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    # The other methods merge the colours of heads where these are rare, or take much longer.
    reduced = image.quantize(method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    # The background keeps its very colour.
    palette = np.reshape(np.asarray(reduced.getpalette(), np.uint8), (-1, 3))
    palette[np.asarray(reduced)[0, 0]] = np.asarray(image)[0, 0]
    reduced.putpalette(palette.tobytes())
    out = io.BytesIO()
    reduced.save(out, "png", dpi=(_PREVIEW_DPI, _PREVIEW_DPI))
    return out.getvalue()


def draw_figure(shown: Shown, panel: PanelName | None = None, size: Size | None = None) -> Figure:
    """Draw the view's panels side by side, or one of them, with the model's name below.

    Args:
        size: in inches; fitting the tokens if None.

    Raises:
        ValueError: the view has no such panel, or no such difference.
    """
    names = _panels(shown)
    if panel is not None and panel not in names:
        raise ValueError(_no_panel(shown.view, panel, names))
    if shown.choices["compared"] == "difference" and panel is None and shown.view != "head":
        raise ValueError(
            f"the {shown.view} view of a difference is drawn in the browser alone; choose "
            "view='head', or compared='a' or 'b'"
        )
    panels = [_PANELS[name] for name in (names if panel is None else [panel])]
    widths, heights = zip(*(each.size(shown) for each in panels), strict=True)
    figure = Figure(size or (sum(widths), max(heights)), layout="constrained")
    if shown.record.model:
        model = clean(shown.record.model)
        figure.supxlabel(model, x=0.01, ha="left", fontsize="x-small", alpha=0.7, **PLAIN)
    axes = figure.subplots(1, len(panels), width_ratios=widths, squeeze=False)
    for ax, each in zip(axes[0], panels, strict=True):
        each.draw(ax, shown)
    return figure


def _no_panel(view: str, panel: str, panels: Sequence[str]) -> str:
    """The message for a panel that the view does not have."""
    message = f"the {view} view has no panel {panel!r}; it has {' and '.join(map(repr, panels))}"
    if view == "model" and panel in ("head", "matrix"):
        return f"{message}, and 'head' and 'matrix' with an opened head (opened = True)"
    if panel in _PANELS:
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
