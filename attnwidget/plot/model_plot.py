"""Every head of every layer: its thumbnail, or a number."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike, NDArray

from attnwidget.analysis import ATTENTION, Lens, sampled_rows
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds, signed_cells
from attnwidget.progress import step_done
from attnwidget.record import Floats, Stack, runs
from attnwidget.record.scores import spread_rows
from attnwidget.view_state.segments import segment_choice, shown_positions
from attnwidget.wire import decode_overview

from .attention import lens_of
from .axes import Size, add_caption, add_colorbar, font_points, grown, new_axes, size_in_points
from .colors import mixed, palette_of
from .heads import Heads, HeadSource, head_inks, metric_scale, metric_title, sign_legend

# Pixels between two thumbnails.
_GAP = 3
# The width of the legend, in inches.
_LEGEND = 1.5


def model(
    record: HeadSource,
    *,
    metric: str | ArrayLike | None = None,
    lens: str | Lens = "attention",
    color: str = "pattern",
    sort: str = "model",
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    segments: str = "all",
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
            diverge from zero. None for thumbnails, for which the following arguments are.
        lens: the numbers in thumbnails, as in `head`, up to each head's largest; layers without
            them keep those of attention, and the caption says so. A profile has those of attention
            alone.
        color: "pattern", "layer", or the name of a metric.
        sort: the name of a metric, to have the heads of each layer from its highest number on, with
            their numbers; "model" for the model's order.
        include_layers, include_heads: the numbers of those drawn; None for all.
        segments, stack, caption, ax: as in `head`; thumbnails have the cells of these tokens.

    Returns:
        The Axes; `ax.images[0]` has the thumbnails as one picture, or the numbers.

    Raises:
        ValueError: the record has no such metric, the array has another shape, or no layer has the
            lens, or not of its single heads.
        KeyError, ImportError: as in `head`.
    """
    heads, lens = Heads.of(record, stack), lens_of(lens)
    if heads is not record:
        # A widget's segments have positions in place of names, and stacks may lack its metric.
        segments = segment_choice(segments, [])
        sort = sort if sort == "model" else heads.metric(sort)["name"]
    if metric is not None:
        ax = new_axes(grown(len(heads.stack.layers))) if ax is None else ax
        _draw_metric(ax, heads, metric)
        return ax
    if not lens.by_head:
        raise ValueError(
            f"lens {lens.name!r} has a matrix of each layer, none of each head: draw it with "
            "attnwidget.plot.matrix or head"
        )
    without = [] if lens is ATTENTION else heads.layers_without(lens)
    rows = heads.order(sort, include_layers, include_heads)
    ax = new_axes(model_size(rows)) if ax is None else ax
    palette, columns = palette_of(ax), max(len(chosen) for _, chosen in rows)
    inks, thumbnails = head_inks(heads, color, palette), _thumbnails(heads, lens, without, segments)
    across, down = (side + _GAP for side in reversed(thumbnails[0][0].shape))
    paper = np.array(to_rgb(mixed(palette.background, palette.text, 0.03)))
    picture = np.tile(to_rgb(palette.background), (len(rows) * down, columns * across, 1))
    for n, (place, chosen) in enumerate(rows):
        for column, head in enumerate(chosen):
            shares = thumbnails[place][head][..., None]
            ink: NDArray[np.floating] = inks.rgba[place, head, :3]
            if lens.signed:
                ink = np.where(shares < 0, to_rgb(palette.negative), to_rgb(palette.positive))
            top, left = n * down, column * across
            box = slice(top, top + down - _GAP), slice(left, left + across - _GAP)
            picture[box] = paper + (ink - paper) * np.abs(shares)
            if head != column:
                ax.text(column + 0.05, n + 0.05, f"{head}", va="top", fontsize="xx-small")
        step_done()
    pixels = (255 * picture).round().astype(np.uint8)
    ax.imshow(pixels, extent=(0, columns, len(rows), 0), aspect=down / across)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    in_order = all(list(chosen) == list(range(len(chosen))) for _, chosen in rows)
    ticks = range(columns if in_order else 0)
    ax.set_xticks([head + 0.5 for head in ticks], labels=[f"{head}" for head in ticks])
    _label_axes(ax, [heads.stack.numbers[place] for place, _ in rows], 0.5)
    if lens.signed:
        sign_legend(ax, palette)
    else:
        inks.explain(ax)
    if caption:
        notes = [] if lens is ATTENTION else [f"{lens.label}, up to each head’s largest"]
        if without:
            notes.append(f"attention in layers {runs(without)}")
        sampled, count = sampled_rows(len(heads.stack.queries)), len(heads.stack.queries)
        notes.append("" if sampled is None else f"from {sampled:,} of {count:,} queries")
        notes.append("numbers are of whole heads" if segments != "all" else "")
        add_caption(ax, [*notes, heads.of_texts], palette, ax.xaxis.label)
    return ax


def model_size(rows: Sequence[tuple[int, Sequence[int]]]) -> Size:
    """The size of all thumbnails, their labels and the legend, in inches."""
    columns = max(len(heads) for _, heads in rows)
    width, height = grown(2 * len(rows), 2 * columns)
    return width + _LEGEND, min(height, width * len(rows) / columns + 1)


def _draw_metric(axes: Axes, heads: Heads, metric: str | ArrayLike) -> None:
    """Draw a heat map of a number per head."""
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
    norm, cmap = metric_scale(values, signed, palette_of(axes))
    image = axes.imshow(np.ma.masked_invalid(values), cmap=cmap, norm=norm, aspect="auto")
    add_colorbar(axes, image, label)
    _label_axes(axes, heads.stack.numbers)


def _label_axes(axes: Axes, layers: Sequence[int], middle: float = 0.0) -> None:
    """Number the layers, as many as have room; the first has its middle at `middle`."""
    room = size_in_points(axes)[1] / len(layers)
    size = font_points(matplotlib.rcParams["ytick.labelsize"])
    places = range(0, len(layers), max(1, round(1.3 * size / room)))
    axes.set_yticks([at + middle for at in places], labels=[f"{layers[at]}" for at in places])
    axes.grid(visible=False)
    axes.set(xlabel="head", ylabel="layer")


def _thumbnails(
    heads: Heads, lens: Lens, without: Sequence[int], segments: str
) -> list[list[NDArray[np.float64]]]:
    """The thumbnail of every head, by layer: numbers from -1 to 1, magnified to about 32 cells."""
    levels = decode_overview(heads.record, *heads.overview)[heads.stack_name]
    # Means over texts are of whole texts.
    shown = shown_positions(heads.stack, "all" if heads.of_texts else segments)
    cells_of = [
        np.unique(np.searchsorted(cell_bounds(len(side), side.split)[1:], positions, "right"))
        for side, positions in zip((heads.stack.queries, heads.stack.keys), shown, strict=True)
    ]
    box = np.ix_(*cells_of) if not heads.of_texts else ...
    found = []
    for layer, cells in zip(heads.stack.layers, levels, strict=True):
        shares = [each / 15 for each in cells]
        if lens is not ATTENTION and layer.number not in without:
            matrices = lens.heads(heads.record, heads.stack_name, layer.number)
            shares = [_seen(heads.stack, each) for each in matrices]
        shares = [each[box] for each in shares]
        zoom = max(1, THUMBNAIL_SIZE // max(shares[0].shape))
        found.append([each.repeat(zoom, 0).repeat(zoom, 1) for each in shares])
    return found


def _seen(stack: Stack, numbers: Floats) -> NDArray[np.float64]:
    """The thumbnail of a head's numbers, of the queries that other thumbnails read."""
    rows = spread_rows(len(numbers), sampled_rows(len(numbers)) or len(numbers))
    cells = signed_cells(stack, lambda chosen: numbers[chosen], rows)
    peak = float(np.abs(cells).max()) or 1.0
    shares: NDArray[np.float64] = np.sign(cells) * np.sqrt(np.abs(cells) / peak)
    return shares
