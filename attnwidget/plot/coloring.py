"""Numbers and colours of heads in the model view."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Layer
from attnwidget.wire import SentMetric, decode_overview

from .colors import Palette, diverging_ramp, layer_color, ramp
from .shown import Shown
from .text import clean, fixed, number


@dataclass(frozen=True)
class LayerRow:
    """A layer, and its heads from left to right.

    Attributes:
        place: of the layer in its stack.
        patterns: per head of the layer, the place of its kind in the manifest.
        levels: per head, the thumbnail's levels 0 to 15.
    """

    layer: Layer
    place: int
    heads: Sequence[int]
    patterns: Sequence[int]
    levels: Sequence[NDArray[np.uint8]]


def layer_rows(shown: Shown) -> list[LayerRow]:
    """The layers and heads that are chosen, sorted as chosen; all of them if none is there."""
    layers, heads = shown.include_layers, shown.include_heads
    sort = shown.stack_metrics.get(shown.sort)
    every = all_layers(shown)
    rows = []
    for row in every:
        drawn = [head for head in row.heads if heads is None or head in heads]
        if sort is not None:
            values = dict(zip(row.heads, values_of(sort, row, shown), strict=True))
            drawn.sort(key=lambda head: (math.isnan(values[head]), -values[head], head))
        if drawn and (layers is None or row.layer.number in layers):
            rows.append(replace(row, heads=drawn))
    return rows or every


def all_layers(shown: Shown) -> list[LayerRow]:
    """Every layer of the stack, with all heads as the model has them."""
    manifest, packed = shown.known_overview
    patterns = manifest["patterns"]["values"][shown.stack_name]
    thumbnails = decode_overview(shown.record, packed)[shown.stack_name]
    return [
        LayerRow(layer, place, range(layer.num_heads), patterns[place], thumbnails[place])
        for place, layer in enumerate(shown.current_stack.layers)
    ]


def values_of(metric: SentMetric, row: LayerRow, shown: Shown) -> list[float]:
    """The number of every head of a row, from left to right; NaN for no value."""
    values = metric["values"][shown.stack_name][row.place]
    found = (values[head] for head in row.heads)
    return [math.nan if value is None else value for value in found]


def known_choices(shown: Shown) -> tuple[str, str, SentMetric]:
    """(sort, color, metric): the choices as far as the stack has them, and the metric shown."""
    there = shown.stack_metrics
    sort = shown.sort if shown.sort in there else "model"
    color = shown.color if shown.color in ("pattern", "layer", *there) else "pattern"
    metric = there.get(color) or there.get(sort) or next(iter(there.values()))
    return sort, color, metric


def brief(metric: SentMetric, value: float) -> str:
    """The value alone, in as few digits as a narrow column holds."""
    return "\u2013" if math.isnan(value) else number(value, min(metric["digits"], 2))


def in_full(metric: SentMetric, value: float) -> str:
    """The value with its unit, and with the direction that its sign stands for."""
    if math.isnan(value):
        return "no value"
    digits, directions = metric["digits"], metric["directions"]
    small = 0 < value < 0.5 * 10**-digits
    text = f"<{fixed(10**-digits, digits)}" if small else number(value, digits)
    parts = [text, metric["unit"]]
    if directions is not None and float(fixed(value, digits)) != 0:
        parts.append(f"({directions[0 if value < 0 else 1]})")
    return " ".join(filter(None, parts))


def head_inks(
    shown: Shown, rows: Sequence[LayerRow], palette: Palette
) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The colour of every head by row, and (colour, words) of a legend."""
    _, color, metric = known_choices(shown)
    if color == "pattern":
        return _pattern_inks(shown, rows, palette)
    if color == "layer":
        # The number beside each row has the same colour.
        inks = [layer_color(row.place, palette.dark) for row in rows]
        return [[ink] * len(row.heads) for ink, row in zip(inks, rows, strict=True)], []
    return _metric_inks(metric, [values_of(metric, row, shown) for row in rows], palette)


def _pattern_inks(
    shown: Shown, rows: Sequence[LayerRow], palette: Palette
) -> tuple[list[list[str]], list[tuple[str, str]]]:
    kinds = shown.known_overview[0]["patterns"]["kinds"]
    patterns = [[row.patterns[head] for head in row.heads] for row in rows]
    counts = Counter(pattern for line in patterns for pattern in line)
    legend = [
        (palette.patterns[pattern], f"{count} {kinds[pattern]['label']}")
        for pattern, count in counts.most_common()
    ]
    return [[palette.patterns[pattern] for pattern in line] for line in patterns], legend


def _metric_inks(
    metric: SentMetric, values: Sequence[Sequence[float]], palette: Palette
) -> tuple[list[list[str]], list[tuple[str, str]]]:
    known = [value for line in values for value in line if not math.isnan(value)] or [0.0]
    lowest, highest = min(known), max(known)
    if metric["signed"]:
        highest = max(abs(lowest), abs(highest))
        lowest = -highest
    whole = (highest - lowest) or 1

    def ink(value: float) -> str:
        if math.isnan(value):
            return palette.border
        share = (value - lowest) / whole
        return diverging_ramp(share, palette) if metric["signed"] else ramp(share, palette.dark)

    middle = (lowest + highest) / 2
    legend = [
        (ink(lowest), f"{clean(metric['label'])} {in_full(metric, lowest)}"),
        (ink(middle), in_full(metric, middle)),
        (ink(highest), in_full(metric, highest)),
    ]
    if any(math.isnan(value) for line in values for value in line):
        legend.append((palette.border, "no value"))
    return [[ink(value) for value in line] for line in values], legend
