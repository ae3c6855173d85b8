"""Scores of heads, and of grids over layers, heads and positions, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnwidget.analysis import GridScores, HeadScores
from attnwidget.analysis.head_scores import null_range
from attnwidget.analysis.metrics import Numbers
from attnwidget.counted import counted

from .lines import Block, beside, fitted, missing_block, number, one_line, wrapped

_HEADS, _MORE_HEADS = 8, 24
_CELLS, _MORE_CELLS, _ENTRIES = 8, 24, 12


def describe_scores(scores: HeadScores) -> str:
    """Say what was measured of heads, the largest numbers, and how many lie outside the null's."""
    null = f"beside {one_line(scores.null_label or 'a null')}" if scores.null else "no null"
    said = [
        f"{scores.name} of heads, of {one_line(scores.measured_on or 'what is not said')}; {null}.",
        one_line(scores.description, 600),
    ]
    blocks = [Block("The scores", 0, said), missing_block(scores.missing)]
    for stack in scores.rows:
        outside, more = ([*_heads(scores, stack, count)] for count in (_HEADS, _MORE_HEADS))
        blocks.append(Block(f"stack {stack}", 1, outside, more))
    return fitted(blocks)


def _heads(scores: HeadScores, stack: str, count: int) -> Iterator[str]:
    ranking = scores.ranking(stack)
    found = f"Stack {stack}, {counted(len(ranking), 'head')}"
    bands = {}
    if scores.null:
        bands = {layer: scores.band(stack, layer=layer) for layer in scores.layers(stack)}
        above = sum(head.value > bands[head.layer][1] for head in ranking)
        below = sum(head.value < bands[head.layer][0] for head in ranking)
        found += f", {above} above and {below} below 95% of the null of their layer"
    entries = []
    for layer, head, value in ranking[:count]:
        ends = [number(end, 3) for end in bands.get(layer, ())]
        band = f" ({' to '.join(ends)})" if ends else ""
        entries.append(f"{layer}-{head} {number(value, 3)}{band}")
    yield from wrapped(f"{found}; largest:", entries, most=12)


def describe_grid(scores: GridScores) -> str:
    """Say what a grid holds, and its largest cells, rows and columns, beside its null."""
    first, about, *cells = grid_lines(scores)
    null = "no null"
    if null_range(scores.null) is not None:
        null = f"beside {one_line(scores.null_label or 'a null')}"
    first = f"{first.rstrip('.')}; {len(scores.rows)} × {len(scores.columns)} cells; {null}."
    return fitted(
        [
            Block("The grid", 0, [first, about]),
            missing_block(scores.missing),
            Block("cells", 1, cells, _cells(scores, _MORE_CELLS, most=12)),
            Block("rows", 2, _means(scores, 1)),
            Block("columns", 2, _means(scores, 0)),
        ]
    )


def grid_lines(scores: GridScores) -> Iterator[str]:
    """The cells of a grid with the largest numbers, beside those of its null."""
    of_rows, of_columns = scores.axes
    across = f", {of_columns}s from left to right" if of_columns else ""
    yield f"Grid: {scores.name} at {scores.site}, {of_rows}s from top to bottom{across}."
    yield one_line(f"{scores.description}; of {scores.measured_on}.", 600)
    yield from _cells(scores, _CELLS, most=4)


def _cells(scores: GridScores, count: int, *, most: int) -> list[str]:
    null = np.full(scores.values.shape, np.nan) if scores.null is None else scores.null
    entries = []
    for at in _largest(scores.values.ravel(), count):
        cell = divmod(at, len(scores.columns))
        said = _said(scores, scores.values[cell], null[cell])
        entries.append(f"{one_line(scores.place(*cell))} {said}")
    lead = f"Largest of {counted(int(np.isfinite(scores.values).sum()), 'cell')}"
    ends = null_range(scores.null)
    if ends is not None:
        lead += f" (95% of {scores.null_label}: {number(ends[0], 3)} to {number(ends[1], 3)})"
    return wrapped(f"{lead}:", entries, most=most)


def _means(scores: GridScores, axis: int) -> list[str]:
    """The rows (axis 1), or columns (axis 0), whose mean over the other axis is largest."""
    if 1 in scores.values.shape:
        return []
    what, over = scores.axes if axis else scores.axes[::-1]
    labels = scores.rows if axis else scores.columns
    means = _mean(scores.values, axis)
    null = np.full(len(means), np.nan) if scores.null is None else _mean(scores.null, axis)
    entries = []
    for at in _largest(means, _ENTRIES):
        place = f"{at} " if what == "position" and labels[at] != str(at) else ""
        entries.append(f"{place}{one_line(labels[at])} {_said(scores, means[at], null[at])}")
    return wrapped(f"Mean over {over}s, largest {what}s:", entries, most=3)


def _largest(values: Numbers, count: int) -> list[int]:
    """The places of the known numbers that are largest in magnitude, the first first."""
    order = np.argsort(-np.nan_to_num(np.abs(values), nan=-np.inf), kind="stable")
    return [int(at) for at in order[:count] if np.isfinite(values[at])]


def _mean(values: Numbers, axis: int) -> Numbers:
    """The means of the numbers that are known; NaN where there are none."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0).sum(axis), known.sum(axis)
    means: Numbers = np.where(count, total / np.maximum(count, 1), np.nan)
    return means


def _said(scores: GridScores, value: float, null: float) -> str:
    unit = f" {scores.unit}" if scores.unit else ""
    return f"{number(value, 3)}{unit}{beside('null', null, 3)}"
