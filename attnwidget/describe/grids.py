"""A grid of layers, heads and positions in words: its largest cells, rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnwidget.analysis import GridScores
from attnwidget.analysis.metrics import Numbers
from attnwidget.counted import counted
from attnwidget.plot.heads import NULL_ENDS

from .lines import Block, fitted, number, one_line, wrapped
from .records import missing_block

_CELLS, _MORE_CELLS, _ENTRIES = 8, 24, 12


def describe_grid(scores: GridScores) -> str:
    """Say what a grid holds, and its largest cells, rows and columns, beside its null."""
    first, *_ = lines = [*grid_lines(scores)]
    null = f"beside {one_line(scores.null_label or 'a null')}" if _has_null(scores) else "no null"
    lines[0] = f"{first.rstrip('.')}; {len(scores.rows)} × {len(scores.columns)} cells; {null}."
    return fitted(
        [
            Block("The grid", 0, lines[:2]),
            missing_block(scores.missing),
            Block("cells", 1, lines[2:], [*_cells(scores, _MORE_CELLS, most=12)]),
            Block("rows", 2, [*_means(scores, 1)]),
            Block("columns", 2, [*_means(scores, 0)]),
        ]
    )


def grid_lines(scores: GridScores) -> Iterator[str]:
    """The cells of a grid with the largest numbers, beside those of its null."""
    of_rows, of_columns = scores.axes
    across = f", {of_columns}s from left to right" if of_columns else ""
    yield f"Grid: {scores.name} at {scores.site}, {of_rows}s from top to bottom{across}."
    yield one_line(f"{scores.description}; of {scores.measured_on}.", 600)
    yield from _cells(scores, _CELLS, most=4)


def _cells(scores: GridScores, count: int, *, most: int) -> Iterator[str]:
    values, null = scores.values.ravel(), None if scores.null is None else scores.null.ravel()
    beside = ""
    if null is not None and np.isfinite(null).any():
        low, high = np.nanpercentile(null, NULL_ENDS)
        ends = f"{number(float(low), 3)} to {number(float(high), 3)}"
        beside = f" (95% of {scores.null_label}: {ends})"
    known = np.flatnonzero(np.isfinite(values))
    largest = known[np.argsort(-np.abs(values[known]), kind="stable")][:count]
    entries = []
    for at in largest:
        row, column = divmod(int(at), len(scores.columns))
        place = one_line(scores.place(row, column))
        of_null = None if null is None else null[at]
        entries.append(f"{place} {_beside(values[at], of_null, scores.unit)}")
    yield from wrapped(f"Largest of {counted(len(known), 'cell')}{beside}:", entries, most=most)


def _means(scores: GridScores, axis: int) -> Iterator[str]:
    """The rows (axis 1), or columns (axis 0), whose mean over the other axis is largest."""
    if 1 in scores.values.shape:
        return
    of_rows, of_columns = scores.axes
    labels, what, over = (
        (scores.rows, of_rows, of_columns) if axis else (scores.columns, of_columns, of_rows)
    )
    means = _mean(scores.values, axis)
    null = None if scores.null is None else _mean(scores.null, axis)
    known = np.flatnonzero(np.isfinite(means))
    entries = []
    for at in known[np.argsort(-np.abs(means[known]), kind="stable")][:_ENTRIES].tolist():
        place = f"{at} " if what == "position" and labels[at] != str(at) else ""
        said = _beside(means[at], None if null is None else null[at], scores.unit)
        entries.append(f"{place}{one_line(labels[at])} {said}")
    yield from wrapped(f"Mean over {over}s, largest {what}s:", entries, most=3)


def _mean(values: Numbers, axis: int) -> Numbers:
    """The means of the numbers that are known; NaN where there are none."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0).sum(axis), known.sum(axis)
    means: Numbers = np.where(count, total / np.maximum(count, 1), np.nan)
    return means


def _beside(value: float, null: float | None, unit: str) -> str:
    of_null = "" if null is None or np.isnan(null) else f" (null {number(float(null), 3)})"
    return f"{number(float(value), 3)}{unit and f' {unit}'}{of_null}"


def _has_null(scores: GridScores) -> bool:
    return scores.null is not None and bool(np.isfinite(scores.null).any())
