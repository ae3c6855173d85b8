"""A head's numbers as a matrix, and those of several records beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from attnwidget.analysis import Lens
from attnwidget.analysis.thumbnails import largest_from
from attnwidget.record import AttentionRecord

from .attention import Attention, Viewed
from .axes import (
    Size,
    add_caption,
    add_colorbar,
    grown,
    label_tokens,
    labels_inches,
    new_axes,
    set_title,
    size_in_points,
)
from .colors import palette_of, shade
from .notes import magnitude, share_note

# The most cells along a side of the image.
_MAX_CELLS = 400
_PANELS_IN_A_ROW = 4


def matrix(
    record: AttentionRecord | Viewed,
    layer: int,
    head: int,
    *,
    lens: str | Lens = "attention",
    segments: str = "all",
    stack: str | None = None,
    colorbar: bool = True,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the numbers of a head as a matrix: rows are queries, columns are keys.

    Shades are square roots, because most weights are small; the colour bar says which number each
    stands for. Numbers with a sign are blue above zero and orange below, in linear shades.

    Args:
        colorbar: False to leave the colour bar out.
        lens, segments, stack, caption, ax: as in `head`. A rollout is of all heads.

    Returns:
        The Axes. `ax.images[0]` has the numbers; with more than 400 tokens, or more than the Axes
        have points, a cell is the largest of several. Masked keys have 0.

    Raises:
        TypeError, IndexError, KeyError, ValueError, ImportError: as in `head`.
    """
    attention = Attention.of(record, layer, [head], stack=stack, lens=lens, segments=segments)
    ax = new_axes(matrix_size(attention)) if ax is None else ax
    draw_matrix(ax, attention, colorbar=colorbar, caption=caption)
    return ax


def matrices(
    records: Mapping[str, AttentionRecord],
    layer: int,
    head: int,
    *,
    lens: str | Lens = "attention",
    segments: str = "all",
    stack: str | None = None,
    caption: bool = True,
) -> list[Axes]:
    """Draw a head over several texts, checkpoints or models: a matrix each, with one colour bar.

        attnwidget.plot.matrices({"step 0": start, "step 1000": later, "step 2000": end}, 2, 8)

    Args:
        records: the records by the titles of their panels.
        lens, segments, stack, caption: as in `head`. A rollout is of all heads.

    Returns:
        The Axes of a new figure, in the order of the records.

    Raises:
        ValueError: there are no records; or as in `head`.
        TypeError, IndexError, KeyError, ImportError: as in `head`.
    """
    import matplotlib.pyplot as plt

    if not isinstance(records, Mapping) or not records:
        raise ValueError(
            f"records is {records!r:.100}; expected records by the titles of their panels, as "
            '{"step 0": record}'
        )
    panels = {
        title: Attention.of(record, layer, [head], stack=stack, lens=lens, segments=segments)
        for title, record in records.items()
    }
    most = max(float(np.abs(each.numbers(each.current)).max()) for each in panels.values())
    columns = min(len(panels), _PANELS_IN_A_ROW)
    rows = math.ceil(len(panels) / columns)
    sizes = [matrix_size(attention) for attention in panels.values()]
    width, height = 0.7 * np.max(sizes, axis=0)
    figure = plt.figure(figsize=(columns * width, rows * height), layout="constrained")
    drawn = []
    for number, (title, attention) in enumerate(panels.items(), 1):
        ax = figure.add_subplot(rows, columns, number)
        image = draw_matrix(ax, attention, colorbar=False, caption=caption, most=most)
        set_title(ax, title)
        drawn.append(ax)
    add_colorbar(drawn, image, attention.measure, shrink=0.7)
    return drawn


def matrix_size(attention: Attention) -> Size:
    """The size of the matrix, its labels and its colour bar, in inches."""
    rows, columns = len(attention.queries), len(attention.keys)
    _, height = grown(max(rows, columns))
    cell = (height - 1) / max(rows, columns)
    width = max(2.0, cell * columns) + labels_inches(attention.queries) + 1.3
    return width, max(2.0, cell * rows) + labels_inches(attention.keys) + 0.7


def draw_matrix(
    ax: Axes,
    attention: Attention,
    *,
    colorbar: bool = True,
    caption: bool = True,
    most: float | None = None,
) -> AxesImage:
    """Draw the matrix of the current head, or the combined one; locked tokens are framed.

    Args:
        most: the number that has the full shade; the largest if None.
    """
    palette, queries, keys = palette_of(ax), attention.queries, attention.keys
    of_queries = attention.numbers(attention.current)[queries.shown]
    numbers = of_queries[:, keys.shown]
    rows, columns = numbers.shape
    width, height = size_in_points(ax)
    # A cell lower than a point would be invisible.
    max_cells = int(min(_MAX_CELLS, max(width, height)))
    tops, lefts = (np.arange(min(n, max_cells)) * n // min(n, max_cells) for n in (rows, columns))
    most = float(np.abs(numbers).max()) if most is None else most
    image = ax.imshow(
        largest_from(largest_from(numbers, tops, axis=0), lefts, axis=1),
        cmap=palette.colormap(signed=attention.signed),
        norm=shade(most or 1.0, signed=attention.signed),
        extent=(0, columns, rows, 0),
        interpolation="none",
    )
    # Upright labels of keys look as if they belonged to a title that is near.
    set_title(ax, attention.title(attention.current), pad=12)
    ax.grid(visible=False)
    ax.hlines(queries.borders, 0, columns, color=palette.muted, linewidth=0.75)
    ax.vlines(keys.borders, 0, rows, color=palette.muted, linewidth=0.75)
    ax.xaxis.tick_top()
    ax.set(xlabel="key", ylabel="query")
    room = min(width / columns, height / rows)
    for axis, side in ((ax.yaxis, queries), (ax.xaxis, keys)):
        locked = side.indices(attention.locked) if side is attention.locked_side else []
        label_tokens(axis, side, np.arange(0.5, len(side)).tolist(), room, palette, locked)
        for at in locked:
            corner, size = ((0, at), (columns, 1)) if side is queries else ((at, 0), (1, rows))
            frame = Rectangle(corner, *size, fill=False, edgecolor=palette.accent, linewidth=1.2)
            frame.set(clip_on=False, zorder=3)
            ax.add_patch(frame)
    if colorbar:
        add_colorbar(ax, image, attention.measure)
    if caption:
        notes = [share_note(magnitude(numbers), magnitude(of_queries), attention.measure)]
        group = math.ceil(max(rows, columns) / max_cells)
        notes.append(f"each cell the largest of up to {group} × {group}" if group > 1 else "")
        add_caption(ax, notes, palette, ax.xaxis.label)
    return image
