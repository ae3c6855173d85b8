"""Every head of every layer: its thumbnail, or a number."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike, NDArray

from attnwidget.analysis import Lens, sampled_rows
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds, signed_cells
from attnwidget.corpus import HeadProfile
from attnwidget.progress import step_done
from attnwidget.record import AttentionRecord, runs
from attnwidget.record.rows import spread_rows
from attnwidget.view_state.segments import shown_positions
from attnwidget.wire import decode_overview
from attnwidget.wire.manifest import thumbnail_shape

from .attention import lens_of
from .axes import (
    Size,
    add_caption,
    add_colorbar,
    add_legend,
    font_points,
    grown,
    new_axes,
    size_in_points,
)
from .colors import mixed, palette_of
from .heads import Heads, head_inks, metric_scale, metric_title

Rows = Sequence[tuple[int, Sequence[int]]]
"""The place of each layer that is shown, and its heads from left to right."""

# Pixels between two thumbnails.
_GAP = 3
# The width of the legend, in inches.
_LEGEND = 1.5


def model(
    record: AttentionRecord | HeadProfile,
    *,
    metric: str | ArrayLike | None = None,
    lens: str | Lens = "attention",
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw every head of every layer: its thumbnail in its pattern's colour, or a metric.

    Args:
        record: a record; or a profile, for its means over texts, mean thumbnails and words.
        metric: a number per head, drawn as a heat map with a colour bar: the name of a metric of
            `attnwidget.analysis.METRICS`, such as "entropy", or of the profile; or an array
            [layers, heads] (NaN where a layer has fewer heads). Negative numbers get colours that
            diverge from zero. None for thumbnails.
        lens: the numbers in thumbnails, as in `head`; layers without them keep those of attention,
            and the caption says so. A profile has those of attention alone.
        stack, caption, ax: as in `head`.

    Returns:
        The Axes; `ax.images[0]` has the thumbnails as one picture, or the numbers.

    Raises:
        ValueError: the record has no such metric, the array has another shape, or no layer has the
            lens.
        KeyError, ImportError: as in `head`.
    """
    heads, lens = Heads.of(record, stack), lens_of(lens)
    if metric is None:
        numbers = heads.stack.numbers
        if len(_layers_without(heads, lens)) == len(numbers):
            why = lens.why_not(heads.record, heads.stack_name, numbers[0])
            reason = "a profile has attention alone" if why is None else why.sentence
            raise ValueError(f"lens {lens.name!r} is not known: layer {numbers[0]} {reason}")
        rows = heads.order("model")
        ax = new_axes(model_size(rows)) if ax is None else ax
        draw_model(ax, heads, lens, rows, caption=caption)
        return ax
    if isinstance(metric, str):
        sent = heads.metric(metric)
        values, signed, label = heads.values(sent), sent["signed"], metric_title(sent)
        ends = heads.null_range(sent)
        if ends is not None:
            label += f"\n95% of {sent['null']['label']}: {ends[0]:.3g} to {ends[1]:.3g}"
    else:
        values, label = np.asarray(metric, np.float64), ""
        signed = bool((values < 0).any())
        if values.shape != heads.shape:
            raise ValueError(
                f"metric has the shape {list(values.shape)}; expected [layers, heads], which is "
                f"{list(heads.shape)}"
            )
    ax = new_axes(grown(len(heads.stack.numbers))) if ax is None else ax
    scale = metric_scale(values, signed, palette_of(ax))
    image = ax.imshow(np.ma.masked_invalid(values), scale.cmap, scale.norm, aspect="auto")
    add_colorbar(ax, image, label)
    _label_axes(ax, heads.stack.numbers)
    return ax


def model_size(rows: Rows) -> Size:
    """The size of all thumbnails, their labels and the legend, in inches."""
    width, height = grown(2 * len(rows), 2 * max(len(heads) for _, heads in rows))
    return width + _LEGEND, height


def draw_model(
    axes: Axes,
    heads: Heads,
    lens: Lens,
    rows: Rows,
    color: str = "pattern",
    *,
    segments: str = "all",
    marked: str | None = None,
    caption: bool = True,
) -> None:
    """Draw the thumbnails of some heads.

    Numbers with a sign are blue above zero and orange below, up to each head's largest.

    Args:
        rows: the places of layers and their heads, from the top left, as `Heads.order` returns
            them. Heads have their numbers where these are not those of their columns.
        color: as in `head_inks`.
        segments: as in `AttentionWidget`.
        marked: the name of the head that is framed; None for none.
        caption: as in `model`.
    """
    palette, columns = palette_of(axes), max(len(chosen) for _, chosen in rows)
    across, down = _thumbnail_pixels(heads, segments)
    inks, thumbnails = head_inks(heads, color, palette), _thumbnails(heads, lens, segments)
    background = np.array(to_rgb(palette.background))
    paper = np.array(to_rgb(mixed(palette.background, palette.text, 0.03)))
    picture = np.tile(background, (len(rows) * down, columns * across, 1))
    for n, (place, chosen) in enumerate(rows):
        for column, head in enumerate(chosen):
            shares = thumbnails[place][head]
            zoom = (down - _GAP) // shares.shape[0], (across - _GAP) // shares.shape[1]
            shares = np.kron(shares, np.ones(zoom))[..., None]
            ink = inks.rgba[place, head, :3]
            if lens.signed:
                ink = np.where(shares < 0, to_rgb(palette.negative), to_rgb(palette.positive))
            top, left = n * down, column * across
            box = slice(top, top + down - _GAP), slice(left, left + across - _GAP)
            picture[box] = paper + (ink - paper) * np.abs(shares)
            name = f"{heads.stack.numbers[place]}-{head}"
            if name == marked:
                frame = Rectangle((column, n), 1 - _GAP / across, 1 - _GAP / down, fill=False)
                frame.set(edgecolor=palette.accent, linewidth=1.5, clip_on=False)
                axes.add_patch(frame)
            if head != column:
                axes.text(column + 0.05, n + 0.05, f"{head}", va="top", fontsize="xx-small")
        step_done()
    axes.imshow(
        (255 * picture).round().astype(np.uint8),
        extent=(0, columns, len(rows), 0),
        aspect=down / across,
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    numbered = all(chosen == list(range(len(chosen))) for _, chosen in rows)
    middles = np.arange(columns if numbered else 0)
    axes.set_xticks(middles + 0.5, labels=[f"{head}" for head in middles])
    _label_axes(axes, [heads.stack.numbers[place] for place, _ in rows], 0.5)
    if lens.signed:
        signs = (palette.positive, "above 0"), (palette.negative, "below 0")
        add_legend(axes, [Patch(color=color, label=label) for color, label in signs])
    else:
        inks.explain(axes)
    if caption:
        add_caption(axes, _notes(heads, lens, segments), palette, axes.xaxis.label)


def _label_axes(axes: Axes, layers: Sequence[int], middle: float = 0.0) -> None:
    """Number the layers, as many as have room; the first has its middle at `middle`."""
    room = size_in_points(axes)[1] / len(layers)
    step = max(1, round(1.3 * font_points(matplotlib.rcParams["ytick.labelsize"]) / room))
    places = np.arange(0, len(layers), step)
    axes.set_yticks(places + middle, labels=[f"{layers[place]}" for place in places])
    axes.grid(visible=False)
    axes.set(xlabel="head", ylabel="layer")


def _thumbnail_pixels(heads: Heads, segments: str) -> tuple[int, int]:
    """The width and height of a head in the picture, with the gap."""
    shape = thumbnail_shape(heads.stack, heads.overview[0])
    rows, columns = _cropped(heads, segments, np.zeros(shape)).shape
    zoom = max(1, THUMBNAIL_SIZE // max(rows, columns))
    return columns * zoom + _GAP, rows * zoom + _GAP


def _thumbnails(heads: Heads, lens: Lens, segments: str) -> list[list[NDArray[np.float64]]]:
    """The thumbnail of every head, by layer: numbers from -1 to 1."""
    levels = decode_overview(heads.record, *heads.overview)[heads.stack_name]
    without = _layers_without(heads, lens)
    found = []
    for layer, cells in zip(heads.stack.layers, levels, strict=True):
        if lens.name == "attention" or layer.number in without:
            shares = [each / 15 for each in cells]
        else:
            shares = [_seen(heads, lens, layer.number, head) for head in range(layer.num_heads)]
        found.append([_cropped(heads, segments, each) for each in shares])
    return found


def _seen(heads: Heads, lens: Lens, layer: int, head: int) -> NDArray[np.float64]:
    """The thumbnail of a head through a lens, of the queries that other thumbnails read."""
    numbers = lens.matrix(heads.record, heads.stack_name, layer, head)
    rows = spread_rows(len(numbers), sampled_rows(len(numbers)) or len(numbers))
    cells = signed_cells(heads.stack, lambda chosen: numbers[chosen], rows)
    peak = float(np.abs(cells).max()) or 1.0
    shares: NDArray[np.float64] = np.sign(cells) * np.sqrt(np.abs(cells) / peak)
    return shares


def _layers_without(heads: Heads, lens: Lens) -> list[int]:
    """The numbers of the layers that lack the lens. Means over texts are of attention."""
    numbers = heads.stack.numbers
    if heads.num_texts is not None:
        return [] if lens.name == "attention" else list(numbers)
    return [n for n in numbers if lens.why_not(heads.record, heads.stack_name, n) is not None]


def _cropped(heads: Heads, segments: str, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cells of a thumbnail that hold tokens of the chosen segments."""
    # Means over texts are of whole texts.
    if segments == "all" or heads.num_texts is not None:
        return cells
    sides = heads.stack.queries, heads.stack.keys
    rows, columns = (
        np.unique(np.searchsorted(cell_bounds(len(side), side.split)[1:], positions, side="right"))
        for side, positions in zip(sides, shown_positions(heads.stack, segments), strict=True)
    )
    return cells[np.ix_(rows, columns)]


def _notes(heads: Heads, lens: Lens, segments: str) -> list[str]:
    notes, without = [], _layers_without(heads, lens)
    if lens.name != "attention" and heads.num_texts is None:
        notes.append(f"thumbnails: {lens.label.lower()}, up to each head’s largest")
        notes.append(f"of attention in layers {runs(without)}" if without else "")
    sampled = sampled_rows(len(heads.stack.queries))
    if heads.num_texts is not None:
        notes.append(f"means of {heads.num_texts:,} texts")
    elif sampled is not None:
        notes.append(f"from {sampled:,} of {len(heads.stack.queries):,} queries")
    return [*notes, "" if segments == "all" else "numbers are of whole heads"]
