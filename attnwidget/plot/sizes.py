"""Default sizes of the plots, in inches."""

from __future__ import annotations

from .coloring import layer_rows
from .explanation import HeadExplanation
from .lines import MAX_SINGLE_TOKENS
from .model_plot import Cell
from .neuron_columns import rows_of
from .ranking_plot import ranked_heads
from .shown import SIDES, Shown, TokenAxis
from .text import num_letters

Size = tuple[float, float]

# All lengths below are in CSS pixels.
_PER_INCH = 96
_LETTER = 7
# The title, swatches or labels above, and the notes below.
_ABOVE_AND_BELOW = 90
_LABELS = (40, 140)

_LINES = 330
_LINES_HORIZONTAL = 230
_LONG = 720
_LONG_HORIZONTAL = 1000

# The longer side of an image.
_PICTURE = 400

_MATRIX = (150, 600)
_LARGEST_CELL = 26

# The largest width and height of the model view, and the smallest and largest thumbnail.
_MODEL = (1200, 1200)
_THUMBNAIL = (36, 200)
_NARROWEST = 400

_MAP = (760, 600)
# The width of a ranking, and the height of a head in it.
_RANKING = (640, 17)

# The width of the neuron view without its labels.
_NEURON = 1100


def head_size(shown: Shown) -> Size:
    tokens = shown.token_axes
    count = max(len(tokens[side].shown) for side in SIDES)
    if shown.horizontal:
        letters = max(
            sum(num_letters(label) + 2 for label in tokens[side].labels) for side in SIDES
        )
        width = _LONG_HORIZONTAL if count > MAX_SINGLE_TOKENS else letters * _LETTER
        return _inches(max(width, _NARROWEST) + 60, _LINES_HORIZONTAL + _ABOVE_AND_BELOW)
    height = _LONG if count > MAX_SINGLE_TOKENS else count * row_height(count)
    labels = sum(_labels(tokens[side]) for side in SIDES)
    return _inches(_LINES + labels, max(height, 100) + _ABOVE_AND_BELOW)


def picture_size(shown: Shown) -> Size:
    """The size of the record's image, and of the notes below it."""
    image = shown.record.image
    width, height = (1, 1) if image is None else image.size
    scale = _PICTURE / max(width, height)
    return _inches(width * scale + 20, height * scale + _ABOVE_AND_BELOW)


def matrix_size(shown: Shown) -> Size:
    tokens = shown.token_axes
    rows, columns = len(tokens.query.shown), len(tokens.key.shown)
    cell = min(_LARGEST_CELL, _MATRIX[1] / max(rows, columns))
    width, height = (max(_MATRIX[0], count * cell) for count in (columns, rows))
    return _inches(
        width + _labels(tokens.query), height + _labels(tokens.key) + _ABOVE_AND_BELOW - 20
    )


def model_size(shown: Shown) -> Size:
    rows = layer_rows(shown)
    count = max(len(row.heads) for row in rows)
    smallest, largest = _THUMBNAIL
    pitch = min(largest, (_MODEL[0] - 100) / count, _MODEL[1] / len(rows))
    pitch = max(smallest, pitch)
    cell = Cell(shown)
    width = (count + 1.3) * pitch + 80
    height = (len(rows) + 0.6) * pitch * cell.height / cell.width
    return _inches(max(_NARROWEST, width), height + _ABOVE_AND_BELOW - 10)


def map_size() -> Size:
    return _inches(*_MAP)


def ranking_size(shown: Shown) -> Size:
    return _inches(_RANKING[0], len(ranked_heads(shown)) * _RANKING[1] + _ABOVE_AND_BELOW)


def neuron_size(shown: Shown) -> Size:
    if shown.current_layer.queries is None:
        return _inches(700, 100)
    head = HeadExplanation(shown)
    first, end = rows_of(head)
    rows = end - first
    row = max(row_height(rows), 28 if head.comparison else 0)
    width = (
        _labels(head.axes.query)
        + _labels(head.axes.key)
        + (_NEURON if shown.expanded else _NEURON / 2)
    )
    return _inches(width, (rows + 1) * row + 2 * _ABOVE_AND_BELOW - 40)


def row_height(count: int) -> int:
    """The height of a row in a column of `count` tokens."""
    return max(16, min(28, _LONG // count))


def _labels(axis: TokenAxis) -> float:
    """The width of a column of labels."""
    widest = max(num_letters(axis.labels[unit]) for unit in axis.shown)
    return min(_LABELS[1], max(_LABELS[0], widest * _LETTER + 16))


def _inches(width: float, height: float) -> Size:
    return width / _PER_INCH, height / _PER_INCH
