"""The model view as a figure: every head's thumbnail, with the means of a number beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.lens import MEASURES, sampled_rows, survey
from attnwidget.lens.thumbnail import split_cells
from attnwidget.record import Layer, Tokens
from attnwidget.wire import decode_overview

from .colors import mixed
from .content import Content, shown_tokens
from .head import MARGIN, head_part, small_print
from .measures import brief, coloring, known, long_name
from .scene import Layout, Scene
from .text import text_width

_LEFT = 52
_TOP = 36
_ROOM = 1200
_SUMMARY = 104
_LARGEST = 200
_SMALLEST = 32
# Of all pictures, as far as they can be told apart: a figure is for a page.
_HEIGHT = 1200
_GAPS = (4, 12)
_BAR = 6
_CAPTION = 15
_NUMBER = 20
# Of the curves of a head, so many of the strongest are drawn.
_CURVES = 160


Surveyed = tuple[Mapping[Any, Sequence[float]], Sequence[NDArray[np.uint8]]]


@dataclass(frozen=True)
class Row:
    """A layer, its heads from left to right, and what is known of all its heads.

    Attributes:
        measures: by measure, a number per head of the layer.
        levels: per head, the thumbnail's levels 0 to 15.
    """

    layer: Layer
    heads: Sequence[int]
    measures: Mapping[Any, Sequence[float]]
    levels: Sequence[NDArray[np.uint8]]


def model_scene(content: Content) -> Scene:
    scene = Scene(0, 0, content.palette.background)
    layout = Layout(scene.shapes, MARGIN, MARGIN)
    rows = _rows(content)
    queries, keys = shown_tokens(content.stack, _segments(content))
    lines = content.choices["thumbnails"] == "lines"
    aspect = 1.0 if lines else min(max(len(keys) / len(queries), 1 / 3), 3)
    sort, color, measure = known(content)
    columns = max(len(row.heads) for row in rows)
    largest = min(max(_HEIGHT / len(rows), _SMALLEST), _LARGEST)
    fitting = (_ROOM - _LEFT - _SUMMARY) / columns
    gap = min(max(2 * int(fitting // 16), _GAPS[0]), _GAPS[1])
    pitch = max(_SMALLEST + gap, min(largest + gap, fitting))
    across = int(min(pitch - gap, largest * aspect))
    down = math.floor(across / aspect + 0.5)
    step = across + gap
    below = _BAR + (_CAPTION if sort != "model" else 0)
    row_pitch = max(down + below + max(gap - 4, 6), _NUMBER)
    width: float = _LEFT + columns * step + _SUMMARY

    paint = coloring(content, rows, color)
    palette = content.palette
    _column_names(layout, content, rows, sort, step, measure, width)
    for n, row in enumerate(rows):
        y = _TOP + n * row_pitch
        number = layout.at(_LEFT / 2, y + down / 2)
        number.text(0, 0, f"{row.layer.number}", 12, palette.muted, anchor="middle")
        for column, head in enumerate(row.heads):
            x = _LEFT + column * step + gap / 2
            ink = paint.of(row, head)
            place = layout.at(x, y)
            levels = _cropped(content, row.levels[head])
            _thumbnail(place, content, levels, (across, down), ink, lines)
            place.rect(4, down + 3, across - 8, 2.5, fill=ink)
            if sort != "model":
                place.text(across / 2, down + 14, f"{head}", 11, palette.muted, anchor="middle")
            if row.layer is content.layer and head == content.head:
                place.rect(
                    *(-2.5, -2.5, across + 5, down + below + 5),
                    stroke=palette.accent,
                    line=2.5,
                    radius=6,
                )
    bottom: float = _TOP + len(rows) * row_pitch
    _means(layout, content, rows, measure, (across, down, step, row_pitch), width, bottom)
    bottom = _legend(layout, paint.legend, bottom + 48, content)
    if content.choices["opened"] and any(
        row.layer is content.layer and content.head in row.heads for row in rows
    ):
        alone = {**content.choices, "heads": [content.head], "combine": "none"}
        alone["orientation"] = "vertical"
        part = layout.at(0, bottom + 30)
        opened = head_part(replace(content, choices=alone), part, notes=False)
        width, bottom = max(width, opened[0]), bottom + 30 + opened[1]
    notes = [_notes(content), content.record.model]
    scene.width = width + 2 * MARGIN
    scene.height = small_print(layout, width, bottom - 8, notes, content) + 2 * MARGIN
    return scene


def _rows(content: Content) -> list[Row]:
    choices, stack = content.choices, content.stack
    sort, _, _ = known(content)

    def has(name: str, number: int) -> bool:
        return choices[name] is None or number in choices[name]

    surveyed = _surveyed(content)
    rows = []
    for layer, (measures, levels) in zip(stack.layers, surveyed, strict=True):
        heads = [head for head in range(layer.num_heads) if has("include_heads", head)]
        if sort != "model":
            heads.sort(key=lambda head: (-measures[sort][head], head))
        if heads and has("include_layers", layer.number):
            rows.append(Row(layer, heads, measures, levels))
    if rows:
        return rows
    every = {**choices, "include_layers": None, "include_heads": None}
    return _rows(replace(content, choices=every))


def _surveyed(content: Content) -> list[Surveyed]:
    """Per layer of the stack, its measures and thumbnails."""
    if content.overview is None:
        found = [survey(content.stack, layer) for layer in content.stack.layers]
        return [
            (
                {name: [head.measures[name] for head in heads] for name in MEASURES},
                [head.levels for head in heads],
            )
            for heads in found
        ]
    manifest, packed = content.overview
    names = content.record.stacks
    sent = manifest["stacks"][names.index(content.stack_name)]["layers"]
    levels = decode_overview(content.record, packed)[content.stack_name]
    return [(info["measures"], own) for info, own in zip(sent, levels, strict=True)]


def _segments(content: Content) -> str:
    """The segments chosen, as far as thumbnails show them apart."""
    stack = content.stack
    apart = stack.queries.split is not None and stack.keys.split is not None
    return str(content.choices["segments"]) if apart else "all"


def _cropped(content: Content, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    segments = _segments(content)
    if segments == "all":
        return levels

    def cells(tokens: Tokens, count: int, text: str) -> slice:
        assert tokens.split is not None
        first = split_cells(count, tokens.split, len(tokens))
        return slice(0, first) if text == "a" else slice(first, count)

    rows = cells(content.stack.queries, levels.shape[0], segments[0])
    return levels[rows, cells(content.stack.keys, levels.shape[1], segments[1])]


def _thumbnail(
    place: Layout,
    content: Content,
    levels: NDArray[np.uint8],
    size: tuple[float, float],
    ink: str,
    lines: bool,
) -> None:
    across, down = size
    paper = content.palette.paper
    rows, columns = levels.shape
    if not lines:
        table = np.array([list(bytes.fromhex(mixed(paper, ink, n / 15))) for n in range(16)])
        pixels = table.astype(np.uint8)[levels].tobytes().hex()
        place.cells(0, 0, across, down, columns, pixels)
        return
    place.rect(0, 0, across, down, fill=paper, radius=4)
    flat = levels.ravel().astype(np.intp)
    strongest = np.argsort(-flat, kind="stable")[:_CURVES]
    width = min(1.0, down / max(rows, columns) / 3)
    for at in np.sort(strongest[flat[strongest] > 0]):
        row, column = divmod(int(at), columns)
        start, end = (row + 0.5) / rows * down, (column + 0.5) / columns * down
        opacity = float(flat[at] / 15) ** 1.5
        place.bend(0, start, across, end, ink, width, opacity=opacity)


def _column_names(
    layout: Layout,
    content: Content,
    rows: Sequence[Row],
    sort: str,
    step: float,
    measure: str,
    width: float,
) -> None:
    muted = content.palette.muted
    middle = (_TOP - 6) / 2
    if sort == "model":
        layout.text(_LEFT - 6, middle - 7, "head →", 12, muted, anchor="end")
        layout.text(_LEFT - 6, middle + 8, "layer ↓", 12, muted, anchor="end")
        longest = max((row.heads for row in rows), key=len)
        for column, head in enumerate(longest):
            x = _LEFT + (column + 0.5) * step
            layout.text(x, middle, f"{head}", 12, muted, anchor="middle")
    else:
        layout.text(_LEFT - 6, middle, "layer ↓", 12, muted, anchor="end")
        layout.text(_LEFT + 2, middle, f"{long_name(sort)}, highest → lowest", 12, muted)
    layout.text(width - _SUMMARY + 10, middle, f"mean {measure}", 12, muted)


def _means(
    layout: Layout,
    content: Content,
    rows: Sequence[Row],
    measure: str,
    sizes: tuple[float, float, float, float],
    width: float,
    bottom: float,
) -> None:
    """Bars that start at zero and share one scale, for the rows and for the columns."""
    across, down, step, row_pitch = sizes
    palette = content.palette
    table = [[row.measures[measure][head] for head in row.heads] for row in rows]
    longest = max(map(len, table))
    by_row = [sum(values) / len(values) for values in table]
    by_column = []
    for column in range(longest):
        values = [line[column] for line in table if column < len(line)]
        by_column.append(sum(values) / len(values))

    def bar(place: Layout, value: float, values: Sequence[float], length: float) -> None:
        lowest, highest = min(0, *values), max(0, *values)
        whole = (highest - lowest) or 1
        start = (min(0, value) - lowest) / whole * length
        place.rect(0, -2, length, 4, fill=palette.border, radius=2)
        place.rect(start, -2, abs(value) / whole * length, 4, fill=palette.muted, radius=2)

    for n, value in enumerate(by_row):
        place = layout.at(width - _SUMMARY + 10, _TOP + n * row_pitch + down / 2)
        bar(place, value, by_row, 52)
        place.text(60, 0, brief(measure, value), 12, palette.muted)
    for n, word in enumerate(("mean", measure)):
        layout.text(_LEFT - 6, bottom + 6 + 14 * n, word, 12, palette.muted, anchor="end")
    for n, value in enumerate(by_column):
        place = layout.at(_LEFT + n * step + (step - across) / 2, bottom + 6)
        bar(place, value, by_column, across)
        if step >= 34:
            place.text(across / 2, 13, brief(measure, value), 12, palette.muted, anchor="middle")


def _legend(
    layout: Layout, legend: Sequence[tuple[str | None, str]], y: float, content: Content
) -> float:
    """Squares of colours with what they say; returns what is below them."""
    x = 0.0
    for color, words in legend:
        if color is not None:
            layout.rect(x, y - 5, 10, 10, fill=color)
            x += 14
        layout.text(x, y, words, 12, content.palette.muted)
        x += text_width(words, 12) + (16 if words and color is not None else 4)
    return y + 8


def _notes(content: Content) -> str:
    parts = []
    if content.choices["thumbnails"] == "lines":
        parts.append(f"of each head up to {_CURVES} lines, the strongest")
    sampled = sampled_rows(len(content.stack.queries))
    if sampled is not None:
        parts.append(
            f"pictures and numbers from {sampled:,} of {len(content.stack.queries):,} queries"
        )
    pair = content.stack.queries.segments is not None and content.stack.keys.segments is not None
    if content.choices["segments"] != "all" and pair:
        whole = "pictures and numbers are" if _segments(content) == "all" else "numbers are"
        parts.append(f"{whole} of whole heads")
    return " · ".join(parts)
