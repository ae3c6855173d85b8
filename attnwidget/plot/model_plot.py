"""Every head of every layer: its thumbnail, or a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from attnwidget.analysis import ATTENTION, Lens, reading, sampled_rows
from attnwidget.arguments import checked, several_numbers
from attnwidget.counted import with_minus
from attnwidget.record import runs
from attnwidget.view_state.segments import segment_choice
from attnwidget.wire.pairing import layer_number

from .attention import lens_of
from .axes import (
    Size,
    add_caption,
    add_colorbar,
    add_legend,
    explain,
    font_points,
    grown,
    new_axes,
    patches_of,
    size_in_points,
)
from .colors import palette_of
from .heads import (
    HeadRows,
    Heads,
    HeadSource,
    head_inks,
    metric_scale,
    metric_title,
    thumbnails_picture,
)

# The width of the legend, in inches.
_LEGEND = 1.5


@checked(include_layers=several_numbers, include_heads=several_numbers)
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
            diverge from zero. None for thumbnails, for which the following arguments are: matrices,
            also of patches on an image.
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
        TypeError, KeyError, ImportError: as in `head`.
    """
    heads = Heads.of(record, stack)
    lens = reading(lens_of(lens), heads.stack)
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
    without = heads.layers_without(lens)
    rows = heads.order(sort, include_layers, include_heads)
    ax = new_axes(model_size(rows)) if ax is None else ax
    palette, columns = palette_of(ax), max(len(chosen) for _, chosen in rows)
    inks = head_inks(heads, color, palette)
    picture = thumbnails_picture(heads, rows, inks.rgba, palette, lens, segments)
    pixels, (down, across) = picture
    ax.imshow(pixels, extent=(0, columns, len(rows), 0), aspect=down / across)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for n, (_, chosen) in enumerate(rows):
        for column, head in enumerate(chosen):
            if head != column:
                ax.text(column + 0.05, n + 0.05, f"{head}", va="top", fontsize="xx-small")
    in_order = all(list(chosen) == list(range(len(chosen))) for _, chosen in rows)
    ticks = range(columns if in_order else 0)
    ax.set_xticks([head + 0.5 for head in ticks], labels=[f"{head}" for head in ticks])
    _label_axes(ax, heads, [heads.stack.numbers[place] for place, _ in rows], 0.5)
    if lens.signed:
        signs = (palette.positive, "above 0"), (palette.negative, "below 0")
        add_legend(ax, patches_of(signs))
    else:
        explain(ax, inks)
    if caption:
        notes = [] if lens is ATTENTION else [f"{lens.label}, up to each head’s largest"]
        if without:
            notes.append(f"attention in layers {runs(without)}")
        sampled, count = sampled_rows(len(heads.stack.queries)), len(heads.stack.queries)
        notes.append("" if sampled is None else f"from {sampled:,} of {count:,} queries")
        notes.append("numbers are of whole heads" if segments != "all" else "")
        add_caption(ax, [*notes, heads.of_texts], palette, ax.xaxis.label)
    return ax


def model_size(rows: HeadRows) -> Size:
    """The size of all thumbnails, their labels and the legend, in inches."""
    columns = max(len(heads) for _, heads in rows)
    width, height = grown(2 * len(rows), 2 * columns)
    return width + _LEGEND, min(height, width * len(rows) / columns + 1)


def _draw_metric(axes: Axes, heads: Heads, metric: str | ArrayLike) -> None:
    """Draw a heat map of a number per head."""
    if isinstance(metric, str):
        sent = heads.metric(metric)
        values, signed, label = heads.values(sent), sent["signed"], [metric_title(sent)]
        ends = heads.null_range(sent)
        if ends is not None:
            low, high = (with_minus(end, ".3g") for end in ends)
            label.append(f"95% of {sent['null']['label']}: {low} to {high}")
    else:
        values, label = np.asarray(metric, np.float64), []
        signed = bool((values < 0).any())
        if values.shape != heads.shape:
            raise ValueError(
                f"metric has the shape {list(values.shape)}; expected [layers, heads], which is "
                f"{list(heads.shape)}"
            )
    norm, cmap = metric_scale(values, signed, palette_of(axes))
    image = axes.imshow(np.ma.masked_invalid(values), cmap=cmap, norm=norm, aspect="auto")
    add_colorbar(axes, image, *label)
    _label_axes(axes, heads, heads.stack.numbers)


def _label_axes(axes: Axes, heads: Heads, layers: Sequence[int], middle: float = 0.0) -> None:
    """Number the layers, as many as have room; the first has its middle at `middle`."""
    room = size_in_points(axes)[1] / len(layers)
    step = max(1, round(1.3 * font_points("ytick.labelsize") / room))
    places = range(0, len(layers), step)
    labels = [layer_number(layers[at], heads.partners(layers[at])) for at in places]
    axes.set_yticks([at + middle for at in places], labels=labels)
    axes.grid(visible=False)
    axes.set(xlabel="head", ylabel="layer")
