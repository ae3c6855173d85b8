"""Numbers and colours of heads in the model view."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from matplotlib.colors import Normalize, to_hex
from numpy.typing import NDArray

from attnwidget.analysis import sampled_rows, score_refusal
from attnwidget.analysis.thumbnails import signed_cells
from attnwidget.record import Layer, Stack
from attnwidget.record.rows import spread_rows
from attnwidget.wire import SentMetric, decode_overview

from .colors import Palette, diverging, layer_color, ramp
from .shown import Shown
from .text import clean, fixed, number

# The colour of every head, by row; and the (colour, label) entries of a legend.
Coloring = tuple[list[list[str]], list[tuple[str, str]]]


@dataclass(frozen=True)
class LayerRow:
    """One layer of the model view, and its heads from left to right.

    Attributes:
        place: of the layer in its stack.
        patterns: the index of every head's pattern among the manifest's kinds.
        levels: the thumbnail of every head, in levels 0 to 15.
        scored: True if they are of scores, -15 to 15 up to the head's largest |score|.
    """

    layer: Layer
    place: int
    heads: Sequence[int]
    patterns: Sequence[int]
    levels: Sequence[NDArray[np.integer]]
    scored: bool = False


def layer_rows(shown: Shown) -> list[LayerRow]:
    """The included layers and heads, sorted as chosen; all of them if none is included."""
    layers, heads = shown.include_layers, shown.include_heads
    return _included_rows(shown, layers, heads) or _included_rows(shown, None, None)


def _included_rows(
    shown: Shown, layers: Sequence[int] | None, heads: Sequence[int] | None
) -> list[LayerRow]:
    sort = shown.stack_metrics.get(shown.sort)
    rows = []
    for row in all_layers(shown):
        included = [head for head in row.heads if heads is None or head in heads]
        if sort is not None:
            values = dict(zip(row.heads, metric_values(sort, row, shown), strict=True))
            included.sort(key=lambda head: (math.isnan(values[head]), -values[head], head))
        if included and (layers is None or row.layer.number in layers):
            rows.append(replace(row, heads=included))
    return rows


def all_layers(shown: Shown) -> list[LayerRow]:
    """Every layer of the stack, with all heads in the model's order."""
    manifest, packed = shown.encoded_overview
    patterns = manifest["patterns"]["values"][shown.stack_name]
    thumbnails = decode_overview(shown.record, manifest, packed)[shown.stack_name]
    if shown.lens == "values":
        # Layers without norms of values keep those of attention.
        weighted = decode_overview(shown.record, manifest, packed, lens="values")[shown.stack_name]
        thumbnails = [own or plain for own, plain in zip(weighted, thumbnails, strict=True)]
    # Scores are of a single text, and layers of weights alone have none.
    scored = shown.lens == "scores" and shown.num_texts is None
    return [
        LayerRow(
            layer,
            place,
            range(layer.num_heads),
            patterns[place],
            _score_levels(shown.current_stack, layer) if own else thumbnails[place],
            own,
        )
        for place, layer in enumerate(shown.current_stack.layers)
        for own in (scored and score_refusal(layer) is None,)
    ]


def _score_levels(stack: Stack, layer: Layer) -> list[NDArray[np.integer]]:
    """The thumbnails of a layer's scores, from the queries that other thumbnails read."""
    count = len(stack.queries)
    rows = spread_rows(count, sampled_rows(count) or count)
    levels: list[NDArray[np.integer]] = []
    for head in range(layer.num_heads):
        cells = signed_cells(stack, partial(layer.head_scores, head), rows)
        roots = np.sqrt(np.abs(cells) / (float(np.abs(cells).max()) or 1))
        levels.append((np.sign(cells) * np.round(15 * roots)).astype(np.int8))
    return levels


def metric_values(metric: SentMetric, row: LayerRow, shown: Shown) -> list[float]:
    """The metric of every head of a row, from left to right; NaN for no value."""
    values = metric["values"][shown.stack_name][row.place]
    return [math.nan if (value := values[head]) is None else value for head in row.heads]


def valid_choices(shown: Shown) -> tuple[str, str, SentMetric]:
    """(sort, color, metric): the choices, or defaults where the stack lacks them, and the metric
    that is shown."""
    metrics = shown.stack_metrics
    sort = shown.sort if shown.sort in metrics else "model"
    color = shown.color if shown.color in ("pattern", "layer", *metrics) else "pattern"
    metric = metrics.get(color) or metrics.get(sort) or next(iter(metrics.values()))
    return sort, color, metric


def brief(metric: SentMetric, value: float) -> str:
    """Format a value for a narrow column: with at most two decimals, unless they would be zero."""
    digits = metric["digits"]
    return (
        "\u2013" if math.isnan(value) else number(value, digits if digits > 3 else min(digits, 2))
    )


def of_means(metric: SentMetric, means: Sequence[float]) -> SentMetric:
    """The metric with the digits of its means: means of whole numbers have three significant."""
    largest = max((abs(mean) for mean in means if not math.isnan(mean)), default=0)
    if metric["digits"] or not largest:
        return metric
    return {**metric, "digits": max(0, 2 - math.floor(math.log10(largest)))}


def in_full(metric: SentMetric, value: float) -> str:
    """Format a value with its unit, and with the direction that its sign stands for."""
    if math.isnan(value):
        return "no value"
    digits, directions = metric["digits"], metric["directions"]
    small = 0 < value < 0.5 * 10**-digits
    words = [f"<{fixed(10**-digits, digits)}" if small else number(value, digits), metric["unit"]]
    if directions is not None and float(fixed(value, digits)) != 0:
        words.append(f"({directions[0 if value < 0 else 1]})")
    return " ".join(filter(None, words))


def head_inks(shown: Shown, rows: Sequence[LayerRow], palette: Palette) -> Coloring:
    """The colour of every head, as chosen, and its legend."""
    _, color, metric = valid_choices(shown)
    if color == "pattern":
        return _pattern_inks(shown, rows, palette)
    if color == "layer":
        # The number beside each row has the same colour, so there is no legend.
        return [[layer_color(row.place, palette.dark)] * len(row.heads) for row in rows], []
    return _metric_inks(metric, [metric_values(metric, row, shown) for row in rows], palette)


def _pattern_inks(shown: Shown, rows: Sequence[LayerRow], palette: Palette) -> Coloring:
    kinds = shown.encoded_overview[0]["patterns"]["kinds"]
    patterns = [[row.patterns[head] for head in row.heads] for row in rows]
    counts = Counter(pattern for row in patterns for pattern in row)
    legend = [
        (palette.patterns[pattern], f"{count} {kinds[pattern]['label']}")
        for pattern, count in counts.most_common()
    ]
    return [[palette.patterns[pattern] for pattern in row] for row in patterns], legend


def _metric_inks(
    metric: SentMetric, values: Sequence[Sequence[float]], palette: Palette
) -> Coloring:
    flat = [value for row in values for value in row]
    finite = [value for value in flat if not math.isnan(value)] or [0.0]
    lowest, highest = min(finite), max(finite)
    if metric["signed"]:
        highest = max(abs(lowest), abs(highest))
        lowest = -highest
    # If all values are zero, a signed metric has the middle colour.
    if metric["signed"] and highest == 0:
        scale = Normalize(-1, 1)
    else:
        scale = Normalize(lowest, highest if highest > lowest else lowest + 1)
    colormap = diverging(palette, palette.neutral) if metric["signed"] else ramp(palette.dark)

    def ink(value: float) -> str:
        return palette.border if math.isnan(value) else to_hex(colormap(float(scale(value))))

    middle = (lowest + highest) / 2
    legend = [
        (ink(lowest), f"{clean(metric['label'])} {in_full(metric, lowest)}"),
        (ink(middle), in_full(metric, middle)),
        (ink(highest), in_full(metric, highest)),
    ]
    if len(finite) < len(flat):
        legend.append((palette.border, "no value"))
    return [[ink(value) for value in row] for row in values], legend
