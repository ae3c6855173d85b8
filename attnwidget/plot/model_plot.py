"""The model view as a plot: every head's thumbnail, or a metric of every head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_rgb, to_rgba
from matplotlib.patches import FancyBboxPatch, Patch
from numpy.typing import ArrayLike, NDArray

from attnwidget.analysis import norms_need, sampled_rows, score_refusal
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds
from attnwidget.progress import step_done
from attnwidget.record import Tokens, runs
from attnwidget.view_state.segments import PAIR_SEGMENTS, shown_positions
from attnwidget.wire.manifest import thumbnail_shape

from .axes import LETTER, add_legend, font_size, hide_frame, palette_of, size_in_points
from .coloring import (
    LayerRow,
    all_layers,
    brief,
    head_inks,
    layer_rows,
    metric_values,
    of_means,
    valid_choices,
)
from .colors import Palette, diverging, ramp
from .lines import add_curves, curve
from .map_plot import null_range
from .shown import Shown
from .text import PLAIN, clean

# Pixels of the picture: between two thumbnails, below a thumbnail and of the bar of its colour
# there, and of the head's number, which stands below where heads are sorted.
_GAP = 3
_BAR_GAP, _BAR = 1, 1
_CAPTION = 7
# The most lines drawn of one head.
_MAX_LINES = 160
# Room for the means, in widths and heights of a thumbnail: their bars and their numbers.
_MEANS_WIDTH = 1.3
_MEANS_HEIGHT = 0.6


def draw_model(axes: Axes, shown: Shown, *, marked: bool = False) -> None:
    """Draw the thumbnails of the included heads, and means of the metric at both sides.

    Args:
        marked: True to frame the current head.
    """
    palette, rows = palette_of(axes), layer_rows(shown)
    inks, legend = head_inks(shown, rows, palette)
    count = max(len(row.heads) for row in rows)
    cell = Cell(shown)
    picture = _picture(axes, shown, rows, inks, cell, palette)
    axes.imshow(picture, extent=(0, count, len(rows), 0), aspect=cell.height / cell.width)

    hide_frame(axes)
    columns, lines = count + _MEANS_WIDTH, len(rows) + _MEANS_HEIGHT
    axes.set(xlim=(0, columns), ylim=(lines, 0))
    width, height = size_in_points(axes)
    cell_points = min(width / columns, height / lines * cell.width / cell.height)
    _label_heads(axes, shown, rows, inks, cell, palette, cell_points)
    _draw_means(axes, shown, rows, cell, palette, cell_points)
    if marked:
        _mark_current(axes, shown, rows, palette)
    handles = [Patch(facecolor=ink, label=label) for ink, label in legend]
    add_legend(axes, handles, _notes(shown), palette, width)


def _picture(
    axes: Axes,
    shown: Shown,
    rows: Sequence[LayerRow],
    inks: Sequence[Sequence[str]],
    cell: Cell,
    palette: Palette,
) -> NDArray[np.uint8]:
    """All thumbnails as one picture, uint8 [height, width, 3]; lines are added to the Axes."""
    lines = shown.thumbnails == "lines"
    count = max(len(row.heads) for row in rows)
    background = np.array(to_rgb(palette.background))
    picture = np.tile(background, (len(rows) * cell.height, count * cell.width, 1))
    for n, (row, bars) in enumerate(zip(rows, inks, strict=True)):
        band = picture[n * cell.height : (n + 1) * cell.height]
        for column, (head, ink) in enumerate(zip(row.heads, bars, strict=True)):
            levels = _cropped(shown, row.levels[head])
            colors = (palette.positive, palette.negative) if row.scored else (ink, ink)
            if lines:
                _add_lines(axes, levels, (column, n), cell, colors)
                levels = np.zeros_like(levels)
            pixels = band[:, column * cell.width : (column + 1) * cell.width]
            cell.paint(pixels, levels, colors, ink, palette)
        step_done()
    # Bytes are drawn several times faster than numbers.
    in_bytes: NDArray[np.uint8] = (255 * picture).round().astype(np.uint8)
    return in_bytes


def _label_heads(
    axes: Axes,
    shown: Shown,
    rows: Sequence[LayerRow],
    inks: Sequence[Sequence[str]],
    cell: Cell,
    palette: Palette,
    cell_points: float,
) -> None:
    """Number the layers at the left, and the heads above, or below each where they are sorted."""
    sort, color, _ = valid_choices(shown)
    size = font_size(cell_points * cell.height / cell.width)
    middles = [n + cell.middle for n in range(len(rows))]
    axes.set_yticks(middles, labels=[f"{row.layer.number}" for row in rows], fontsize=size)
    for tick, colors in zip(axes.get_yticklabels(), inks, strict=True):
        tick.set_color(colors[0] if color == "layer" else palette.muted)
    # Two letters fit above a thumbnail.
    size = min(size, font_size(cell_points / LETTER / 2))
    axes.xaxis.tick_top()
    if sort == "model":
        longest = max((row.heads for row in rows), key=len)
        middles = [column + 0.5 for column in range(len(longest))]
        axes.set_xticks(middles, labels=[f"{head}" for head in longest], fontsize=size)
        axes.tick_params(axis="x", labelcolor=palette.muted)
        axes.set_ylabel("layer", color=palette.muted, fontsize=size)
        return
    axes.set_xticks([])
    label = clean(shown.stack_metrics[sort]["label"])
    axes.set_title(f"{label}, highest to lowest from left to right", parse_math=False)
    for n, row in enumerate(rows):
        for column, head in enumerate(row.heads):
            text = axes.text(column + 0.5, n + 1 - cell.caption / 2, f"{head}", fontsize=size)
            text.set(color=palette.muted, ha="center", va="center")


class Cell:
    """The pixels of one head in the picture: its thumbnail, and a bar of its colour below.

    Attributes:
        width, height: in pixels, with the gaps around it.
        middle, caption: the middle of its thumbnail, and the height of its caption, as shares.
    """

    def __init__(self, shown: Shown) -> None:
        stack = shown.current_stack
        manifest, _ = shown.encoded_overview
        cells = np.zeros(thumbnail_shape(stack, manifest), np.uint8)
        rows, columns = _cropped(shown, cells).shape
        queries, keys = shown_positions(stack, _segments(shown))
        # Means over texts of any length are square.
        is_square = shown.thumbnails == "lines" or shown.num_texts is not None
        aspect = 1.0 if is_square else len(keys) / len(queries)
        aspect = min(max(aspect, 1 / 3), 3)
        # A whole number of pixels per weight, so that all are equally large.
        self.across = columns * max(1, round(THUMBNAIL_SIZE * min(1, aspect) / columns))
        self.down = rows * max(1, round(THUMBNAIL_SIZE / max(1, aspect) / rows))
        captioned = valid_choices(shown)[0] != "model"
        below = _BAR_GAP + _BAR + (_CAPTION if captioned else 0)
        self.width, self.height = self.across + _GAP, self.down + below + _GAP
        self.top = self.left = _GAP // 2
        self.middle = (self.top + self.down / 2) / self.height
        self.caption = (_CAPTION + _GAP / 2) / self.height

    def paint(
        self,
        pixels: NDArray[np.float64],
        levels: NDArray[np.integer],
        colors: tuple[str, str],
        ink: str,
        palette: Palette,
    ) -> None:
        """Paint a thumbnail and its bar into the pixels [height, width, 3] of a head.

        Args:
            colors: of levels above and below zero.
            ink: the colour of the bar.
        """
        paper = np.array(to_rgb(palette.paper))
        above, below = (np.array(to_rgb(color)) for color in colors)
        rows, columns = levels.shape
        shares = np.kron(levels / 15, np.ones((self.down // rows, self.across // columns)))
        shares = shares[..., None]
        color = np.where(shares < 0, below, above)
        box = slice(self.left, self.left + self.across)
        pixels[self.top : self.top + self.down, box] = paper + (color - paper) * np.abs(shares)
        bar = self.top + self.down + _BAR_GAP
        pixels[bar : bar + _BAR, box] = to_rgb(ink)

    def point(self, corner: tuple[int, int], x: float, y: float) -> tuple[float, float]:
        """The data coordinates of a place in the thumbnail, given in shares of its sides."""
        return (
            corner[0] + (self.left + x * self.across) / self.width,
            corner[1] + (self.top + y * self.down) / self.height,
        )


def _add_lines(
    axes: Axes,
    levels: NDArray[np.integer],
    corner: tuple[int, int],
    cell: Cell,
    inks: tuple[str, str],
) -> None:
    """Add a line thumbnail: the strongest lines of a head."""
    rows, columns = levels.shape
    signed = levels.ravel().astype(np.intp)
    flat = np.abs(signed)
    strongest = np.argsort(-flat, kind="stable")[:_MAX_LINES]
    paths, colors = [], []
    for place in np.sort(strongest[flat[strongest] > 0]):
        row, column = divmod(int(place), columns)
        start = cell.point(corner, 0, (row + 0.5) / rows)
        end = cell.point(corner, 1, (column + 0.5) / columns)
        paths.append(curve(start, end))
        colors.append(to_rgba(inks[int(signed[place] < 0)], float(flat[place] / 15) ** 1.5))
    add_curves(axes, paths, colors, 0.6)


def _draw_means(
    axes: Axes,
    shown: Shown,
    rows: Sequence[LayerRow],
    cell: Cell,
    palette: Palette,
    cell_points: float,
) -> None:
    """Draw the mean metric of every row and of every column, as bars and numbers."""
    metric = valid_choices(shown)[2]
    count = max(len(row.heads) for row in rows)
    table = np.full((len(rows), count), np.nan)
    for n, row in enumerate(rows):
        table[n, : len(row.heads)] = metric_values(metric, row, shown)
    by_column, by_row = (np.ma.masked_invalid(table).mean(axis=n).filled(np.nan) for n in (0, 1))
    metric = of_means(metric, [*by_row, *by_column])

    # Four letters fit below a thumbnail.
    size = font_size(cell_points / (4 * LETTER))
    style: dict[str, Any] = {"fontsize": size, "color": palette.muted, "va": "center"}
    left, middles = count + 0.15, np.arange(len(rows)) + cell.middle
    _draw_mean_bars(axes, np.full(len(rows), left), middles, 0.5, by_row, palette, cell_points)
    for y, value in zip(middles, by_row, strict=True):
        axes.text(count + 0.75, y, brief(metric, value), **style)
    y = len(rows) + 0.1
    lefts = np.arange(count) + 0.1
    _draw_mean_bars(axes, lefts, np.full(count, y), 0.8, by_column, palette, cell_points)
    if size * 4 * LETTER <= cell_points:
        row_points = cell_points * cell.height / cell.width
        below = y + (size + 3) / row_points
        for column, value in enumerate(by_column):
            axes.text(column + 0.5, below, brief(metric, value), ha="center", **style)
        axes.set_ylim(below + size / row_points, 0)
    axes.text(left, y, f"mean {clean(metric['name'])}", **style, **PLAIN)


def _draw_mean_bars(
    axes: Axes,
    lefts: NDArray[np.floating],
    y: NDArray[np.floating],
    length: float,
    values: NDArray[np.floating],
    palette: Palette,
    cell_points: float,
) -> None:
    """Draw bars that start at zero and share one scale; NaN has none."""
    values = np.nan_to_num(values)
    lowest, highest = values.min(initial=0), values.max(initial=0)
    scale = length / ((highest - lowest) or 1)
    zeros = lefts - lowest * scale
    width = min(3, 0.06 * cell_points)
    axes.hlines(y, lefts, lefts + length, color=palette.border, linewidth=width)
    axes.hlines(y, zeros, zeros + values * scale, color=palette.muted, linewidth=width)


def _mark_current(axes: Axes, shown: Shown, rows: Sequence[LayerRow], palette: Palette) -> None:
    for n, row in enumerate(rows):
        if row.layer is shown.current_layer and shown.head in row.heads:
            corner = row.heads.index(shown.head) + 0.01, n + 0.01
            style = "round,pad=0,rounding_size=0.06"
            frame = FancyBboxPatch(corner, 0.98, 0.98, style)
            frame.set(facecolor="none", edgecolor=palette.accent, linewidth=2, clip_on=False)
            axes.add_patch(frame)


def metric_table(shown: Shown, metric: str | ArrayLike) -> tuple[NDArray[np.float64], bool, str]:
    """(values [layers, heads], signed, label); NaN where a layer has fewer heads.

    Raises:
        ValueError: there is no such metric, or an array has another shape.
    """
    stack = shown.current_stack
    shape = len(stack.layers), max(layer.num_heads for layer in stack.layers)
    if isinstance(metric, str):
        metrics = shown.stack_metrics
        if metric not in metrics:
            raise ValueError(f"no metric {metric!r}; there are {', '.join(metrics)}")
        values = np.full(shape, np.nan)
        for n, row in enumerate(all_layers(shown)):
            values[n, : row.layer.num_heads] = metric_values(metrics[metric], row, shown)
        label, unit = metrics[metric]["label"], metrics[metric]["unit"]
        label = f"{label} ({unit})" if unit else label
        null = null_range(metrics[metric], shown)
        if null is not None:
            low, high = (brief(metrics[metric], end) for end in null)
            label += f"\n95% of {clean(metrics[metric]['null']['label'])}: {low} … {high}"
        return values, metrics[metric]["signed"], label
    values = np.asarray(metric, np.float64)
    if values.shape != shape:
        raise ValueError(
            f"metric has the shape {list(values.shape)}; expected [layers, heads], which is "
            f"{list(shape)}"
        )
    return values, bool((values < 0).any()), ""


def draw_metric(
    axes: Axes, shown: Shown, values: NDArray[np.float64], signed: bool, label: str
) -> None:
    """Draw a metric [layers, heads] as a heat map; NaN where a layer has fewer heads."""
    palette = palette_of(axes)
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0)) or 1.0
    image = axes.imshow(
        np.ma.masked_invalid(values),
        cmap=diverging(palette, palette.background) if signed else ramp(palette.dark),
        norm=Normalize(-largest, largest) if signed and len(finite) else Normalize(),
        aspect="auto",
        interpolation="none",
    )
    axes.grid(visible=False)
    axes.figure.colorbar(image, ax=axes, label=label)
    numbers = shown.current_stack.numbers
    _, height = size_in_points(axes)
    step = max(1, round(1.3 * font_size() / (height / len(numbers))))
    axes.set_yticks(range(0, len(numbers), step), labels=[f"{n}" for n in numbers[::step]])
    axes.set(xlabel="head", ylabel="layer")


def _segments(shown: Shown) -> str:
    """The chosen segments if thumbnails can show them apart, else "all"."""
    stack = shown.current_stack
    separable = stack.queries.split is not None and stack.keys.split is not None
    # Means over texts are of whole texts.
    if shown.num_texts is not None or (shown.segments in PAIR_SEGMENTS and not separable):
        return "all"
    return shown.segments


def _cropped(shown: Shown, levels: NDArray[np.integer]) -> NDArray[np.integer]:
    """The part of a thumbnail whose cells hold tokens of the chosen segments."""
    segments, stack = _segments(shown), shown.current_stack
    if segments == "all":
        return levels
    queries, keys = shown_positions(stack, segments)
    rows, columns = _cells(stack.queries, queries), _cells(stack.keys, keys)
    return levels[np.ix_(np.unique(rows), np.unique(columns))]


def _cells(tokens: Tokens, positions: Sequence[int]) -> NDArray[np.intp]:
    """The cell of each token."""
    starts = cell_bounds(len(tokens), tokens.split)[:-1]
    return np.searchsorted(starts, positions, side="right") - 1


def _shares_cells(tokens: Tokens, positions: Sequence[int]) -> bool:
    """True if the cells of some tokens hold others, too."""
    everything = _cells(tokens, range(len(tokens)))
    return bool(np.isin(everything, _cells(tokens, positions)).sum() > len(positions))


def _notes(shown: Shown) -> list[str]:
    stack, notes = shown.current_stack, []
    if shown.thumbnails == "lines":
        notes.append(f"the {_MAX_LINES} strongest lines of each head")
    # Means over texts are of attention.
    if shown.lens in ("scores", "values") and shown.num_texts is None:
        scored = shown.lens == "scores"
        of = "√|score| up to each head's largest, blue: above 0, orange: below"
        notes.append(f"pictures are {of if scored else 'value-weighted'}, numbers are of attention")
        lacks = score_refusal if scored else norms_need
        others = [layer.number for layer in stack.layers if lacks(layer) is not None]
        if others:
            what = "scores" if scored else "norms"
            notes.append(f"pictures of attention in layers without {what}: {runs(others)}")
    sampled = sampled_rows(len(stack.queries))
    if shown.num_texts is not None:
        notes.append(f"means of {shown.num_texts:,} texts")
    elif sampled is not None:
        notes.append(f"pictures and numbers from {sampled:,} of {len(stack.queries):,} queries")
    some = shown_positions(stack, shown.segments)
    if [*map(len, some)] != [len(stack.queries), len(stack.keys)]:
        segments = _segments(shown)
        whole = "pictures and numbers are" if segments == "all" else "numbers are"
        notes.append(f"{whole} of whole heads")
        sides = zip((stack.queries, stack.keys), shown_positions(stack, segments), strict=True)
        if any(_shares_cells(*side) for side in sides):
            notes.append("the pictures' edges hold other tokens, too")
    return notes
