"""Numbers and colours of heads in the model view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import METRICS, summarize_heads
from attnwidget.record import Layer, Stack
from attnwidget.wire import decode_overview

from .colors import Palette, layer_color, ramp
from .shown import Shown
from .text import number, weight

PATTERN_NAMES = {
    "previous": "previous token",
    "same": "same token",
    "next": "next token",
    "special": "special tokens",
    "first": "first token",
    "mixed": "mixed",
}
# In this order, so that [CLS], which is both first and special, counts as special.
_NAMED = ("previous", "same", "next", "special", "first")


@dataclass(frozen=True)
class LayerRow:
    """A layer, its heads from left to right, and what is known of all its heads.

    Attributes:
        measures: by measure, a number per head of the layer.
        levels: per head, the thumbnail's levels 0 to 15.
    """

    layer: Layer
    heads: Sequence[int]
    measures: Mapping[str, Sequence[float]]
    levels: Sequence[NDArray[np.uint8]]

    def values(self, measure: str) -> list[float]:
        """The number of every head, from left to right."""
        return [self.measures[measure][head] for head in self.heads]


def layer_rows(shown: Shown) -> list[LayerRow]:
    """The layers and heads that are chosen, sorted as chosen; all of them if none is there."""
    layers, heads = shown.include_layers, shown.include_heads
    sort, _, _ = known_choices(shown)
    every = all_layers(shown)
    rows = []
    for row in every:
        drawn = [head for head in row.heads if heads is None or head in heads]
        if sort != "model":
            drawn.sort(key=lambda head: (-row.measures[sort][head], head))
        if drawn and (layers is None or row.layer.number in layers):
            rows.append(LayerRow(row.layer, drawn, row.measures, row.levels))
    return rows or every


def all_layers(shown: Shown) -> list[LayerRow]:
    """Every layer of the stack, with all heads as the model has them."""
    stack = shown.current_stack
    rows = []
    if shown.overview is None:
        for layer in stack.layers:
            heads = summarize_heads(stack, layer)
            measures: Mapping[Any, list[float]] = {
                name: [head.metrics[name] for head in heads] for name in METRICS
            }
            levels = [head.levels for head in heads]
            rows.append(LayerRow(layer, range(layer.num_heads), measures, levels))
        return rows
    manifest, packed = shown.overview
    name = shown.stack or shown.record.stacks[0]
    sent = manifest["stacks"][shown.record.stacks.index(name)]["layers"]
    found = decode_overview(shown.record, packed)[name]
    for layer, info, levels in zip(stack.layers, sent, found, strict=True):
        rows.append(LayerRow(layer, range(layer.num_heads), info["measures"], levels))
    return rows


def is_self(stack: Stack) -> bool:
    """Whether there is a same, a next and a previous token: not where the keys are another text."""
    return stack.queries == stack.keys


def measures_of(stack: Stack) -> Sequence[str]:
    return METRICS if is_self(stack) else ("entropy", "first", "special")


def known_choices(shown: Shown) -> tuple[str, str, str]:
    """(sort, color, measure): the choices as far as the stack has them, and the number shown."""
    there = measures_of(shown.current_stack)
    sort = shown.sort if shown.sort in there else "model"
    color = shown.color if shown.color in ("pattern", "layer", *there) else "pattern"
    if color not in ("pattern", "layer"):
        return sort, color, color
    return sort, color, "entropy" if sort == "model" else sort


def pattern_of(measures: Mapping[Any, Sequence[float]], head: int, stack: Stack) -> str:
    """The kind of token that gets at least half of the attention; "mixed" where none does."""
    named = _NAMED if is_self(stack) else ("special", "first")
    best = max(named, key=lambda name: measures[name][head])
    return best if measures[best][head] >= 0.5 else "mixed"


def long_name(measure: str) -> str:
    if measure == "entropy":
        return measure
    if measure == "distance":
        return "mean distance"
    return f"share on {measure} {'tokens' if measure == 'special' else 'token'}"


def unit_of(measure: str) -> str:
    return {"entropy": "nats", "distance": "tokens"}.get(measure, "")


def brief(measure: str, value: float) -> str:
    return number(value, 1 if measure == "distance" else 2)


def measured(measure: str, value: float) -> str:
    """The value with its unit."""
    if unit_of(measure):
        return f"{brief(measure, value)} {unit_of(measure)}"
    return weight(value)


def head_inks(
    shown: Shown, rows: Sequence[LayerRow], palette: Palette
) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The colour of every head by row, and (colour, words) of a legend."""
    stack, (_, color, _) = shown.current_stack, known_choices(shown)
    if color == "pattern":
        patterns = [[pattern_of(row.measures, h, stack) for h in row.heads] for row in rows]
        counts = Counter(pattern for line in patterns for pattern in line)
        legend = [
            (str(getattr(palette, pattern)), f"{count} {PATTERN_NAMES[pattern]}")
            for pattern, count in counts.most_common()
        ]
        return [[str(getattr(palette, pattern)) for pattern in line] for line in patterns], legend
    if color == "layer":
        # The number beside each row has the same colour.
        inks = [layer_color(stack.numbers.index(r.layer.number), palette.dark) for r in rows]
        return [[ink] * len(row.heads) for ink, row in zip(inks, rows, strict=True)], []
    values = [row.values(color) for row in rows]
    lowest, highest = min(map(min, values)), max(map(max, values))
    whole = (highest - lowest) or 1
    legend = [
        (ramp(0, palette.dark), f"{long_name(color)} {measured(color, lowest)}"),
        (ramp(0.5, palette.dark), measured(color, (lowest + highest) / 2)),
        (ramp(1, palette.dark), measured(color, highest)),
    ]
    return [[ramp((v - lowest) / whole, palette.dark) for v in line] for line in values], legend
