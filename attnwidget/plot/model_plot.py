"""The model view as a plot: every head's thumbnail, or a number of every head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import Colormap, ListedColormap, Normalize, to_rgb, to_rgba
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.path import Path
from numpy.typing import ArrayLike, NDArray

from attnwidget.analysis import sampled_rows
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, split_cells
from attnwidget.record import Tokens

from .axes import (
    LETTER,
    PLAIN,
    add_legend,
    diverging,
    font_size,
    hide_frame,
    palette_of,
    size_in_points,
)
from .coloring import (
    LayerRow,
    all_layers,
    brief,
    head_inks,
    known_choices,
    layer_rows,
    values_of,
)
from .colors import Palette, ramp
from .shown import Shown, is_pair, shown_tokens
from .text import clean

# Pixels between two thumbnails in the picture of all.
_GAP = 3
# Below a thumbnail, the gap to the bar of its colour, and that bar.
_BAR = (1, 1)
# Room for the number of a head below it, where heads are sorted.
_CAPTION = 7
# Of the lines of a head, so many of the strongest are drawn.
_LINES = 160
# Room for the means, in widths and heights of a thumbnail: their bars, and the numbers after.
_MEANS = 1.3
_BELOW = 0.6


def draw_model(axes: Axes, shown: Shown, *, marked: bool = False) -> None:
    """Thumbnails of the layers and heads shown, with the means of a number at both sides.

    Args:
        marked: whether the current head has a frame.
    """
    palette, rows = palette_of(axes), layer_rows(shown)
    inks, legend = head_inks(shown, rows, palette)
    count = max(len(row.heads) for row in rows)
    cell = Cell(shown)
    picture = _picture(axes, shown, rows, inks, cell, palette)
    axes.imshow(picture, extent=(0, count, len(rows), 0), aspect=cell.height / cell.width)

    hide_frame(axes)
    axes.set(xlim=(0, count + _MEANS), ylim=(len(rows) + _BELOW, 0))
    width, height = size_in_points(axes)
    unit = min(width / (count + _MEANS), height / (len(rows) + _BELOW) * cell.width / cell.height)
    _name_heads(axes, shown, rows, inks, cell, palette, unit)
    _means(axes, rows, shown, cell, palette, unit)
    if marked:
        _mark(axes, shown, rows, palette)
    handles = [Patch(facecolor=ink, label=words) for ink, words in legend]
    add_legend(axes, handles, _notes(shown), palette, width)


def _picture(
    axes: Axes,
    shown: Shown,
    rows: Sequence[LayerRow],
    inks: Sequence[Sequence[str]],
    cell: Cell,
    palette: Palette,
) -> NDArray[np.float64]:
    """One picture of all thumbnails [height, width, 3]; where these are lines, of their paper."""
    lines = shown.thumbnails == "lines"
    count = max(len(row.heads) for row in rows)
    blank = np.array(to_rgb(palette.background))
    picture = np.tile(blank, (len(rows) * cell.height, count * cell.width, 1))
    for n, (row, colors) in enumerate(zip(rows, inks, strict=True)):
        line = picture[n * cell.height : (n + 1) * cell.height]
        for at, (head, ink) in enumerate(zip(row.heads, colors, strict=True)):
            levels = _cropped(shown, row.levels[head])
            if lines:
                _add_lines(axes, levels, (at, n), cell, ink)
                levels = np.zeros_like(levels)
            cell.paint(line[:, at * cell.width : (at + 1) * cell.width], levels, ink, palette)
    return picture


def _name_heads(
    axes: Axes,
    shown: Shown,
    rows: Sequence[LayerRow],
    inks: Sequence[Sequence[str]],
    cell: Cell,
    palette: Palette,
    unit: float,
) -> None:
    """Numbers of layers at the left, and of heads above, or below each where they are sorted."""
    sort, color, _ = known_choices(shown)
    size = font_size(unit * cell.height / cell.width)
    middles = [n + cell.middle for n in range(len(rows))]
    axes.set_yticks(middles, labels=[f"{row.layer.number}" for row in rows], fontsize=size)
    for tick, colors in zip(axes.get_yticklabels(), inks, strict=True):
        tick.set_color(colors[0] if color == "layer" else palette.muted)
    # Two letters above a thumbnail.
    size = min(size, font_size(unit / LETTER / 2))
    axes.xaxis.tick_top()
    if sort == "model":
        longest = max((row.heads for row in rows), key=len)
        middles = [at + 0.5 for at in range(len(longest))]
        axes.set_xticks(middles, labels=[f"{head}" for head in longest], fontsize=size)
        axes.tick_params(axis="x", labelcolor=palette.muted)
        axes.set_ylabel("layer", color=palette.muted, fontsize=size)
        return
    axes.set_xticks([])
    label = clean(shown.stack_metrics[sort]["label"])
    axes.set_title(f"{label}, highest to lowest from left to right", parse_math=False)
    for n, row in enumerate(rows):
        for at, head in enumerate(row.heads):
            text = axes.text(at + 0.5, n + 1 - cell.caption / 2, f"{head}", fontsize=size)
            text.set(color=palette.muted, ha="center", va="center")


class Cell:
    """The picture of one head in the picture of all: a thumbnail, and a bar of its colour below.

    Attributes:
        width, height: in pixels, with the gaps around it.
        middle, caption: the middle of its thumbnail, and the height of its caption, as shares.
    """

    def __init__(self, shown: Shown) -> None:
        stack = shown.current_stack
        counts = [min(len(side), THUMBNAIL_SIZE) for side in (stack.queries, stack.keys)]
        rows, columns = _cropped(shown, np.zeros(counts, np.uint8)).shape
        queries, keys = shown_tokens(stack, _segments(shown))
        aspect = 1.0 if shown.thumbnails == "lines" else len(keys) / len(queries)
        aspect = min(max(aspect, 1 / 3), 3)
        # Whole pixels per cell, so that all cells are alike.
        self.across = columns * max(1, round(THUMBNAIL_SIZE * min(1, aspect) / columns))
        self.down = rows * max(1, round(THUMBNAIL_SIZE / max(1, aspect) / rows))
        captioned = known_choices(shown)[0] != "model"
        below = sum(_BAR) + (_CAPTION if captioned else 0)
        self.width, self.height = self.across + _GAP, self.down + below + _GAP
        self.top = self.left = _GAP // 2
        self.middle = (self.top + self.down / 2) / self.height
        self.caption = (_CAPTION + _GAP / 2) / self.height

    def paint(
        self,
        place: NDArray[np.float64],
        levels: NDArray[np.uint8],
        ink: str,
        palette: Palette,
    ) -> None:
        """Into the pixels [height, width, 3] of a head."""
        paper, color = np.array(to_rgb(palette.paper)), np.array(to_rgb(ink))
        rows = np.arange(self.down) * levels.shape[0] // self.down
        columns = np.arange(self.across) * levels.shape[1] // self.across
        shares = levels[np.ix_(rows, columns)][..., None] / 15
        box = slice(self.left, self.left + self.across)
        place[self.top : self.top + self.down, box] = paper + (color - paper) * shares
        bar = self.top + self.down + _BAR[0]
        place[bar : bar + _BAR[1], box] = color

    def point(self, corner: tuple[int, int], x: float, y: float) -> tuple[float, float]:
        """A place in the thumbnail, in shares of it, in data coordinates."""
        return (
            corner[0] + (self.left + x * self.across) / self.width,
            corner[1] + (self.top + y * self.down) / self.height,
        )


def _add_lines(
    axes: Axes, levels: NDArray[np.uint8], corner: tuple[int, int], cell: Cell, ink: str
) -> None:
    rows, columns = levels.shape
    flat = levels.ravel().astype(np.intp)
    strongest = np.argsort(-flat, kind="stable")[:_LINES]
    paths, colors = [], []
    for at in np.sort(strongest[flat[strongest] > 0]):
        row, column = divmod(int(at), columns)
        start, end = (row + 0.5) / rows, (column + 0.5) / columns
        points = ((0, start), (1 / 3, start), (2 / 3, end), (1, end))
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        paths.append(Path([cell.point(corner, *point) for point in points], codes))
        colors.append(to_rgba(ink, float(flat[at] / 15) ** 1.5))
    curves = PathCollection(paths, facecolors="none", edgecolors=colors, linewidths=0.6)
    axes.add_collection(curves, autolim=False)


def _means(
    axes: Axes,
    rows: Sequence[LayerRow],
    shown: Shown,
    cell: Cell,
    palette: Palette,
    unit: float,
) -> None:
    """Bars that start at zero and share one scale, for the rows and for the columns."""
    _, _, metric = known_choices(shown)
    table = [values_of(metric, row, shown) for row in rows]
    count = max(map(len, table))
    columns = [[values[at] for values in table if at < len(values)] for at in range(count)]
    bars: list[tuple[tuple[float, float], tuple[float, float]]] = []
    tracks: list[tuple[tuple[float, float], tuple[float, float]]] = []

    def bar(x: float, y: float, length: float, value: float, values: Sequence[float]) -> None:
        known = [each for each in (0, *values) if not math.isnan(each)]
        lowest, highest = min(known), max(known)
        value = 0 if math.isnan(value) else value
        scale = length / ((highest - lowest) or 1)
        tracks.append(((x, y), (x + length, y)))
        bars.append(((x - lowest * scale, y), (x + (value - lowest) * scale, y)))

    # Four letters below a thumbnail.
    size = font_size(unit / (4 * LETTER))
    look: dict[str, Any] = {"fontsize": size, "color": palette.muted, "va": "center"}
    by_row = [_mean(values) for values in table]
    for n, value in enumerate(by_row):
        y = n + cell.middle
        bar(count + 0.15, y, 0.5, value, by_row)
        axes.text(count + 0.75, y, brief(metric, value), **look)
    by_column = [_mean(values) for values in columns]
    y = len(rows) + 0.1
    row = unit * cell.height / cell.width
    below = y + (size + 3) / row
    for at, value in enumerate(by_column):
        bar(at + 0.1, y, 0.8, value, by_column)
        if size * 4 * LETTER <= unit:
            axes.text(at + 0.5, below, brief(metric, value), ha="center", **look)
            axes.set_ylim(below + size / row, 0)
    axes.text(count + 0.15, y, f"mean {clean(metric['name'])}", **look, **PLAIN)
    for segments, color in ((tracks, palette.border), (bars, palette.muted)):
        lines = LineCollection(segments, colors=color, linewidths=min(3, 0.06 * unit))
        lines.set_capstyle("butt")
        axes.add_collection(lines, autolim=False)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _mark(axes: Axes, shown: Shown, rows: Sequence[LayerRow], palette: Palette) -> None:
    for n, row in enumerate(rows):
        if row.layer is shown.current_layer and shown.head in row.heads:
            corner = row.heads.index(shown.head) + 0.01, n + 0.01
            style = "round,pad=0,rounding_size=0.06"
            frame = FancyBboxPatch(corner, 0.98, 0.98, style)
            frame.set(facecolor="none", edgecolor=palette.accent, linewidth=2, clip_on=False)
            axes.add_patch(frame)


def metric_of(shown: Shown, metric: str | ArrayLike) -> tuple[NDArray[np.float64], bool, str]:
    """(numbers [layers, heads], if they are signed, their name); NaN where a layer has fewer heads.

    Raises:
        ValueError: there is no such number, or an array has another shape.
    """
    stack = shown.current_stack
    heads = max(layer.num_heads for layer in stack.layers)
    if isinstance(metric, str):
        there = shown.stack_metrics
        if metric not in there:
            raise ValueError(f"no metric {metric!r}; there are {', '.join(there)}")
        values = np.full((len(stack.layers), heads), np.nan)
        for n, row in enumerate(all_layers(shown)):
            values[n, : row.layer.num_heads] = values_of(there[metric], row, shown)
        label, unit = there[metric]["label"], there[metric]["unit"]
        return values, there[metric]["signed"], f"{label} ({unit})" if unit else label
    values = np.asarray(metric, np.float64)
    if values.shape != (len(stack.layers), heads):
        raise ValueError(
            f"metric has the shape {list(values.shape)}; expected [layers, heads], which is "
            f"{[len(stack.layers), heads]}"
        )
    return values, bool((values < 0).any()), ""


def draw_metric(
    axes: Axes, shown: Shown, values: NDArray[np.float64], signed: bool, name: str
) -> None:
    """A number of every head, layers × heads; NaN where a layer has fewer heads."""
    palette = palette_of(axes)
    found = values[np.isfinite(values)]
    if signed and len(found):
        most = float(np.abs(found).max()) or 1.0
        cmap: Colormap = diverging(palette)
        norm = Normalize(-most, most)
    else:
        steps = [ramp(n / 255, palette.dark) for n in range(256)]
        cmap, norm = ListedColormap(steps), Normalize()
    image = axes.imshow(
        np.ma.masked_invalid(values), cmap=cmap, norm=norm, aspect="auto", interpolation="none"
    )
    axes.grid(visible=False)
    axes.figure.colorbar(image, ax=axes, label=name)
    numbers = shown.current_stack.numbers
    _, height = size_in_points(axes)
    every = max(1, round(1.3 * font_size() / (height / len(numbers))))
    axes.set_yticks(range(0, len(numbers), every), labels=[f"{n}" for n in numbers[::every]])
    axes.set(xlabel="head", ylabel="layer")


def _segments(shown: Shown) -> str:
    """The segments chosen, as far as thumbnails show them apart."""
    stack = shown.current_stack
    apart = stack.queries.split is not None and stack.keys.split is not None
    return shown.segments if apart else "all"


def _cropped(shown: Shown, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    segments, stack = _segments(shown), shown.current_stack
    if segments == "all":
        return levels

    def cells(tokens: Tokens, count: int, text: str) -> slice:
        assert tokens.split is not None
        first = split_cells(count, tokens.split, len(tokens))
        return slice(0, first) if text == "a" else slice(first, count)

    rows = cells(stack.queries, levels.shape[0], segments[0])
    return levels[rows, cells(stack.keys, levels.shape[1], segments[1])]


def _notes(shown: Shown) -> list[str]:
    stack, notes = shown.current_stack, []
    if shown.thumbnails == "lines":
        notes.append(f"of each head up to {_LINES} lines, the strongest")
    sampled = sampled_rows(len(stack.queries))
    if sampled is not None:
        notes.append(f"pictures and numbers from {sampled:,} of {len(stack.queries):,} queries")
    if shown.segments != "all" and is_pair(stack):
        whole = "pictures and numbers are" if _segments(shown) == "all" else "numbers are"
        notes.append(f"{whole} of whole heads")
    return notes
